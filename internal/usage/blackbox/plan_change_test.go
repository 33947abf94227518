package blackbox_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// record records a quantity on a meter.
func record(c *apptest.Customer, code string, quantity int, more apptest.Object) {
	c.T.Helper()
	c.Call("POST", c.Path("/usage"), c.Token, apptest.WithChanges(apptest.Object{"meter_code": code, "quantity": quantity}, more)).Want(201)
}

// A change between a flat or seat plan and a plan with a base price and usage works in both
// directions. Usage is billed from the first change on, with the invoice of the second.
func TestChangeToAndFromAUsagePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		sellMetered(s, "mails", "sum", "100", nil)
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("annual", "flat", "year", 20000, 0, nil)
		for _, other := range []string{"solo", "crew", "annual"} {
			c := s.NewCustomer(other)
			c.Buy(s.PlanID(c.Owner, other), "EUR", apptest.Card(apptest.CardPays))
			record(c, "mails", 3, nil) // free
			s.Advance(time.Minute)
			shown := s.PreviewChange(c.Owner, "billed", 0).Want(200).At("data.net.cents")
			s.ChangePlan(c.Owner, "billed", nil).Want(200).WantAt("data.action", "updated").WantAt("data.subscription.plan.pricing_type", "usage")
			made := c.ProviderObjects(c.Owner, "invoice")
			if got := made[len(made)-1].At("total"); got != shown {
				t.Errorf("%s to usage: %v was shown, %v is invoiced", other, shown, got)
			}
			if n := len(c.ProviderObjects(c.Owner, "subscription")[0].At("items.data").([]any)); n != 2 {
				t.Errorf("%s to usage: %d items", other, n)
			}
			record(c, "mails", 5, nil)
			s.AwaitNotifications()
			c.Call("GET", c.Path("/usage/cost-estimate"), c.Token, nil).Want(200)
			s.ChangePlan(c.Owner, other, nil).Want(200).WantAt("data.action", "updated")
			if _, amount := lastLine(s, c.Owner, "mails"); amount != 500 {
				t.Errorf("%s: the change from usage bills %v", other, amount)
			}
			if n := len(c.ProviderObjects(c.Owner, "subscription")[0].At("items.data").([]any)); n != 1 {
				t.Errorf("%s from usage: %d items", other, n)
			}
			record(c, "mails", 7, nil) // free again
			s.Subscription(c.Owner).WantAt("data.status", "active")
		}
	})
}

// Usage recorded in the second of an immediate cancellation, or with a later time, is on the final
// invoice.
func TestUsageInTheSecondOfACancellation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		for _, name := range []string{"ada", "eve", "mary"} {
			c := s.NewCustomer(name)
			c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
			for range 10 {
				record(c, "mails", 5, nil)
			}
			record(c, "mails", 10, apptest.Object{"recorded_at": s.Now().Add(3 * time.Minute).Format(time.RFC3339)})
			s.Cancel(c.Owner, true).Want(200).WantAt("data.status", "canceled")
			if quantity, amount := lastLine(s, c.Owner, "mails"); quantity != "60" || amount != 6000 {
				t.Errorf("%s: the final invoice bills %v for %v", name, amount, quantity)
			}
		}
	})
}

// Usage acknowledged during a cancellation is on the final invoice. Usage that could not be billed
// is rejected and can be retried.
func TestUsageDuringACancellation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		record(c, "mails", 1, nil)
		const recorders = 4
		var stored, refused atomic.Int64
		var ended atomic.Bool
		var recording sync.WaitGroup
		for range recorders {
			recording.Go(func() {
				for !ended.Load() {
					switch r := c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "mails", "quantity": 1}); r.Status {
					case http.StatusCreated:
						stored.Add(1)
					case http.StatusServiceUnavailable:
						refused.Add(1)
					default:
						t.Errorf("status %d", r.Status)
					}
				}
			})
		}
		apptest.Eventually(t, "usage of all recorders", func() bool { return stored.Load() >= 4*recorders })
		s.Cancel(c.Owner, true).Want(200)
		ended.Store(true)
		recording.Wait()
		_, amount := lastLine(s, c.Owner, "mails")
		if n := s.CountRows(`SELECT count(*) FROM usage_events WHERE tenant_id = $1`, c.Tenant); int64(n) < stored.Load()+1 {
			t.Errorf("%d were acknowledged, %d are stored", stored.Load()+1, n)
		}
		// Usage before the cancellation is billed, and usage after it is free.
		until := func(column string) int {
			return s.CountRows(`SELECT count(*) FROM usage_events WHERE tenant_id = $1 AND created_at <=
				(SELECT max(`+column+`) FROM psp_operations WHERE tenant_id = $1 AND state = 'done')`, c.Tenant)
		}
		if billed := int(amount) / 100; billed < until("created_at") || billed > until("updated_at") {
			t.Errorf("%d are billed, want %d to %d", billed, until("created_at"), until("updated_at"))
		}
		if refused.Load() == 0 {
			t.Error("no usage was recorded during the cancellation")
		}
	})
}
