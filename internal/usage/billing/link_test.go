package billing_test

import (
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// link links the euro price of a meter to a price of the provider, or removes the link, and calls
// while with the meter locked.
func link(t *testing.T, w *usagetest.World, m usage.Meter, priceID *string, while func()) {
	t.Helper()
	_, err := w.Meters.Update(t.Context(), w.Detail(t, w.NewTenant(t), m.Code).Meter.ID, func(e meters.Entry) meters.Entry {
		while()
		e.SetPrices([]meters.PriceTerms{{Currency: "EUR", LinkGiven: true, PSPPriceID: priceID}})
		return e
	})
	if err != nil {
		t.Fatal(err)
	}
}

// untilLocked waits until a transaction waits for a lock. It returns immediately on SQLite, which
// has a single writer.
func untilLocked(t *testing.T, w *usagetest.World) {
	t.Helper()
	if w.DB.Dialect() == sqldb.SQLite {
		return
	}
	testkit.Eventually(t, "a wait for a lock", func() bool {
		var n int
		err := w.DB.Conn(t.Context()).QueryRowContext(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n > 0
	})
}

// Events stored after a price was linked are billed, even if they were waiting for the lock of the
// meter. Events stored after the link was removed are not billed.
func TestLinkAppliesToWaitingEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		calls, priceID := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "price_calls"
		w.Apply(t, calls)
		payer := w.NewPayer(t)
		record := func(amount string) {
			if _, err := w.Record(t.Context(), payer, usagetest.Recording("calls", amount)); err != nil {
				t.Error(err)
			}
		}
		waiting := func(amount string) (while func(), done func()) {
			var wg sync.WaitGroup
			return func() { wg.Go(func() { record(amount) }); untilLocked(t, w) }, wg.Wait
		}
		record("1")
		while, done := waiting("2")
		link(t, w, calls, &priceID, while)
		done()
		record("3")
		while, done = waiting("4")
		link(t, w, calls, nil, while)
		done()
		link(t, w, calls, &priceID, func() {}) // so that queued figures can be reported
		p := &till{}
		if err := reporter(w, p).Report(t.Context()); err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, u := range p.counted {
			told[u.Quantity.String()] = true
		}
		if len(p.counted) != 2 || !told["2"] || !told["3"] {
			t.Errorf("reported %v, want 2 and 3", p.list())
		}
	})
}
