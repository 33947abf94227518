package blackbox_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// subscribeAtProvider creates a subscription at the provider, without a card, as the account owner
// can. A checkout that is opened first creates the customer and the price.
func subscribeAtProvider(l *apptest.Customer, plan string, more ...string) {
	l.T.Helper()
	l.OpenCheckout(plan, "EUR").Want(200)
	customer := l.ProviderObjects(l.Owner, "customer")[0].Str("id")
	l.AtProvider("POST", "/subscriptions", append([]string{
		"customer", customer, "items[0][price]", l.ProviderPriceOf(plan), "items[0][quantity]", "1",
		"metadata[tenant_id]", l.Tenant, "metadata[plan_id]", plan,
	}, more...)...)
	l.AwaitProvider()
}

// month is longer than any month, but ends before the first retry of a payment.
const month = 31*apptest.Day + 6*time.Hour

// The operations that each status allows (rules: subscription#statuses).
func TestSubscriptionStatuses(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("life")
		plain := k.CreatePricedPlan(product, "plain", map[string]int{"EUR": 2000})
		trial := k.CreatePricedPlan(product, "trial", map[string]int{"EUR": 2000}, apptest.Object{"trial_days": 10})
		lite := k.CreatePricedPlan(product, "lite", map[string]int{"EUR": 500})
		for _, c := range []struct {
			status string
			reach  func(l *apptest.Customer)
			change string // the error code, or ""
			cancel bool
			over   bool
		}{
			{"active", func(l *apptest.Customer) { l.Buy(plain, "EUR", apptest.Card(apptest.CardPays)) }, "", true, false},
			{"trialing", func(l *apptest.Customer) { l.Buy(trial, "EUR", apptest.Card(apptest.CardPays)) }, "", true, false},
			{"past_due", func(l *apptest.Customer) {
				l.Buy(plain, "EUR", apptest.Card(apptest.CardFailsAtRenewal))
				l.Advance(month)
			}, "", true, false},
			{"canceled", func(l *apptest.Customer) {
				l.Buy(plain, "EUR", apptest.Card(apptest.CardPays))
				l.Call("POST", l.Path("/subscription/cancel"), l.Token, apptest.Object{"immediately": true}).Want(200)
			}, "", false, true},
			{"unpaid", func(l *apptest.Customer) {
				l.SetDunning("unpaid")
				l.Buy(plain, "EUR", apptest.Card(apptest.CardFailsAtRenewal))
				l.Advance(month)
				l.Advance(16 * apptest.Day)
			}, "subscription_cannot_be_upgraded", false, false},
			{"paused", func(l *apptest.Customer) {
				subscribeAtProvider(l, trial, "trial_period_days", "1", "trial_settings[end_behavior][missing_payment_method]", "pause")
				l.Advance(25 * time.Hour)
			}, "subscription_cannot_be_upgraded", false, false},
			{"incomplete", func(l *apptest.Customer) {
				subscribeAtProvider(l, plain, "payment_behavior", "default_incomplete")
			}, "subscription_cannot_be_upgraded", false, false},
			{"incomplete_expired", func(l *apptest.Customer) {
				subscribeAtProvider(l, plain, "payment_behavior", "default_incomplete")
				l.Advance(24 * time.Hour)
			}, "", false, true},
		} {
			t.Run(c.status, func(t *testing.T) {
				l := s.NewCustomer(c.status)
				c.reach(l)
				l.WantStatus(c.status)
				wantShown(l, c.status, c.over)
				wantSecondRefused(l, plain, c.over)

				id := l.Subscriptions().Str("data.0.id")
				removal := "/api/v1/admin/tenants/" + l.Tenant + "/subscriptions/" + id + "/cancel"
				if c.cancel {
					l.Call("POST", l.Path("/subscription/cancel"), l.Token, nil).Want(200).WantAt("data.status", c.status).WantAt("data.cancel_at_period_end", true)
					l.WantStatus(c.status)
					l.Call("POST", l.Path("/subscription/resume"), l.Token, nil).Want(200).WantAt("data.status", c.status).WantAt("data.cancel_at_period_end", false)
				} else {
					l.Call("POST", l.Path("/subscription/cancel"), l.Token, nil).Want(404)
					l.Call("POST", l.Path("/subscription/resume"), l.Token, nil).Want(404)
					l.Call("POST", removal, l.Admin(), nil).WantRefused(400, "SUBSCRIPTION_CANNOT_BE_CANCELED")
				}
				l.WantStatus(c.status)
				change := l.ChangePlan(l.Owner, "lite", nil)
				switch {
				case c.over:
					change.Want(404)
				case c.change != "":
					change.WantRefused(422, c.change)
				default:
					change.Want(200).WantAt("data.action", "updated").WantAt("data.subscription.plan.id", lite)
					l.Call("POST", removal, l.Admin(), apptest.Object{"immediately": true}).Want(200)
					l.WantStatus("canceled")
					return
				}
				l.WantStatus(c.status)
			})
		}
	})
}

// wantShown fails the test unless the subscription, the entitlements and the user's tenants all
// report the status consistently.
func wantShown(l *apptest.Customer, status string, over bool) {
	l.T.Helper()
	access := status == "active" || status == "trialing"
	var want any = status
	if over {
		want = nil
	}
	l.Subscription(l.Owner).WantAt("data.status", want)
	var limit any
	if access || status == "past_due" || status == "unpaid" || status == "paused" {
		limit = 1000.0
	}
	quotas := l.Call("GET", l.Path("/usage/quotas"), l.Token, nil).Want(200)
	for _, m := range quotas.At("data.meters").([]any) {
		if m := m.(apptest.Object); m["meter_code"] == "api-calls" && m["quota_limit"] != limit {
			l.T.Errorf("%s: the quota is %v, want %v", status, m["quota_limit"], limit)
		}
	}
	l.Call("GET", "/api/v1/auth/me", l.Token, nil).Want(200).WantAt("user.tenants.0.has_active_subscription", access)
}

// wantSecondRefused expects a second checkout to be rejected unless the subscription is over.
func wantSecondRefused(l *apptest.Customer, plan string, over bool) {
	l.T.Helper()
	if second := l.OpenCheckout(plan, "EUR"); over {
		second.Want(200)
	} else {
		second.WantRefused(422, "subscription_already_exists")
	}
}

// The card determines the status after a trial.
func TestTrialEnds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		trial := k.CreatePricedPlan(k.CreateProduct("life"), "trial", map[string]int{"EUR": 2000}, apptest.Object{"trial_days": 10})
		pays, fails, paused, ends := s.NewCustomer("pays"), s.NewCustomer("fails"), s.NewCustomer("paused"), s.NewCustomer("ends")
		pays.Buy(trial, "EUR", apptest.Card(apptest.CardPays))
		fails.Buy(trial, "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		ends.Buy(trial, "EUR", apptest.Card(apptest.CardPays))
		ends.Call("POST", ends.Path("/subscription/cancel"), ends.Token, nil).Want(200).WantAt("data.status", "trialing")
		subscribeAtProvider(paused, trial, "trial_period_days", "10", "trial_settings[end_behavior][missing_payment_method]", "pause")
		end := pays.Subscription(pays.Owner).Str("data.trial_ends_at")
		pays.Subscription(pays.Owner).WantAt("data.current_period_end", end)
		if n := len(pays.ProviderObjects(pays.Owner, "charge")); n != 0 {
			t.Errorf("%d payments in a trial", n)
		}
		s.Advance(9 * apptest.Day)
		for _, l := range []*apptest.Customer{pays, fails, paused, ends} {
			l.WantStatus("trialing")
		}
		s.Advance(apptest.Day + 2*time.Hour)
		pays.WantStatus("active")
		pays.Subscription(pays.Owner).WantAt("data.trial_ends_at", end).WantAt("data.current_period_start", end)
		if n := len(pays.ProviderObjects(pays.Owner, "charge")); n != 1 {
			t.Errorf("%d payments after the trial", n)
		}
		fails.WantStatus("past_due")
		ends.WantStatus("canceled")
		paused.WantStatus("paused")
		// A tenant that has had a trial gets no second one.
		ends.Buy(trial, "EUR", apptest.Card(apptest.CardPays))
		ends.WantStatus("active")

		// A new card and a resumption at the provider start a paid period.
		paused.ReplaceCard(apptest.CardPays)
		id := paused.ProviderObjects(paused.Owner, "subscription")[0].Str("id")
		paused.AtProvider("POST", "/subscriptions/"+id+"/resume")
		paused.AwaitProvider()
		paused.WantStatus("active")
		fails.ReplaceCard(apptest.CardPays)
		fails.WantStatus("past_due") // a new card does not pay by itself
		fails.PayOpenInvoices(apptest.Card(apptest.CardPays))
		fails.WantStatus("active")
	})
}

// A failed renewal removes access immediately. The next status depends on the provider's retries or on
// another card.
func TestFailedRenewals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000})
		renews := s.NewCustomer("renews")
		renews.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		for _, outcome := range []string{"canceled", "unpaid", "past_due"} {
			t.Run(outcome, func(t *testing.T) {
				s.SetDunning(outcome)
				given, replaced := s.NewCustomer("given-"+outcome), s.NewCustomer("replaced-"+outcome)
				given.Buy(plan, "EUR", apptest.Card(apptest.CardFailsAtRenewal))
				replaced.Buy(plan, "EUR", apptest.Card(apptest.CardFailsAtRenewal))
				first := given.Subscription(given.Owner).Str("data.current_period_end")
				s.Advance(month)
				given.WantStatus("past_due")
				// The period advances as the provider's does.
				given.Subscription(given.Owner).WantAt("data.current_period_start", first)
				replaced.WantStatus("past_due")
				replaced.ReplaceCard(apptest.CardPays)
				replaced.PayOpenInvoices(apptest.Card(apptest.CardPays))
				replaced.WantStatus("active")
				s.Advance(16 * apptest.Day)
				given.WantStatus(outcome)
				replaced.WantStatus("active")
				given.ReplaceCard(apptest.CardPays)
				if outcome == "canceled" {
					given.WantStatus("canceled") // it stays canceled, and another one can follow
					given.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
				} else {
					given.PayOpenInvoices(apptest.Card(apptest.CardPays))
				}
				given.WantStatus("active")
			})
		}
		renews.WantStatus("active")
		list := renews.Subscriptions()
		if n := len(list.At("data").([]any)); n != 1 {
			t.Errorf("%d subscriptions after renewals: %s", n, list.Text)
		}
		for _, in := range renews.ProviderObjects(renews.Owner, "invoice") {
			in.WantAt("status", "paid").WantAt("total", 2000.0)
		}
	})
}

// A subscription that is canceled at the end of its period keeps access until then, and can be
// resumed until then.
func TestEndOfThePeriod(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000})
		ends, resumes, removed, portal := s.NewCustomer("ends"), s.NewCustomer("resumes"), s.NewCustomer("removed"), s.NewCustomer("portal")
		all := []*apptest.Customer{ends, resumes, removed, portal}
		for _, l := range all {
			l.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		}
		ends.Call("POST", ends.Path("/subscription/cancel"), ends.Token, apptest.Object{"reason": "done"}).Want(200)
		resumes.Call("POST", resumes.Path("/subscription/cancel"), resumes.Token, nil).Want(200)
		removed.Call("POST", "/api/v1/admin/tenants/"+removed.Tenant+"/subscriptions/"+removed.Subscriptions().Str("data.0.id")+"/cancel",
			s.Admin(), apptest.Object{"reason": "abuse"}).Want(200)
		page := portal.Call("POST", portal.Path("/docs/billing/portal"), portal.Token, nil).Want(200).Str("data.url")
		portal.Submit(page+"/cancel", url.Values{"subscription": {portal.ProviderObjects(portal.Owner, "subscription")[0].Str("id")}}).Want(303)
		s.Advance(27 * apptest.Day)
		for _, l := range all {
			l.WantStatus("active")
			l.Subscriptions().WantAt("data.0.cancel_at_period_end", true)
		}
		resumes.Call("POST", resumes.Path("/subscription/resume"), resumes.Token, nil).Want(200).WantAt("data.cancel_at_period_end", false).WantAt("data.canceled_at", nil)
		asked := ends.Subscription(ends.Owner).Str("data.canceled_at")
		s.Advance(5 * apptest.Day)
		for _, l := range []*apptest.Customer{ends, removed, portal} {
			l.WantStatus("canceled")
			l.Subscription(l.Owner).WantAt("data", nil)
			l.Call("POST", l.Path("/subscription/resume"), l.Token, nil).Want(404)
		}
		ends.Subscriptions().WantAt("data.0.cancellation_reason", "done").WantAt("data.0.canceled_at", asked)
		removed.Subscriptions().WantAt("data.0.cancellation_reason", "abuse")
		resumes.WantStatus("active")
		if n := len(ends.ProviderObjects(ends.Owner, "invoice")); n != 1 {
			t.Errorf("canceled subscription has %d invoices, want 1", n)
		}
		ends.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		ends.WantStatus("active")
	})
}

// The debit of a bank account takes days. The subscription stays active until the debit fails.
func TestDebits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000})
		pays, fails := s.NewCustomer("pays"), s.NewCustomer("fails")
		pays.Buy(plan, "EUR", apptest.Debit(apptest.DebitPays))
		fails.Buy(plan, "EUR", apptest.Debit(apptest.DebitFails))
		// due expects the amount that is left to pay, and an action if it is above 0.
		due := func(c *apptest.Customer, cents float64) {
			t.Helper()
			c.Call("GET", c.Path("/invoices/summary"), c.Token, nil).Want(200).WantAt("data.totals.0.open", cents)
			if action := s.Invoices(c.Owner, 1)[0].(map[string]any)["payment_action"]; (action != nil) != (cents > 0) {
				t.Errorf("%s: %v is due, the action is %v", c.Email, cents, action)
			}
		}
		due(pays, 0) // a debit in progress is not due
		due(fails, 0)
		s.Advance(4 * apptest.Day)
		pays.WantStatus("active")
		fails.WantStatus("active")
		due(fails, 0)
		s.Advance(2 * apptest.Day)
		pays.WantStatus("active")
		fails.WantStatus("past_due")
		due(pays, 0)
		due(fails, 2000)
		fails.ReplaceCard(apptest.CardPays)
		fails.WantStatus("past_due") // a new card does not pay by itself
		fails.PayOpenInvoices(apptest.Card(apptest.CardPays))
		fails.WantStatus("active")
		s.Advance(month)
		pays.WantStatus("active")
		s.Advance(6 * apptest.Day)
		pays.WantStatus("active")
	})
}
