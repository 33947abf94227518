package journal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Journal is the journal of all subscriptions. It is safe for concurrent use.
//
// Invariant: the entries of a subscription add up to the journaled level in its row. Both are
// written together while the row is locked, starting from the level in the row. So a state that is
// read back repeatedly, late or concurrently is never counted twice, and the next entry includes
// the amount of a missing entry.
type Journal struct {
	store store
	clock clock.Clock
}

// New returns the journal of a database.
func New(db *sqldb.DB, c clock.Clock) *Journal { return &Journal{store{db}, c} }

// PastDiscount is a repeating discount that applied when a state took effect, but has ended since.
type PastDiscount struct {
	Cents  int64 // off price × quantity
	EndsAt time.Time
}

// Note adds the change to the current state of a subscription, which took effect at the given time.
// past is nil if the subscription has the discount that applied at that time. Call Note in the
// transaction that stores the state.
func Note(ctx context.Context, db *sqldb.DB, tenantID, id uuid.UUID, at time.Time, past *PastDiscount) error {
	return db.Tx(ctx, func(ctx context.Context) error {
		s, err := store{db}.lock(ctx, tenantID, id)
		if err != nil {
			return err
		}
		if past != nil {
			s.discountCents, s.discountEndsAt = past.Cents, &past.EndsAt
		}
		return store{db}.note(ctx, s, at)
	})
}

// PlanAt returns the plan that a subscription had at the given time, and the time of the next change to
// another plan, or the zero time. known is false if the history of the subscription begins later.
func PlanAt(ctx context.Context, db *sqldb.DB, id uuid.UUID, at time.Time) (plan uuid.UUID, known bool, changedAt time.Time, err error) {
	h, err := store{db}.history(ctx, subscription{id: id})
	plan, known, changedAt = h.planAt(at)
	return plan, known, changedAt, err
}

// Pay records the payment of an invoice with a total above 0 that bills plans of the provider's
// subscription. If plans is empty, the subscription's current plan counts. Only the first payment of a
// subscription for each plan is kept, regardless of the order in which payments are stored. Pay ignores
// an unknown subscription. Call it under the tenant's lock.
func Pay(ctx context.Context, db *sqldb.DB, tenantID uuid.UUID, pspSubscriptionID string, plans []uuid.UUID, at time.Time) error {
	st := store{db}
	s, err := st.byPSPID(ctx, tenantID, pspSubscriptionID)
	if errors.Is(err, errNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	h, err := st.history(ctx, s)
	if err != nil {
		return err
	}
	if len(plans) == 0 {
		plans = []uuid.UUID{s.planID}
	}
	var events strings.Builder
	for _, plan := range plans {
		if !h.hasPaid(plan, at) {
			events.WriteString(milestoneText(eventPayment, plan, at))
		}
	}
	return st.appendHistory(ctx, s, events.String())
}

func (s store) note(ctx context.Context, sub subscription, at time.Time) error {
	c, events, err := s.replan(ctx, sub, sub.entryTime(at))
	if err != nil {
		return err
	}
	if c.trialEnd != nil {
		events += milestoneText(eventTrialEnd, *sub.noted.trialPlan, *c.trialEnd)
	}
	texts := []string{events}
	for _, e := range c.entries {
		texts = append(texts, e.text())
		if err := s.add(ctx, sub, e); err != nil {
			return err
		}
	}
	if err := s.appendHistory(ctx, sub, strings.Join(texts, "")); err != nil {
		return err
	}
	return s.markNoted(ctx, sub, c.noted)
}

// replan returns the change to the current state. If the state took effect before the recorded end of a
// discount, or at that time, the change may move that end. So replan deletes the entry of that end, even
// if its time has come and a late state is read only now, and returns the events that replace it in the
// history.
func (s store) replan(ctx context.Context, sub subscription, at time.Time) (c change, events string, _ error) {
	c = sub.change(at)
	until := sub.noted.until
	if until == nil {
		return c, "", nil
	}
	if c.keeps(sub.noted, at) {
		c.entries = nil
		c.noted.at, c.noted.level, c.noted.until, c.noted.next = sub.noted.at, sub.noted.level, until, sub.noted.next
		return c, "", nil
	}
	if at.After(*until) {
		return c, "", nil
	}
	unchanged := entry{at: at, before: sub.noted.level, after: sub.noted.level}
	return c, unchanged.text(), s.deleteScheduled(ctx, sub, *until)
}

// Batch sizes per transaction.
const (
	notedAtOnce  = 100
	foldedAtOnce = 1000
)

// Run is a periodic job. It adds missing entries and folds entries into the daily sums. Note adds an
// entry with each state, so entries are missing only for rows that were written without Note.
func (j *Journal) Run(ctx context.Context) error {
	if err := j.repeat(ctx, j.noteBatch); err != nil {
		return err
	}
	return j.repeat(ctx, j.foldBatch)
}

// repeat runs part in separate transactions until it finds nothing more.
func (j *Journal) repeat(ctx context.Context, part func(ctx context.Context) (found int, err error)) error {
	for found := 1; found > 0; {
		err := j.store.db.Tx(ctx, func(ctx context.Context) (err error) {
			found, err = part(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) noteBatch(ctx context.Context) (int, error) {
	list, err := j.store.lockUnnoted(ctx, notedAtOnce)
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if err := j.store.note(ctx, s, s.updatedAt); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// sum identifies a daily sum: the entries of one kind and currency on one day.
type sum struct {
	currency string
	day      int64
	kind     Kind
}

// foldBatch adds a batch of entries to the daily sums.
//
// Invariant: an entry is included in the sums if and only if it is marked as folded. An entry is marked
// while its row is locked, and other instances skip locked rows, so two instances that fold
// concurrently take different entries. The sums are locked in a fixed order.
func (j *Journal) foldBatch(ctx context.Context) (int, error) {
	entries, err := j.store.takeUnfolded(ctx, j.clock.Now(), foldedAtOnce)
	if err != nil {
		return 0, err
	}
	amounts, counts := map[sum]int64{}, map[sum]int64{}
	for _, e := range entries {
		amounts[e.sum] += e.amount
		counts[e.sum]++
	}
	order := make([]sum, 0, len(counts))
	for key := range counts {
		order = append(order, key)
	}
	slices.SortFunc(order, func(a, b sum) int {
		if c := strings.Compare(a.currency, b.currency); c != 0 {
			return c
		}
		if a.day != b.day {
			return int(a.day - b.day)
		}
		return strings.Compare(string(a.kind), string(b.kind))
	})
	for _, key := range order {
		if err := j.store.addToDay(ctx, key, amounts[key], counts[key]); err != nil {
			return 0, err
		}
	}
	return len(entries), nil
}

// Forget removes a deleted tenant from its entries, which remain.
func (j *Journal) Forget(ctx context.Context, tenantID uuid.UUID) error {
	return j.store.forget(ctx, tenantID)
}

// Histories calls f with the history of each subscription, in no particular order.
func (j *Journal) Histories(ctx context.Context, f func(History)) error {
	return j.store.histories(ctx, f)
}

// Movement is the total of the entries of one kind on a day, in one currency.
type Movement struct {
	Currency string
	Day      int64 // see DayOf
	Kind     Kind
	Amount   int64 // minor units per month; negative for contraction and ended
	Entries  int64
}

// Movements lists the totals of the days from one day to another, both inclusive, in no particular
// order and without future changes. All earlier days are combined into the day before from.
func (j *Journal) Movements(ctx context.Context, from, to int64) ([]Movement, error) {
	return j.store.movements(ctx, from, to, j.clock.Now())
}
