package journal_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func TestMonthly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		price, seats, off int64
		unit              string
		count             int32
		want              int64
	}{
		{1900, 2, 950, "month", 1, 2850},
		{12000, 1, 6000, "year", 1, 500},
		{1900, 1, 1900, "month", 1, 0},
		{1900, 1, 0, "month", 1, 1900},
		{1900, 3, 0, "month", 1, 5700},
		{1900, 1, 0, "month", 3, 633},
		{2900, 1, 0, "month", 3, 967},
		{12000, 2, 0, "year", 1, 2000},
		{100, 1, 0, "year", 1, 8}, // 8.33
		{102, 1, 0, "year", 1, 9}, // 8.5
		{12000, 1, 0, "year", 2, 500},
		{300, 1, 0, "week", 1, 1300},
		{300, 1, 0, "week", 2, 650},
		{12, 1, 0, "day", 1, 365},
		{0, 5, 0, "month", 1, 0},
		{999_999_999_999, 1_000_000, 0, "day", 1, 1_000_000_000_000_000},
	} {
		if got := journal.MonthlyAmount(c.price, c.seats, c.off, c.unit, c.count); got != c.want {
			t.Errorf("%d × %d each %d %s: %d a month, want %d", c.price, c.seats, c.count, c.unit, got, c.want)
		}
	}
}

// Each relevant change is an entry, dated to when its state was stored. Storing the same state
// again adds none.
func TestEntries(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, j := newWorld(t, db), newJournal(db)
		s := w.store(sub{status: "trialing", price: 1000, seats: 2, created: noon, updated: noon})
		if err := journal.Note(t.Context(), db, s.tenant, s.id, s.updated, nil); err != nil {
			t.Fatal(err)
		}
		for n, change := range []func(){
			func() { s.status = "active" },
			func() {}, // read back again
			func() { s.seats = 3 },
			func() { s.status = "past_due" },
			func() { s.price = 500 },
			func() { s.status = "unpaid" },
			func() { s.price = 700 },
			func() { s.status = "active" },
			func() { s.status = "canceled" },
			func() {},
		} {
			change()
			s.updated = noon.AddDate(0, 0, n+1)
			if err := w.change(t.Context(), db, true, s); err != nil {
				t.Fatal(err)
			}
		}
		want := []line{
			{"2026-03-02", "new", 0, 2000},
			{"2026-03-04", "expansion", 2000, 3000},
			{"2026-03-06", "contraction", 3000, 1500},
			{"2026-03-07", "ended", 1500, 0},
			{"2026-03-09", "new", 0, 2100},
			{"2026-03-10", "ended", 2100, 0},
		}
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Error(diff)
		}
		if err := j.Forget(t.Context(), s.tenant); err != nil {
			t.Fatal(err)
		}
		if n := w.number(`SELECT count(*) FROM subscription_journal WHERE tenant_id IS NULL`); n != int64(len(want)) {
			t.Errorf("%d entries without a name, want %d", n, len(want))
		}
	})
}

// A subscription from before the journal is recorded once, dated to its start.
func TestOlderSubscriptions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, j := newWorld(t, db), newJournal(db)
		day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
		trial := day(10)
		cases := map[string]struct {
			sub
			want []line
		}{
			"active":               {sub{status: "active"}, []line{{"2026-03-01", "new", 0, 1000}}},
			"free":                 {sub{status: "active", price: -1}, []line{{"2026-03-01", "new", 0, 0}}},
			"by the year":          {sub{status: "past_due", unit: "year"}, []line{{"2026-03-01", "new", 0, 83}}},
			"after a trial":        {sub{status: "active", trialEnds: &trial}, []line{{"2026-03-11", "new", 0, 1000}}},
			"in a trial":           {sub{status: "trialing", trialEnds: &trial}, []line{}},
			"canceled":             {sub{status: "canceled"}, []line{{"2026-03-01", "new", 0, 1000}, {"2026-03-21", "ended", 1000, 0}}},
			"unpaid after a trial": {sub{status: "unpaid", trialEnds: &trial}, []line{{"2026-03-11", "new", 0, 1000}, {"2026-03-21", "ended", 1000, 0}}},
			"canceled in a trial":  {sub{status: "canceled", trialEnds: &trial, updated: day(5)}, []line{}},
			"never paid":           {sub{status: "incomplete_expired"}, []line{}},
			"paused":               {sub{status: "paused"}, []line{}},
		}
		stored := map[string]sub{}
		for name, c := range cases {
			if c.created, c.seats = noon, 1; c.updated.IsZero() {
				c.updated = day(20)
			}
			if c.price == 0 {
				c.price = 1000
			}
			c.price = max(0, c.price)
			stored[name] = w.store(c.sub)
		}
		for range 2 {
			if err := j.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for name, c := range cases {
			if diff := cmp.Diff(c.want, w.journal(stored[name].tenant)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		// An older version of the service stores a state without the journal.
		s := stored["active"]
		s.seats, s.updated = 4, day(30)
		if err := w.change(t.Context(), db, false, s); err != nil {
			t.Fatal(err)
		}
		if err := j.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []line{{"2026-03-01", "new", 0, 1000}, {"2026-03-31", "expansion", 1000, 4000}}
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Errorf("a state of an older version: %s", diff)
		}
	})
}

// The entries of a subscription add up to its state, and the daily sums to the entries, even if
// several instances store states, add missing entries and fold concurrently.
func TestJournalUnderConcurrency(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, dialect)
			instances := []*sqldb.DB{dbtest.Open(t, url)}
			if dialect == sqldb.Postgres {
				instances = append(instances, dbtest.Open(t, url), dbtest.Open(t, url))
			}
			w := newWorld(t, instances[0])
			var subs []sub
			for range 3 {
				subs = append(subs, w.store(sub{status: "active", price: 1000, seats: 1, created: noon, updated: noon}))
			}
			var busy sync.WaitGroup
			for i := range 6 {
				db := instances[i%len(instances)]
				j, draw := newJournal(db), rand.New(rand.NewPCG(1, uint64(i)))
				if i >= 4 {
					busy.Go(func() {
						for range dbtest.Rounds(30, 300) {
							if err := j.Run(t.Context()); err != nil {
								t.Error(err)
							}
						}
					})
					continue
				}
				busy.Go(func() {
					for range dbtest.Rounds(40, 400) {
						s := subs[draw.IntN(len(subs))]
						s.status = []string{"active", "past_due", "unpaid", "trialing"}[draw.IntN(4)]
						s.price, s.seats, s.updated = int64(draw.IntN(5))*100, int64(draw.IntN(5)), noon.AddDate(0, 0, draw.IntN(9))
						notes := draw.IntN(4) > 0 // otherwise an older version, without the journal
						if err := w.change(t.Context(), db, notes, s); err != nil {
							t.Error(err)
						}
					}
				})
			}
			busy.Wait()
			if err := newJournal(instances[0]).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, s := range subs {
				reached := w.number(`SELECT COALESCE(sum(amount_after - amount_before), 0) FROM subscription_journal WHERE tenant_id = $1`, s.tenant)
				state := w.number(`SELECT CASE WHEN status IN ('active', 'past_due') THEN price_cents * quantity ELSE 0 END FROM subscriptions WHERE id = $1`, s.id)
				if reached != state {
					t.Errorf("the entries lead to %d, the state is %d", reached, state)
				}
				began := w.number(`SELECT count(*) FROM subscription_journal WHERE tenant_id = $1 AND kind = 'new'`, s.tenant) -
					w.number(`SELECT count(*) FROM subscription_journal WHERE tenant_id = $1 AND kind = 'ended'`, s.tenant)
				if active := w.number(`SELECT count(*) FROM subscriptions WHERE id = $1 AND status IN ('active', 'past_due')`, s.id); began != active {
					t.Errorf("began %d times more than ended, active is %d", began, active)
				}
			}
			differing := w.number(`SELECT count(*) FROM (
				SELECT currency, day, kind, sum(amount_after - amount_before) AS amount, count(*) AS entries FROM subscription_journal GROUP BY currency, day, kind
			) j FULL JOIN subscription_days d ON d.currency = j.currency AND d.day = j.day AND d.kind = j.kind
			WHERE d.amount IS NULL OR j.amount IS NULL OR d.amount <> j.amount OR d.entries <> j.entries`)
			if n := w.number(`SELECT count(*) FROM subscription_journal WHERE is_folded`); differing != 0 || n == 0 {
				t.Errorf("%d daily sums differ from their entries; %d entries are folded", differing, n)
			}
		})
	}
}

// A reader counts each entry once while entries are being folded.
func TestReadingWhileFolding(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, j := newWorld(t, db), newJournal(db)
		const tenants = 40
		for range tenants {
			s := w.store(sub{status: "active", price: 1000, seats: 1, created: noon, updated: noon})
			if err := journal.Note(t.Context(), db, s.tenant, s.id, s.updated, nil); err != nil {
				t.Fatal(err)
			}
		}
		ctx, done := context.WithCancel(t.Context())
		var readers, folding sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for ctx.Err() == nil {
					list, err := j.Movements(t.Context(), journal.DayOf(noon)-3, journal.DayOf(noon))
					want := []journal.Movement{{Currency: "EUR", Day: journal.DayOf(noon), Kind: journal.KindNew, Amount: tenants * 1000, Entries: tenants}}
					if diff := cmp.Diff(want, list); err != nil || diff != "" {
						t.Error(err, diff)
						return
					}
				}
			})
			folding.Go(func() {
				for range dbtest.Rounds(30, 300) {
					if err := j.Run(t.Context()); err != nil {
						t.Error(err)
					}
					// Unfold all entries: remove them from the sums in one transaction. The entries
					// are updated first, which blocks folding, because the sum of a day may not
					// exist yet.
					err := db.Tx(t.Context(), func(ctx context.Context) error {
						for _, statement := range []string{
							`UPDATE subscription_journal SET is_folded = false`,
							`UPDATE subscription_days SET amount = 0, entries = 0`,
						} {
							if _, err := db.Conn(ctx).ExecContext(ctx, statement); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		folding.Wait()
		done()
		readers.Wait()
		if list, err := j.Movements(t.Context(), journal.DayOf(noon)+5, journal.DayOf(noon)+9); err != nil || len(list) != 1 || list[0].Day != journal.DayOf(noon)+4 {
			t.Errorf("earlier movements = %v, %v", list, err)
		}
	})
}
