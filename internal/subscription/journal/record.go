package journal

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Journal is the journal of all subscriptions. It is safe for concurrent use.
//
// Invariant: the entries of a subscription add up to the journaled level in its row. Both are
// written together while the row is locked, starting from the level in the row. So a state that is
// read back repeatedly, late or concurrently is never counted twice, and the next entry makes up
// for a missing one.
type Journal struct{ store store }

// New returns the journal of a database.
func New(db *sqldb.DB) *Journal { return &Journal{store{db}} }

// Note adds the change that the current state of a subscription makes. Call it in the transaction
// that stores the state.
func (j *Journal) Note(ctx context.Context, tenantID, id uuid.UUID) error {
	return j.store.db.Tx(ctx, func(ctx context.Context) error {
		s, err := j.store.lock(ctx, tenantID, id)
		if err != nil {
			return err
		}
		return j.note(ctx, s)
	})
}

func (j *Journal) note(ctx context.Context, s subscription) error {
	for _, e := range s.entries() {
		if err := j.store.add(ctx, e); err != nil {
			return err
		}
	}
	return j.store.markNoted(ctx, s)
}

// Batch sizes per transaction.
const (
	notedAtOnce  = 100
	foldedAtOnce = 1000
)

// Run is a periodic job. It adds missing entries and folds entries into the daily sums. Note adds
// an entry with each state, so entries are missing only for rows that were written without it.
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
		if err := j.note(ctx, s); err != nil {
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
// Invariant: an entry is included in the sums if and only if it is marked as folded. It is marked
// while its row is locked, and others skip locked rows, so two instances that fold concurrently
// take different entries. The sums are locked in a fixed order.
func (j *Journal) foldBatch(ctx context.Context) (int, error) {
	entries, err := j.store.takeUnfolded(ctx, foldedAtOnce)
	if err != nil {
		return 0, err
	}
	amounts, counts := map[sum]int64{}, map[sum]int64{}
	for _, e := range entries {
		key := sum{e.currency, DayOf(e.at), e.kind}
		amounts[key] += e.after - e.before
		counts[key]++
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

// Movement is the total of the entries of one kind on a day, in one currency.
type Movement struct {
	Currency string
	Day      int64 // see DayOf
	Kind     Kind
	Amount   int64 // minor units per month; negative for contraction and ended
	Entries  int64
}

// Movements lists the totals for the days from one to another, both inclusive, in no particular
// order. All earlier days are combined into the day before from.
func (j *Journal) Movements(ctx context.Context, from, to int64) ([]Movement, error) {
	return j.store.movements(ctx, from, to)
}
