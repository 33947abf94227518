package blackbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// anchored is a subscription that began on a day that not every month has.
type anchored struct {
	*apptest.Customer
	cycle  string
	anchor time.Time
}

// period returns the n-th period, counted from the first day. In a month without that day, it ends
// on the last day, which does not shift later periods.
func (a anchored) period(n int) (start, end time.Time) {
	return a.boundary(n), a.boundary(n + 1)
}

func (a anchored) boundary(n int) time.Time {
	months := map[string]int{"monthly": 1, "quarterly": 3, "yearly": 12}[a.cycle] * n
	if months == 0 {
		return a.anchor.AddDate(0, 0, 7*n)
	}
	y, m, d := a.anchor.Date()
	last := time.Date(y, m+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(y, m+time.Month(months), min(d, last), a.anchor.Hour(), a.anchor.Minute(), a.anchor.Second(), 0, time.UTC)
}

// Over years, a subscription's periods follow each other without gaps or overlaps. Each period
// results from the first day and the UTC calendar, and equals the provider's.
func TestMonthsOfRenewals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("calendar")
		plans := map[string]string{}
		for _, cycle := range []string{"monthly", "quarterly", "yearly", "weekly"} {
			plans[cycle] = k.CreatePricedPlan(product, cycle, map[string]int{"EUR": 1000}, apptest.Object{"billing_cycle": cycle})
		}
		// The subscriptions begin late in the evening, on the last days of a month with 31 days that
		// precedes shorter months.
		now := s.Now()
		var all []anchored
		for d := 29; d <= 31; d++ {
			s.AdvanceTo(time.Date(now.Year()+1, time.January, d, 23, 30, 0, 0, time.UTC))
			for cycle, plan := range plans {
				if cycle == "weekly" && d < 31 {
					continue // weeks do not depend on the day of the month
				}
				l := s.NewCustomer(fmt.Sprint(cycle, d))
				l.Submit(l.OpenCheckout(plan, "EUR").Want(200).Str("data.url"), apptest.Card(apptest.CardPays)).Want(303)
				apptest.Eventually(t, "the activation", func() bool { return l.Subscription(l.Owner).At("data.status") == "active" })
				a := anchored{Customer: l, cycle: cycle, anchor: l.Subscription(l.Owner).TimeAt("data.current_period_start")}
				if a.anchor.Day() != d {
					t.Fatalf("%s begins at %v, want day %d", cycle, a.anchor, d)
				}
				all = append(all, a)
			}
		}
		seen := make([]int, len(all)) // the index of each subscription's period
		check := func() {
			t.Helper()
			admin, now := s.Admin(), s.Now()
			remote := map[any]apptest.Reply{}
			for _, sub := range s.AllProviderObjects("subscription") {
				remote[sub.At("metadata.tenant_id")] = sub
			}
			for i, a := range all {
				local := s.Call("GET", "/api/v1/admin/tenants/"+a.Tenant+"/subscriptions", admin, nil).Want(200)
				for _, end := a.period(seen[i]); !end.After(now); _, end = a.period(seen[i]) {
					seen[i]++
				}
				start, end := a.period(seen[i])
				got := [2]time.Time{local.TimeAt("data.0.current_period_start"), local.TimeAt("data.0.current_period_end")}
				there := [2]time.Time{unix(remote[a.Tenant], "items.data.0.current_period_start"), unix(remote[a.Tenant], "items.data.0.current_period_end")}
				if want := [2]time.Time{start, end}; got != want || there != want || local.At("data.0.status") != "active" {
					t.Fatalf("%s from %v, period %d: %v, at the provider %v, want %v, status %v",
						a.cycle, a.anchor, seen[i], got, there, want, local.At("data.0.status"))
				}
			}
		}
		check()
		for n := range dbtest.Rounds(4, 36) {
			// Advance to half an hour after the last possible end of a period in this month. The invoices
			// of that day are paid an hour after the end.
			s.AdvanceTo(time.Date(now.Year()+1, time.March+time.Month(n), 1, 0, 0, 1, 0, time.UTC))
			check()
		}
		// Every period was billed once.
		s.Advance(2 * time.Hour)
		check()
		for i, a := range all {
			if paid := len(s.ProviderObjects(a.Owner, "invoice")); paid != seen[i]+1 {
				t.Errorf("%s from %v: %d invoices in %d periods", a.cycle, a.anchor, paid, seen[i]+1)
			}
		}
	})
}

// unix returns a time field of a provider object.
func unix(a apptest.Reply, path string) time.Time {
	a.T.Helper()
	seconds, ok := a.At(path).(float64)
	if !ok {
		a.T.Fatalf("%s is %v", path, a.At(path))
	}
	return time.Unix(int64(seconds), 0).UTC()
}
