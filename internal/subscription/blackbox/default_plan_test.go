package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// newDefaultPlan creates the product of a shop whose plan free is the default plan. It allows two
// team members and 10 units of a monthly meter.
func newDefaultPlan(k apptest.CatalogAdmin) (product, free string) {
	k.T.Helper()
	product = k.CreateProduct("shop")
	k.CreateFeature("calls")
	k.AdminCall("POST", "/meters", apptest.Object{
		"code": "calls", "name": "Calls", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "hard",
	}).Want(201)
	free = k.CreatePricedPlan(product, "nothing", map[string]int{"EUR": 0})
	setQuotas(k, free, map[string]int{"team-members": 2, "calls": 10})
	k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"is_default": true}).Want(200).WantAt("data.is_default", true)
	return product, free
}

// setQuotas replaces the entitlements of a plan with the given quotas, by feature code.
func setQuotas(k apptest.CatalogAdmin, plan string, quotas map[string]int) {
	k.T.Helper()
	var list []any
	for code, value := range quotas {
		feature := k.AdminCall("GET", "/features?filter[code]="+code, nil).Want(200).Str("data.0.id")
		list = append(list, apptest.Object{"feature_id": feature, "type": "quota", "value": value})
	}
	k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{"entitlements": list}).Want(200)
}

func recordCalls(c *apptest.Customer, quantity int) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "calls", "quantity": quantity})
}

func usedCalls(c *apptest.Customer) any {
	c.T.Helper()
	return c.Call("GET", c.Path("/usage/calls"), c.Token, nil).Want(200).At("data.current_usage")
}

// The entitlements and quotas of the default plan apply to a tenant without a subscription that sets
// limits (rules: catalog#default-plan).
func TestDefaultPlanAppliesWithoutASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		before := s.NewCustomer("before")
		product, free := newDefaultPlan(k)
		paid := k.CreatePricedPlan(product, "paid", map[string]int{"EUR": 1000})
		setQuotas(k, paid, map[string]int{"calls": 50})
		ada := s.NewCustomer("ada")
		for _, c := range []*apptest.Customer{before, ada} {
			s.Call("GET", c.Path("/subscription"), c.Token, nil).Want(200).WantAt("data", nil)
			a := s.Call("GET", c.Path("/entitlements"), c.Token, nil).Want(200)
			a.WantAt("data.0.key", "calls").WantAt("data.0.limit", 10.0).WantAt("data.1.key", "team-members")
			s.Call("GET", c.Path("/usage/quotas"), c.Token, nil).Want(200)
			s.Call("GET", c.Path("/team/stats"), c.Token, nil).Want(200).WantAt("data.limit", 2.0)
			me := s.Call("GET", "/api/v1/auth/me", c.Token, nil).Want(200)
			me.WantAt("user.tenants.0.plan_name", "Plan nothing").WantAt("user.tenants.0.subscription_status", nil).
				WantAt("user.tenants.0.has_active_subscription", false)
			s.Call("GET", "/api/v1/onboarding/status", c.Token, nil).Want(200).
				WantAt("plan_name", "Plan nothing").WantAt("subscription_status", nil).WantAt("has_subscription", false)
			k.AdminCall("GET", "/tenants/"+c.Tenant, nil).Want(200).
				WantAt("data.plan_name", "Plan nothing").WantAt("data.subscription_status", nil)
		}
		recordCalls(ada, 10).Want(201)
		recordCalls(ada, 1).WantRefused(429, "QUOTA_EXCEEDED")
		for _, path := range []string{"/subscription/cancel", "/subscription/resume"} {
			s.Call("POST", ada.Path(path), ada.Token, apptest.Object{}).WantRefused(404, "")
		}
		ada.OpenCheckout(free, "EUR").WantRefused(422, "plan_change_error")
		before.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		s.Call("GET", before.Path("/subscription/preview-change?new_plan_id="+free), before.Token, nil).WantRefused(422, "plan_change_error")
		s.Call("POST", before.Path("/subscription/change-plan"), before.Token, apptest.Object{"new_plan_id": free}).WantRefused(422, "plan_change_error")
		k.AdminCall("GET", "/plans/"+free+"/customers", nil).Want(200).WantAt("data.tenants", float64(s.CountRows(`SELECT count(*) FROM tenants`)-2))
		s.Cancel(before.Owner, true).Want(200)
		for _, row := range s.Call("GET", ada.Path("/plans?currency=EUR"), ada.Token, nil).Want(200).At("data").([]any) {
			plan := row.(apptest.Object)
			if selectable := plan["eligibility"].(apptest.Object)["selectable"]; plan["id"] == free && (selectable != false || plan["is_default"] != true) {
				t.Errorf("the default plan in the list of plans: %v", plan)
			}
		}
		k.AdminCall("GET", "/plans/"+free+"/customers", nil).Want(200).WantAt("data.tenants", float64(s.CountRows(`SELECT count(*) FROM tenants`)-1)) // the demo tenant pays

		// The entitlements of two plans are never mixed. After a cancellation, the default plan applies
		// again.
		ada.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.0.limit", 50.0).WantAt("data.1", nil)
		s.Call("GET", "/api/v1/auth/me", ada.Token, nil).Want(200).
			WantAt("user.tenants.0.plan_name", "Plan paid").WantAt("user.tenants.0.subscription_status", "active")
		s.Cancel(ada.Owner, true).Want(200)
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.0.limit", 10.0)
		recordCalls(ada, 1).WantRefused(429, "QUOTA_EXCEEDED")
	})
}

// The rules of the default plan, each with the field that it refuses.
func TestDefaultPlanRules(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("shop")
		free := k.CreatePricedPlan(product, "nothing", map[string]int{"EUR": 0})
		priced := k.CreatePricedPlan(product, "priced", map[string]int{"EUR": 100})
		patch := func(plan string, change apptest.Object) apptest.Reply {
			t.Helper()
			return k.AdminCall("PATCH", "/plans/"+plan, change)
		}
		plan := func(slug string, change apptest.Object) apptest.Reply {
			t.Helper()
			return k.AdminCall("POST", "/plans", apptest.WithChanges(apptest.PlanBody(product, slug), change))
		}
		for name, change := range map[string]apptest.Object{
			"seats": {"pricing_type": "seat"}, "trial": {"trial_days": 3}, "inactive": {"is_active": false},
		} {
			plan(name, apptest.WithChanges(change, apptest.Object{"is_default": true})).WantInvalid("is_default")
		}
		plan("card", apptest.Object{"trial_days": 3, "trial_requires_card": false}).WantInvalid("trial_requires_card")
		patch(priced, apptest.Object{"is_default": true}).WantInvalid("is_default")
		patch(priced, apptest.Object{"is_default": nil}).WantInvalid("is_default")
		patch(free, apptest.Object{"is_default": true}).Want(200)
		plan("second", apptest.Object{"is_default": true}).WantInvalid("is_default")

		for field, change := range map[string]apptest.Object{
			"prices":       {"prices": []any{apptest.Price("EUR", 100)}},
			"trial_days":   {"trial_days": 1},
			"pricing_type": {"pricing_type": "usage"},
			"is_active":    {"is_active": false},
		} {
			patch(free, change).WantInvalid(field)
			// A change of several fields is judged as a whole.
			patch(free, apptest.WithChanges(change, apptest.Object{"is_default": true})).WantInvalid(field)
		}
		k.AdminCall("PUT", "/plans/"+free+"/prices", apptest.Object{"prices": []any{apptest.Price("EUR", 100)}}).WantInvalid("prices")
		imported := s.NewProviderPrice("currency", "gbp", "unit_amount", "500")
		k.AdminCall("POST", "/plans/"+free+"/prices/psp-import", apptest.Object{"psp_price_id": imported}).WantInvalid("prices")
		refused := k.AdminCall("DELETE", "/plans/"+free, nil)
		refused.WantRefused(409, "CATALOG_IN_USE")
		refused.WantAt("message", "The default plan cannot be deleted. First make another plan the default, or set none.")
		k.AdminCall("DELETE", "/products/"+product, nil).WantRefused(409, "CATALOG_IN_USE")
		copied := k.AdminCall("POST", "/plans/"+free+"/duplicate", nil).Want(201)
		copied.WantAt("data.is_default", false)

		trial := plan("card", apptest.Object{"trial_days": 3, "trial_requires_card": false}).Want(201).Str("data.id")
		plan("none", apptest.Object{"trial_requires_card": false}).WantInvalid("trial_requires_card")
		patch(trial, apptest.Object{"trial_days": 0}).WantInvalid("trial_days")
		patch(free, apptest.Object{"is_default": false}).WantInvalid("is_default")
		patch(trial, apptest.Object{"trial_days": 0, "trial_requires_card": true}).Want(200)
		patch(free, apptest.Object{"is_default": false, "trial_days": 1}).Want(200).WantAt("data.is_default", false)
		k.AdminCall("DELETE", "/plans/"+free, nil).Want(204)
	})
}

// The default plan needs no checkout and no customer at the provider.
func TestOnboardingWithTheDefaultPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		newDefaultPlan(s.CatalogAdmin())
		customers := s.CountRows(`SELECT count(*) FROM psp_customers`)
		started := s.Call("POST", "/api/v1/onboarding/start", "", apptest.Object{
			"name": "Ada", "email": "ada@example.com", "password": "correct horse", "password_confirmation": "correct horse",
			"tenant_name": "Ada Ltd", "plan_slug": "nothing", "currency": "EUR",
		}).Want(201)
		if url := started.At("checkout_url"); url != nil {
			t.Errorf("checkout_url is %v", url)
		}
		if at := started.At("tenant.onboarding_completed_at"); at == nil {
			t.Error("the onboarding is not complete")
		}
		token := s.LogIn("ada@example.com")
		retried := s.Call("POST", "/api/v1/onboarding/retry-checkout", token, apptest.Object{"plan_slug": "nothing", "currency": "EUR"}).Want(200)
		if url := retried.At("data.checkout_url"); url != nil {
			t.Errorf("checkout_url is %v", url)
		}
		paying := s.NewCustomer("bob")
		s.BuyPlan(paying.Owner, "starter")
		s.Call("POST", "/api/v1/onboarding/retry-checkout", paying.Token, apptest.Object{"plan_slug": "nothing", "currency": "EUR"}).
			WantRefused(422, "subscription_already_exists")
		customers++
		if n := s.CountRows(`SELECT count(*) FROM psp_customers`); n != customers {
			t.Errorf("%d customers at the provider, want %d", n, customers)
		}
	})
}

// Quota windows of the default plan are calendar months. A window that a subscription interrupts counts
// until its regular end, and usage counts once.
func TestQuotaWindowsOfTheDefaultPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, _ := newDefaultPlan(k)
		paid := k.CreatePricedPlan(product, "paid", map[string]int{"EUR": 1000})
		setQuotas(k, paid, map[string]int{"calls": 50})
		ada := s.NewCustomer("ada")
		// Begin on the 5th of a month.
		first := time.Date(s.Now().Year(), s.Now().Month()+1, 1, 0, 0, 0, 0, time.UTC)
		s.AdvanceTo(first.Add(4*24*time.Hour + time.Hour))
		ada.LogInAgain()
		recordCalls(ada, 4).Want(201)
		detail := s.Call("GET", ada.Path("/usage/calls"), ada.Token, nil).Want(200)
		detail.WantAt("data.period_start", first.Format("2006-01-02T15:04:05.000000Z")).WantAt("data.current_usage", 4.0)

		s.Advance(time.Minute) // the provider's times are in seconds
		ada.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		if used := usedCalls(ada); used != 4.0 {
			t.Errorf("after the purchase %v calls, want 4", used)
		}
		recordCalls(ada, 5).Want(201)
		s.AdvanceTo(first.Add(14 * 24 * time.Hour))
		ada.LogInAgain()
		s.Cancel(ada.Owner, true).Want(200)
		if used := usedCalls(ada); used != 9.0 {
			t.Errorf("after the cancellation %v calls, want 9", used)
		}
		recordCalls(ada, 2).WantRefused(429, "QUOTA_EXCEEDED")
		recordCalls(ada, 1).Want(201)
		// In the next month, the interrupted window counts until the 5th.
		next := first.AddDate(0, 1, 0)
		s.AdvanceTo(next.Add(time.Hour))
		ada.LogInAgain()
		if used := usedCalls(ada); used != 5.0 {
			t.Errorf("in the next month %v calls, want 5", used)
		}
		s.AdvanceTo(next.Add(6 * 24 * time.Hour))
		ada.LogInAgain()
		if used := usedCalls(ada); used != 0.0 {
			t.Errorf("after the interrupted window %v calls, want 0", used)
		}
	})
}
