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
// Invariant: the entries of a subscription lead, one after the other, from nothing to what
// its row says that was journaled. Both are changed together, while the row is locked, and
// from what the row says at that moment. So a state that is read back again, late or by two
// at once adds nothing twice, and what was not noted is made up for by the next entry.
type Journal struct{ store store }

// New returns the journal.
func New(db *sqldb.DB) *Journal { return &Journal{store{db}} }

// Note adds what the state of a subscription changes. It is called in the transaction that
// stores the state.
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

// How much one transaction does.
const (
	notedAtOnce  = 100
	foldedAtOnce = 1000
)

// Run is a periodic job. It adds the states that have no entry yet, and folds entries into the sums
// of their days. Note adds an entry with each state, so there are missing entries only for rows that
// were inserted without it.
func (j *Journal) Run(ctx context.Context) error {
	if err := j.repeat(ctx, j.noteSome); err != nil {
		return err
	}
	return j.repeat(ctx, j.foldSome)
}

// repeat runs a part of the work in transactions of their own, until one finds nothing.
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

func (j *Journal) noteSome(ctx context.Context) (int, error) {
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

// sum is what entries of a kind come to on a day.
type sum struct {
	currency string
	day      int64
	kind     Kind
}

// foldSome adds some entries to the sums of their days.
//
// Invariant: an entry is in the sums when it is marked as folded, and else not. It is marked
// while its row is locked, which others pass over, so that two instances that fold at once
// take different entries. The sums are locked in one order.
func (j *Journal) foldSome(ctx context.Context) (int, error) {
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

// Forget takes the name of a tenant that is gone off its entries, which stay.
func (j *Journal) Forget(ctx context.Context, tenantID uuid.UUID) error {
	return j.store.forget(ctx, tenantID)
}

// Movement is what the entries of a kind come to on a day, in one currency.
type Movement struct {
	Currency string
	Day      int64 // see DayOf
	Kind     Kind
	Amount   int64 // minor units a month; negative for contraction and ended
	Entries  int64
}

// Movements lists what happened on the days from one to another, both inclusive, in no
// order. All that happened before is put together, as that of the day before.
func (j *Journal) Movements(ctx context.Context, from, to int64) ([]Movement, error) {
	return j.store.movements(ctx, from, to)
}
