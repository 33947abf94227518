package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// lastTotal returns the total of a tenant's newest invoice at the provider.
func lastTotal(c *apptest.Customer) float64 {
	c.T.Helper()
	invoices := c.ProviderObjects(c.Owner, "invoice")
	return invoices[len(invoices)-1].At("total").(float64)
}

// estimated returns the cost estimate in cents.
func estimated(c *apptest.Customer) float64 {
	c.T.Helper()
	return c.Call("GET", c.Path("/usage/cost-estimate"), c.Token, nil).Want(200).At("data.total_amount_cents").(float64)
}

// A preview includes usage recorded just before, for every aggregation, and the change charges the
// same amount.
func TestPreviewHasTheUsageRecordedLast(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		sellMeter(s, "peak", "last", "10", apptest.Object{"aggregation_type": "max"})
		sellMeter(s, "level", "last", "1", apptest.Object{"aggregation_type": "last_value"})
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		s.AddPlan("annual", "flat", "year", 20000, 0, nil)
		for _, to := range []string{"solo", "annual"} {
			c := s.NewCustomer(to)
			c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
			for _, quantity := range []int{30, 7} {
				for _, code := range []string{"mails", "peak", "level"} {
					record(c, code, quantity, nil)
				}
			}
			shown := s.PreviewChange(c.Owner, to, 0).Want(200).WantAt("data.breakdown.usage.cents", 3700.0+300+7)
			s.ChangePlan(c.Owner, to, nil).Want(200).WantAt("data.action", "updated")
			if got := lastTotal(c); got != shown.At("data.net.cents") || got != shown.At("data.due_now.cents") {
				t.Errorf("%s: %v is invoiced, the preview showed %v and %v", to, got, shown.At("data.net.cents"), shown.At("data.due_now.cents"))
			}
		}
	})
}

// After a renewal that billed usage with a discount, leaving the plan charges the usage so far and
// nothing else for the meter: metered prices are not prorated.
func TestLeavingADiscountedUsagePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		s.CatalogAdmin().AdminCall("POST", "/discounts", apptest.Object{
			"code": "eighth", "name": apptest.Object{"en": "Sale"}, "percent_off": 12.5, "duration": "forever",
		}).Want(201)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		c.Call("POST", c.Path("/subscription/promotion-code"), c.Token, apptest.Object{"promotion_code": "eighth"}).Want(200)
		record(c, "mails", 10, nil)
		s.AdvanceTo(s.Subscription(c.Owner).TimeAt("data.current_period_end").Add(2 * time.Hour))
		c.LogInAgain()
		if got := lastTotal(c); got != 875+875 { // the fee and the usage
			t.Errorf("the renewal has %v", got)
		}
		record(c, "mails", 2, nil)
		shown := s.PreviewChange(c.Owner, "solo", 0).Want(200)
		s.ChangePlan(c.Owner, "solo", nil).Want(200)
		if got := lastTotal(c); got != shown.At("data.net.cents") || got != shown.At("data.due_now.cents") {
			t.Errorf("%v is invoiced, %v was shown", got, shown.At("data.due_now.cents"))
		}
	})
}

// Usage recorded after the preview makes it outdated. The change is rejected with the new amounts,
// which are binding.
func TestUsageOutdatesAPreview(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		record(c, "mails", 4, nil)
		s.PreviewChange(c.Owner, "solo", 0).Want(200).WantAt("data.breakdown.usage.cents", 400.0)
		record(c, "mails", 2, nil)
		made := len(c.ProviderObjects(c.Owner, "invoice"))
		refused := s.ChangePlan(c.Owner, "solo", nil)
		refused.WantRefused(409, "preview_outdated")
		refused.WantAt("preview.breakdown.usage.cents", 600.0)
		s.Subscription(c.Owner).WantAt("data.plan.pricing_type", "usage")
		if n := len(c.ProviderObjects(c.Owner, "invoice")); n != made {
			t.Errorf("rejected change created %d invoices", n-made)
		}
		record(c, "mails", 0, nil) // costs nothing, so the preview stays valid
		s.ChangePlan(c.Owner, "solo", nil).Want(200).WantAt("data.action", "updated")
		if got := lastTotal(c); got != refused.At("preview.net.cents") {
			t.Errorf("%v is invoiced, %v was shown", got, refused.At("preview.net.cents"))
		}
	})
}

// Usage recorded just before the clock moves past the end of a period is on the invoice of that
// period, whether the subscription renews or ends, even twice in a row.
func TestUsageRightBeforeTheClockMoves(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		renews, ends := s.NewCustomer("renews"), s.NewCustomer("ends")
		for _, c := range []*apptest.Customer{renews, ends} {
			c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		}
		s.Cancel(ends.Owner, false).Want(200)
		for round, quantity := range []string{"33", "11"} {
			end := s.Subscription(renews.Owner).TimeAt("data.current_period_end")
			if round == 0 {
				s.AdvanceTo(end.Add(-time.Minute))
				renews.LogInAgain()
				ends.LogInAgain()
				record(ends, "mails", 33, nil)
			}
			record(renews, "mails", []int{33, 11}[round], nil)
			s.AdvanceTo(end.Add(2 * time.Hour))
			if got, _ := lastLine(s, renews.Owner, "mails"); got != quantity {
				t.Errorf("the renewal bills %v, want %v", got, quantity)
			}
			renews.LogInAgain()
		}
		if got, _ := lastLine(s, ends.Owner, "mails"); got != "33" {
			t.Errorf("the last invoice bills %v", got)
		}
		if n := s.CountRows(`SELECT count(*) FROM usage_refusals`); n != 0 {
			t.Errorf("%d figures are refused", n)
		}
	})
}

// The estimate excludes usage that was already billed or is free. It includes usage since the plan
// began to bill the meter.
func TestEstimateAfterChangesOfPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		usagePlan := sellMetered(s, "mails", "sum", "100", nil)
		sellMeter(s, "level", "last", "1", apptest.Object{"aggregation_type": "last_value", "reset_interval": "none"})
		sellMeter(s, "peak", "last", "10", apptest.Object{"aggregation_type": "max"})
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		billed, free := s.NewCustomer("billed"), s.NewCustomer("free")
		billed.Buy(usagePlan, "EUR", apptest.Card(apptest.CardPays))
		record(billed, "mails", 37, nil)
		record(billed, "peak", 5, nil)
		s.ChangePlan(billed.Owner, "solo", nil).Want(200)
		free.Buy(s.PlanID(free.Owner, "solo"), "EUR", apptest.Card(apptest.CardPays))
		record(free, "mails", 40, nil)
		record(free, "level", 5, nil)
		s.Advance(time.Minute)
		for c, want := range map[*apptest.Customer]float64{billed: 733, free: 200} {
			s.ChangePlan(c.Owner, "billed", nil).Want(200).WantAt("data.action", "updated")
			if got := estimated(c); got != 0 {
				t.Errorf("%s: the estimate is %v before usage is billed", c.Email, got)
			}
			record(c, "mails", int(want/100), nil)
			if c == billed {
				record(c, "level", 3, nil)
				record(c, "peak", 8, nil) // 3 more than already billed
			}
			if got := estimated(c); got != want {
				t.Errorf("%s: the estimate is %v, want %v", c.Email, got, want)
			}
			s.Cancel(c.Owner, true).Want(200)
			if got := lastTotal(c); got != want {
				t.Errorf("%s: the invoice has %v, want %v", c.Email, got, want)
			}
		}
	})
}
