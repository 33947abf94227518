package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A discount counts until the end of the last period that began before the discount ended, although no
// state is read at that time. An earlier change moves or removes this step.
func TestDiscountEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		month := func(n int) time.Time { return noon.AddDate(0, n, 0) }
		store := func(s sub, version int, off int64, ends, start time.Time) {
			w.exec(`UPDATE subscriptions SET status = $3, price_cents = $4, discount_cents = $5, discount_ends_at = $6, billing_anchor = $7,
				current_period_start = $8, current_period_end = $9, sync_version = $10, updated_at = $11 WHERE id = $1 AND tenant_id = $2`,
				s.id, s.tenant, s.status, s.price, off, ends, noon, start, start.AddDate(0, 1, 0), version, s.updated)
			if err := journal.Note(t.Context(), db, s.tenant, s.id, s.updated, nil); err != nil {
				t.Fatal(err)
			}
		}
		s := w.store(sub{status: "active", price: 1000, seats: 1, created: noon, updated: noon})
		ends := month(2).AddDate(0, 0, 3)
		store(s, 1, 400, ends, noon)
		want := []line{{"2026-03-01", "new", 0, 600}, {"2026-06-01", "expansion", 600, 1000}}
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Fatal(diff)
		}
		early := journal.New(db, clock.NewFixed(month(1)))
		if err := early.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.number(`SELECT count(*) FROM subscription_journal WHERE NOT is_folded`); n != 1 {
			t.Errorf("%d entries wait for their time", n)
		}
		s.updated = month(1)
		store(s, 2, 400, ends, month(1)) // renewed: nothing changes
		s.updated, s.price = month(1).AddDate(0, 0, 5), 2000
		store(s, 3, 800, ends, month(1))
		want = []line{{"2026-03-01", "new", 0, 600}, {"2026-04-06", "expansion", 600, 1200}, {"2026-06-01", "expansion", 1200, 2000}}
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Fatal(diff)
		}
		s.updated, s.status = month(4), "canceled" // read long after the discount has ended
		store(s, 4, 0, ends, month(4))
		want = append(want, line{"2026-07-01", "ended", 2000, 0})
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Fatal(diff)
		}
		var got []int64
		if err := early.Histories(t.Context(), func(h journal.History) {
			for _, l := range h.Levels {
				got = append(got, l.Amount)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{600, 1200, 2000, 0}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A discount that rounding makes invisible changes nothing when it ends, and later changes are dated to
// when they took effect.
func TestDiscountOfLessThanAUnit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		s := w.store(sub{status: "active", price: 1200, seats: 1, unit: "year", created: noon, updated: noon})
		ends := noon.AddDate(0, 6, 0)
		w.exec(`UPDATE subscriptions SET discount_cents = 5, discount_ends_at = $2, current_period_end = $3 WHERE id = $1`, s.id, ends, noon.AddDate(1, 0, 0))
		if err := journal.Note(t.Context(), db, s.tenant, s.id, noon, nil); err != nil {
			t.Fatal(err)
		}
		s.updated, s.price = noon.AddDate(0, 1, 0), 2400
		if err := w.change(t.Context(), db, true, s); err != nil {
			t.Fatal(err)
		}
		want := []line{{"2026-03-01", "new", 0, 100}, {"2026-04-01", "expansion", 100, 200}}
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Error(diff)
		}
	})
}

// A state counts from when it took effect, but never before the previous change.
func TestLateStates(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
		trial := day(10)
		note := func(s sub, version int, at time.Time) {
			w.exec(`UPDATE subscriptions SET status = $3, sync_version = $4, updated_at = $5 WHERE id = $1 AND tenant_id = $2`, s.id, s.tenant, s.status, version, s.updated)
			for range 2 { // repeated
				if err := journal.Note(t.Context(), db, s.tenant, s.id, at, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		started := func() sub {
			s := w.store(sub{status: "trialing", price: 1000, seats: 1, created: noon, updated: noon, trialEnds: &trial})
			note(s, 1, noon)
			s.updated = day(40)
			return s
		}
		paid, gone, early := started(), started(), started()
		paid.status = "active"
		note(paid, 2, trial)
		paid.status = "canceled"
		note(paid, 3, day(5)) // before the trial ended
		gone.status = "canceled"
		note(gone, 2, day(30)) // it was active in between
		early.status = "canceled"
		note(early, 2, day(4))
		for s, want := range map[*sub][]line{
			&paid:  {{"2026-03-11", "new", 0, 1000}, {"2026-03-11", "ended", 1000, 0}},
			&gone:  {{"2026-03-11", "new", 0, 1000}, {"2026-03-31", "ended", 1000, 0}},
			&early: {},
		} {
			if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
				t.Error(diff)
			}
		}
		ends := map[string]string{}
		if err := newJournal(db).Histories(t.Context(), func(h journal.History) {
			for _, end := range h.TrialEnds {
				ends[h.SubscriptionID.String()] = time.UnixMicro(end.At).UTC().Format(time.DateOnly)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{paid.id.String(): "2026-03-11", gone.id.String(): "2026-03-11", early.id.String(): "2026-03-05"}, ends); diff != "" {
			t.Error(diff)
		}
	})
}

// The first payment of a subscription for a plan counts, in whatever order payments are stored.
func TestFirstPayment(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db)
		s := w.store(sub{status: "active", price: 1000, seats: 1, created: noon, updated: noon})
		for _, n := range []int{5, 9, 2, 2, 7} {
			if err := journal.Pay(t.Context(), db, s.tenant, s.id.String(), nil, noon.AddDate(0, 0, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := journal.Pay(t.Context(), db, s.tenant, "unknown", nil, noon); err != nil {
			t.Fatal(err)
		}
		if err := newJournal(db).Histories(t.Context(), func(h journal.History) {
			first := h.Payments[0].At
			for _, p := range h.Payments {
				first = min(first, p.At)
			}
			if len(h.Payments) != 2 || first != noon.AddDate(0, 0, 2).UnixMicro() {
				t.Errorf("payments %v", h.Payments)
			}
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// discounted stores a new subscription at 1,000 less a discount that ends with the first period.
func (w world) discounted(off int64) sub {
	w.t.Helper()
	s := w.store(sub{status: "active", price: 1000, seats: 1, created: noon, updated: noon})
	end := noon.AddDate(0, 1, 0)
	w.exec(`UPDATE subscriptions SET discount_cents = $2, discount_ends_at = $3, current_period_end = $3 WHERE id = $1`, s.id, off, end)
	if err := journal.Note(w.t.Context(), w.db, s.tenant, s.id, noon, nil); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// A subscription that ends together with its discount never has the full price, even if its end is read
// late, after the entry of the discount's end is folded.
func TestDiscountEndsWithItsSubscription(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, j, end := newWorld(t, db), newJournal(db), noon.AddDate(0, 1, 0)
		early, folded, unchanged := w.discounted(1000), w.discounted(200), w.discounted(200)
		cancel := func(s sub) {
			s.status, s.updated = "canceled", end
			if err := w.change(t.Context(), db, true, s); err != nil {
				t.Fatal(err)
			}
		}
		cancel(early)
		if err := j.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		unchanged.updated = end.AddDate(0, 0, 3) // an older state is read after the end
		if err := w.change(t.Context(), db, true, unchanged); err != nil {
			t.Fatal(err)
		}
		cancel(folded)
		cancel(unchanged)
		if diff := cmp.Diff([]line{{"2026-03-01", "new", 0, 0}, {"2026-04-01", "ended", 0, 0}}, w.journal(early.tenant)); diff != "" {
			t.Error(diff)
		}
		for _, s := range []sub{folded, unchanged} {
			if diff := cmp.Diff([]line{{"2026-03-01", "new", 0, 800}, {"2026-04-01", "ended", 800, 0}}, w.journal(s.tenant)); diff != "" {
				t.Error(diff)
			}
		}
		today := journal.DayOf(end)
		list, err := j.Movements(t.Context(), today, today)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if m.Kind == journal.KindExpansion && (m.Amount != 0 || m.Entries != 0) {
				t.Errorf("expansion that never happened: %+v", m)
			}
		}
		if err := j.Histories(t.Context(), func(h journal.History) {
			if len(h.Levels) != 2 || h.Levels[1].Active {
				t.Errorf("levels %+v", h.Levels)
			}
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// A change before the end of a discount that is read after it has the discount of that time, until the
// end of the last period that began before the discount ended.
func TestChangeBeforeTheEndOfAPastDiscount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, j := newWorld(t, db), newJournal(db)
		month := func(n int) time.Time { return noon.AddDate(0, n, 0) }
		s := w.store(sub{status: "active", price: 1000, seats: 1, created: noon, updated: noon})
		ends := month(3)
		w.exec(`UPDATE subscriptions SET discount_cents = 500, discount_ends_at = $2, current_period_end = $3 WHERE id = $1`, s.id, ends, month(1))
		if err := journal.Note(t.Context(), db, s.tenant, s.id, noon, nil); err != nil {
			t.Fatal(err)
		}
		if err := j.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.exec(`UPDATE subscriptions SET price_cents = 4000, discount_cents = 0, discount_ends_at = NULL, current_period_start = $2, current_period_end = $3,
			sync_version = 2, updated_at = $4 WHERE id = $1`, s.id, month(4), month(5), month(4))
		if err := journal.Note(t.Context(), db, s.tenant, s.id, month(1), &journal.PastDiscount{Cents: 2000, EndsAt: ends}); err != nil {
			t.Fatal(err)
		}
		want := []line{{"2026-03-01", "new", 0, 500}, {"2026-04-01", "expansion", 500, 2000}, {"2026-06-01", "expansion", 2000, 4000}}
		if diff := cmp.Diff(want, w.journal(s.tenant)); diff != "" {
			t.Fatal(diff)
		}
		if n := w.number(`SELECT sum(amount) FROM subscription_days`); n != 500 {
			t.Errorf("the daily sums of folded entries are %d, want 500", n)
		}
	})
}
