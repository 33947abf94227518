package journal

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal/journalsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *journalsql.Queries { return journalsql.New(s.db.Conn(ctx)) }

func toSubscription(r journalsql.LockSubscriptionRow) subscription {
	s := subscription{
		id: r.ID, tenantID: r.TenantID, planID: r.PlanID, status: r.Status, currency: r.Currency, priceCents: r.PriceCents, quantity: r.Quantity,
		discountCents: r.DiscountCents, discountEndsAt: r.DiscountEndsAt,
		period:      period{r.IntervalUnit, r.IntervalCount, r.BillingAnchor, r.CurrentPeriodStart, r.CurrentPeriodEnd},
		trialEndsAt: r.TrialEndsAt, createdAt: r.CreatedAt, updatedAt: r.UpdatedAt, version: r.SyncVersion,
		noted: recordedState{
			version: r.JournaledVersion, level: level{active: r.JournaledActive, amount: r.JournaledAmount},
			until: r.JournaledUntil, next: r.JournaledNext, trialPlan: r.JournaledTrialPlanID,
		},
	}
	if r.JournaledAt != nil {
		s.noted.at = *r.JournaledAt
	}
	if r.JournaledPlanID != nil {
		s.noted.level.planID = *r.JournaledPlanID
	}
	return s
}

// lock locks a subscription and returns it.
func (s store) lock(ctx context.Context, tenantID, id uuid.UUID) (subscription, error) {
	row, err := s.q(ctx).LockSubscription(ctx, journalsql.LockSubscriptionParams{TenantID: tenantID, ID: id})
	return toSubscription(row), sqldb.Wrap(err, "lock subscription for the journal")
}

// lockUnnoted locks a batch of subscriptions whose state is not in the journal, and returns them.
func (s store) lockUnnoted(ctx context.Context, most int32) ([]subscription, error) {
	unnoted, err := s.q(ctx).UnnotedSubscriptions(ctx, most)
	if err != nil {
		return nil, sqldb.Wrap(err, "list subscriptions for the journal")
	}
	var list []subscription
	for _, of := range unnoted {
		row, err := s.q(ctx).LockUnnoted(ctx, journalsql.LockUnnotedParams(of))
		if errors.Is(err, sqldb.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, sqldb.Wrap(err, "lock subscription for the journal")
		}
		list = append(list, toSubscription(journalsql.LockSubscriptionRow(row)))
	}
	return list, nil
}

// byPSPID returns the ID, tenant, plan and currency of a subscription, or errNotFound.
func (s store) byPSPID(ctx context.Context, tenantID uuid.UUID, pspID string) (subscription, error) {
	row, err := s.q(ctx).SubscriptionOfPSPID(ctx, journalsql.SubscriptionOfPSPIDParams{TenantID: tenantID, PSPSubscriptionID: pspID})
	sub := subscription{id: row.ID, tenantID: tenantID, planID: row.PlanID, currency: row.Currency}
	return sub, sqldb.WrapAbsent(err, "find subscription for the journal", errNotFound)
}

var errNotFound = errors.New("the subscription is not stored")

// markNoted records that the journal includes the current state of a subscription.
func (s store) markNoted(ctx context.Context, sub subscription, n recordedState) error {
	p := journalsql.MarkNotedParams{
		TenantID: sub.tenantID, ID: sub.id, JournaledVersion: n.version, JournaledAmount: n.level.amount, JournaledActive: n.level.active,
		JournaledUntil: n.until, JournaledNext: n.next, JournaledTrialPlanID: n.trialPlan,
	}
	if !n.at.IsZero() {
		p.JournaledAt = &n.at
	}
	if n.level.active {
		p.JournaledPlanID = &n.level.planID
	}
	return sqldb.Wrap(s.q(ctx).MarkNoted(ctx, p), "mark subscription as journaled")
}

// customerOf returns the random number of a tenant in the histories. The tenant's first history
// gets a new number. The histories of a tenant are inserted one after another, under the tenant's
// lock.
func (s store) customerOf(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	number, err := s.q(ctx).CustomerOf(ctx, tenantID)
	if errors.Is(err, sqldb.ErrNoRows) {
		var random [8]byte
		_, err = rand.Read(random[:])
		number = int64(binary.BigEndian.Uint64(random[:]))
	}
	return number, sqldb.Wrap(err, "find the number of a tenant")
}

// add adds an entry, unless only the plan changes.
func (s store) add(ctx context.Context, sub subscription, e entry) error {
	kind := e.kind()
	if kind == "" {
		return nil
	}
	err := s.q(ctx).InsertEntry(ctx, journalsql.InsertEntryParams{
		ID: sqldb.NewID(), TenantID: &sub.tenantID, SubscriptionID: sub.id, At: e.at, Day: DayOf(e.at), Currency: sub.currency,
		Kind: string(kind), AmountBefore: e.before.amount, AmountAfter: e.after.amount,
	})
	return sqldb.Wrap(err, "insert journal entry")
}

// appendHistory appends events to the history of a subscription.
func (s store) appendHistory(ctx context.Context, sub subscription, events string) error {
	if events == "" {
		return nil
	}
	n, err := s.q(ctx).AppendHistory(ctx, journalsql.AppendHistoryParams{SubscriptionID: sub.id, TenantID: sub.tenantID, Added: events})
	if err != nil || n > 0 {
		return sqldb.Wrap(err, "append to history of subscription")
	}
	number, err := s.customerOf(ctx, sub.tenantID)
	if err != nil {
		return err
	}
	err = s.q(ctx).InsertHistory(ctx, journalsql.InsertHistoryParams{
		SubscriptionID: sub.id, TenantID: &sub.tenantID, Customer: number, Currency: sub.currency, Events: events,
	})
	return sqldb.Wrap(err, "insert history of subscription")
}

// history returns the events of a subscription so far.
func (s store) history(ctx context.Context, sub subscription) (h History, _ error) {
	events, err := s.q(ctx).EventsOf(ctx, sub.id)
	if errors.Is(err, sqldb.ErrNoRows) {
		return h, nil
	}
	h.readEvents(events)
	return h, sqldb.Wrap(err, "read history of subscription")
}

// histories calls f with each history. It reads row by row, because the number of rows is not limited.
func (s store) histories(ctx context.Context, f func(History)) error {
	const doing = "read histories of subscriptions"
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT subscription_id, customer, currency, events FROM subscription_histories`)
	if err != nil {
		return sqldb.Wrap(err, doing)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var h History
		var events string
		if err := rows.Scan(&h.SubscriptionID, &h.Customer, &h.Currency, &events); err != nil {
			return sqldb.Wrap(err, doing)
		}
		h.readEvents(events)
		f(h)
	}
	return sqldb.Wrap(rows.Err(), doing)
}

// deleteScheduled deletes the entry for the end of a discount. If the entry is folded, it also removes
// the entry from the daily sums.
func (s store) deleteScheduled(ctx context.Context, sub subscription, at time.Time) error {
	rows, err := s.q(ctx).DeleteScheduled(ctx, journalsql.DeleteScheduledParams{SubscriptionID: sub.id, TenantID: sub.tenantID, At: at})
	if err != nil {
		return sqldb.Wrap(err, "delete scheduled journal entry")
	}
	for _, r := range rows {
		if !r.IsFolded {
			continue
		}
		if err := s.addToDay(ctx, sum{r.Currency, r.Day, Kind(r.Kind)}, r.AmountBefore-r.AmountAfter, -1); err != nil {
			return err
		}
	}
	return nil
}

// foldableEntry is a journal entry that is about to be folded.
type foldableEntry struct {
	sum
	amount int64
}

// takeUnfolded returns a batch of entries that have taken effect, and marks them as folded.
func (s store) takeUnfolded(ctx context.Context, now time.Time, most int32) ([]foldableEntry, error) {
	rows, err := s.q(ctx).TakeUnfolded(ctx, journalsql.TakeUnfoldedParams{Now: now, Most: most})
	entries := make([]foldableEntry, len(rows))
	for i, r := range rows {
		entries[i] = foldableEntry{sum{r.Currency, r.Day, Kind(r.Kind)}, r.AmountAfter - r.AmountBefore}
	}
	return entries, sqldb.Wrap(err, "claim journal entries")
}

func (s store) addToDay(ctx context.Context, of sum, amount, entries int64) error {
	err := s.q(ctx).AddToDay(ctx, journalsql.AddToDayParams{
		Currency: of.currency, Day: of.day, Kind: string(of.kind), Amount: amount, Entries: entries,
	})
	return sqldb.Wrap(err, "update the daily sums")
}

func (s store) forget(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.q(ctx).ForgetTenant(ctx, tenantID); err != nil {
		return sqldb.Wrap(err, "take tenant off the journal")
	}
	return sqldb.Wrap(s.q(ctx).ForgetHistories(ctx, tenantID), "take tenant off the histories")
}

func (s store) movements(ctx context.Context, from, to int64, now time.Time) ([]Movement, error) {
	rows, err := s.q(ctx).Sums(ctx, journalsql.SumsParams{Since: from, Until: to, Now: now})
	list := make([]Movement, len(rows))
	for i, r := range rows {
		list[i] = Movement{Currency: r.Currency, Day: r.DayOrBefore, Kind: Kind(r.Kind), Amount: r.Amount, Entries: r.Entries}
	}
	return list, sqldb.Wrap(err, "read journal sums")
}
