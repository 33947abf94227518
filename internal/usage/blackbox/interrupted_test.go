package blackbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// No sequence of changes, cancellations and new subscriptions grants a new quota before the
// original end of the interrupted windows.
func TestChangesGiveNoFreshQuota(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("small-month", "flat", "month", 1000, 0, map[string]int{"api-calls": 10})
		s.AddPlan("small-year", "flat", "year", 9000, 0, map[string]int{"api-calls": 10})
		s.AddPlan("small-week", "flat", "week", 300, 0, map[string]int{"api-calls": 10})
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "small-month")
		use := func(n, stored int) {
			t.Helper()
			got := 0
			for range n {
				if a := s.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "api-calls"}); a.Status == 201 {
					got++
				} else {
					a.WantRefused(429, "QUOTA_EXCEEDED")
				}
			}
			if got != stored {
				t.Errorf("%d of %d were stored, want %d", got, n, stored)
			}
		}
		shows := func(want float64) {
			t.Helper()
			if got := s.Call("GET", c.Path("/usage/api-calls"), c.Token, nil).Want(200).At("data.current_usage"); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		anchors := map[string]bool{}
		change := func(plan string) {
			t.Helper()
			s.Advance(time.Minute)
			s.ChangePlan(c.Owner, plan, nil).Want(200)
			s.AwaitNotifications()
			anchors[s.Subscription(c.Owner).Str("data.current_period_start")] = true
		}
		begun := s.Now()
		use(6, 6)
		change("small-year")
		shows(6)
		use(5, 4) // these four belong to the second window
		change("small-month")
		shows(10)
		use(1, 0)
		change("small-week")
		use(1, 0)
		s.Advance(time.Minute)
		s.Call("POST", "/api/v1/admin/tenants/"+c.Tenant+"/subscriptions/"+s.Subscription(c.Owner).Str("data.id")+"/cancel", s.Admin(),
			apptest.Object{"immediately": true}).Want(200)
		s.AwaitNotifications()
		s.Advance(time.Minute)
		s.BuyPlan(c.Owner, "small-month")
		s.AwaitNotifications()
		use(1, 0)
		shows(10)
		if len(anchors) != 3 {
			t.Fatalf("the windows began at %v", anchors)
		}

		s.AdvanceTo(begun.AddDate(0, 1, 0).Add(30 * time.Second)) // the original end of the first window
		c.LogInAgain()
		shows(4)
		s.Advance(2 * time.Minute) // the original end of the second window
		shows(0)
	})
}

func monthTerms(start string) usage.Billing {
	b := *usagetest.Billing(start, usage.Month, 1)
	b.Current = usage.Period{Start: b.Anchor, End: b.Anchor.AddDate(0, 1, 0)}
	return b
}

// grantTerms grants a tenant a sequence of billing terms and a quota of 10.
func grantTerms(w *usagetest.World, o usage.StreamKey, codes []string, starts ...string) {
	limits := map[string]int64{}
	for _, code := range codes {
		limits[code] = 10
	}
	b := monthTerms(starts[len(starts)-1])
	for i, start := range starts[:len(starts)-1] {
		b.Former = append(b.Former, usage.FormerBilling{Billing: monthTerms(start), Until: usagetest.At(starts[i+1])})
	}
	w.Plans.Grant(o.TenantID, usage.Allowance{Billing: &b, Limits: limits})
}

// After two interruptions, every aggregation includes the interrupted windows until both have
// expired. Late events count in the window of their time and in the following ones.
func TestInterruptedWindows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-10 12:00")
		codes := []string{"sum", "count", "max", "last_value"}
		for _, code := range codes {
			w.Apply(t, usagetest.Meter(code, usage.Aggregation(code), usage.ResetMonthly, usage.EnforcementHard))
		}
		o := usage.StreamKey{TenantID: w.NewTenant(t)}
		record := func(when, quantity string) (stored []string) {
			t.Helper()
			for _, code := range codes {
				_, err := w.Record(t.Context(), o.TenantID, usagetest.RecordedAt(usagetest.Recording(code, quantity), when))
				switch {
				case err == nil:
					stored = append(stored, code)
				case !errors.Is(err, usage.ErrQuotaExceeded):
					t.Fatal(err)
				}
			}
			return stored
		}
		shows := func(when, want string) {
			t.Helper()
			w.Clock.Set(usagetest.At(when))
			got := ""
			for _, code := range codes {
				got += w.Detail(t, o.TenantID, code).Current.String() + " "
			}
			if got != want+" " {
				t.Errorf("at %s: got %s, want %s", when, got, want)
			}
		}
		all := func(got []string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stored (-want +got)\n%s", diff)
			}
		}
		grantTerms(w, o, codes, "2026-11-10")
		all(record("2026-11-10 10:00", "6"), codes...)
		w.Clock.Set(usagetest.At("2026-11-15"))
		grantTerms(w, o, codes, "2026-11-10", "2026-11-15")
		shows("2026-11-15", "6 1 6 6")
		all(record("2026-11-15", "5"), "count", "max", "last_value")
		all(record("2026-11-15", "3"), codes...)
		shows("2026-11-15", "9 3 6 3")
		all(record("2026-11-14", "2"), "count", "max", "last_value") // its window has room, the current one does not
		all(record("2026-11-14", "1"), codes...)
		shows("2026-11-16", "10 5 6 3")
		w.Clock.Set(usagetest.At("2026-11-20"))
		grantTerms(w, o, codes, "2026-11-10", "2026-11-15", "2026-11-20")
		all(record("2026-11-20", "1"), "count", "max", "last_value")
		shows("2026-11-20", "10 6 6 1")
		shows("2026-12-09 23:59:59.999999", "10 6 6 1")
		shows("2026-12-10", "3 3 5 1")
		shows("2026-12-15", "0 1 1 1")
		shows("2026-12-20", "0 0 0 0")
		w.Clock.Set(usagetest.At("2026-12-15"))
		all(record("2026-12-15", "10"), codes...)
		all(record("2026-12-15", "1"), "count", "max", "last_value")
	})
}

// With concurrent recordings and changes, the quota is never exceeded, and every counter equals the
// aggregate of its events.
func TestInterruptedWindowsUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-10 12:00")
		calls := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard)
		w.Apply(t, calls)
		for range dbtest.Rounds(2, 10) {
			o := usage.StreamKey{TenantID: w.NewTenant(t)}
			starts := []string{"2026-11-10"}
			grantTerms(w, o, []string{"calls"}, starts...)
			var stored atomic.Int64
			for day := range 3 {
				now := fmt.Sprintf("2026-11-%d", 11+day)
				w.Clock.Set(usagetest.At(now))
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						r := usagetest.Recording("calls", "1")
						if i%4 == 0 {
							r = usagetest.RecordedAt(r, "2026-11-10 06:00")
						}
						_, err := w.Instances[i%2].Record(context.WithoutCancel(t.Context()), o.TenantID, r)
						if err == nil {
							stored.Add(1)
						} else if !errors.Is(err, usage.ErrQuotaExceeded) {
							t.Error(err)
						}
					})
				}
				starts = append(starts, now)
				wg.Go(func() { grantTerms(w, o, []string{"calls"}, starts...) })
				wg.Wait()
			}
			if got := w.Detail(t, o.TenantID, "calls").Current; stored.Load() != 10 || got != usagetest.Total("10") {
				t.Errorf("%d were stored, and: got %s", stored.Load(), got)
			}
		}
		if n := w.Recount(t); n != 0 {
			t.Errorf("%d counters differ from their events", n)
		}
	})
}
