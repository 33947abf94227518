package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// limitRow returns a tenant's row of limits for a feature.
func limitRow(k apptest.CatalogAdmin, c *apptest.Customer, code string) apptest.Object {
	k.T.Helper()
	for _, row := range k.AdminCall("GET", "/tenants/"+c.Tenant+"/limits", nil).Want(200).At("data").([]any) {
		if row.(apptest.Object)["feature_code"] == code {
			return row.(apptest.Object)
		}
	}
	return nil
}

// The effective limit is the override, otherwise the plan's entitlement, otherwise the default plan's
// (rules: subscription#overrides). An override survives plan changes and every status of the
// subscription.
func TestOverrides(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, _ := newDefaultPlan(k)
		paid := k.CreatePricedPlan(product, "paid", map[string]int{"EUR": 1000})
		setQuotas(k, paid, map[string]int{"calls": 50})
		k.CreateFeature("beta")
		ada := s.NewCustomer("ada")
		path := "/tenants/" + ada.Tenant + "/limits/"
		plan := limitRow(k, ada, "calls")
		if plan["override"] != nil || plan["plan"].(apptest.Object)["value"] != 10.0 || plan["effective"].(apptest.Object)["value"] != 10.0 ||
			plan["grants_remaining"] != 0.0 {
			t.Errorf("%v", plan)
		}
		put := k.AdminCall("PUT", path+"calls", apptest.Object{"type": "quota", "value": 12, "reason": "pilot"}).Want(200)
		put.WantAt("data.override.value", 12.0).WantAt("data.override.reason", "pilot").WantAt("data.override.expires_at", nil).
			WantAt("data.override.by.type", "user").WantAt("data.effective.value", 12.0).WantAt("data.plan.value", 10.0)
		recordCalls(ada, 12).Want(201)
		recordCalls(ada, 1).WantRefused(429, "QUOTA_EXCEEDED")
		ada.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		recordCalls(ada, 1).WantRefused(429, "QUOTA_EXCEEDED")
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.0.limit", 12.0)

		k.AdminCall("PUT", path+"calls", apptest.Object{"type": "quota", "value": nil, "reason": "unlimited"}).Want(200).WantAt("data.effective.value", nil)
		recordCalls(ada, 1000).Want(201)
		k.AdminCall("PUT", path+"calls", apptest.Object{"type": "none", "reason": "abuse"}).Want(200).WantAt("data.effective.type", "none")
		recordCalls(ada, 1).WantRefused(429, "QUOTA_EXCEEDED")
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data", []any{})
		k.AdminCall("DELETE", path+"calls", nil).Want(204)
		k.AdminCall("DELETE", path+"calls", nil).Want(204)
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.0.limit", 50.0)

		// An override can grant a feature that is not in any plan, until the override expires.
		until := s.Now().Add(time.Hour)
		k.AdminCall("PUT", path+"beta", apptest.Object{"type": "boolean", "reason": "trial", "expires_at": until.Format(time.RFC3339)}).Want(200).
			WantAt("data.plan", nil).WantAt("data.effective.type", "boolean")
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.0.key", "beta")
		s.Advance(time.Hour)
		ada.LogInAgain()
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.1", nil)
		k.Token = s.Admin()
		if row := limitRow(k, ada, "beta"); row != nil {
			t.Errorf("after the expiry: %v", row)
		}
	})
}

func TestOverrideRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		k.CreateFeature("calls")
		ada := s.NewCustomer("ada")
		path := "/tenants/" + ada.Tenant + "/limits/"
		for _, tt := range []struct {
			body  apptest.Object
			field string
		}{
			{apptest.Object{"type": "quota", "reason": "x"}, "value"},
			{apptest.Object{"type": "quota", "reason": "x", "value": -1}, "value"},
			{apptest.Object{"type": "quota", "reason": "x", "value": 1.5}, "value"},
			{apptest.Object{"type": "boolean", "reason": "x", "value": 1}, "value"},
			{apptest.Object{"type": "none", "reason": "x", "value": 0}, "value"},
			{apptest.Object{"type": "some", "reason": "x"}, "type"},
			{apptest.Object{"type": "boolean"}, "reason"},
			{apptest.Object{"type": "boolean", "reason": ""}, "reason"},
			{apptest.Object{"type": "boolean", "reason": "x", "expires_at": s.Now().Add(-time.Second).Format(time.RFC3339)}, "expires_at"},
			{apptest.Object{"type": "boolean", "reason": "x", "expires_at": "tomorrow"}, "expires_at"},
		} {
			k.AdminCall("PUT", path+"calls", tt.body).WantInvalid(tt.field)
		}
		k.AdminCall("PUT", path+"calls", apptest.Object{"type": "boolean", "reason": "x", "value": nil, "expires_at": nil}).Want(200)
		k.AdminCall("PUT", path+"nothing", apptest.Object{"type": "boolean", "reason": "x"}).WantRefused(404, "")
		k.AdminCall("DELETE", path+"nothing", nil).WantRefused(404, "")
		k.AdminCall("GET", "/tenants/"+apptest.NoSuchID+"/limits", nil).WantRefused(404, "")
		s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+"/limits", ada.Token, nil).WantRefused(403, "")
	})
}

// The end of a subscription without a default plan does not reset the windows of an override and a
// cap (rules: usage#interrupted-windows).
func TestLimitsAfterASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, free := newDefaultPlan(k)
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"is_default": false}).Want(200)
		paid := k.CreatePricedPlan(product, "paid", map[string]int{"EUR": 1000})
		first := time.Date(s.Now().Year(), s.Now().Month()+1, 1, 0, 0, 0, 0, time.UTC)
		s.AdvanceTo(first.AddDate(0, 0, 19))
		k = s.CatalogAdmin()
		limits := map[string]func(c *apptest.Customer){
			"override": func(c *apptest.Customer) {
				k.AdminCall("PUT", "/tenants/"+c.Tenant+"/limits/calls", apptest.Object{"type": "quota", "value": 10, "reason": "pilot"}).Want(200)
			},
			"cap": func(c *apptest.Customer) {
				c.Call("PUT", c.Path("/usage/calls/cap"), c.Token, apptest.Object{"limit": 10}).Want(200)
			},
		}
		customers := map[string]*apptest.Customer{}
		for name, limit := range limits {
			c := s.NewCustomer(name)
			customers[name] = c
			c.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
			limit(c)
			recordCalls(c, 10).Want(201)
		}
		next := first.AddDate(0, 1, 0)
		s.AdvanceTo(next.AddDate(0, 0, 4))
		for name, c := range customers {
			c.LogInAgain()
			recordCalls(c, 1).WantRefused(429, "QUOTA_EXCEEDED")
			s.Cancel(c.Owner, true).Want(200)
			if used := usedCalls(c); used != 10.0 {
				t.Errorf("%s: after the cancellation %v calls, want 10", name, used)
			}
			recordCalls(c, 1).WantRefused(429, "QUOTA_EXCEEDED")
		}
		s.AdvanceTo(next.AddDate(0, 0, 20)) // after the interrupted window
		for name, c := range customers {
			c.LogInAgain()
			if used := usedCalls(c); used != 0.0 {
				t.Errorf("%s: after the interrupted window %v calls, want 0", name, used)
			}
			recordCalls(c, 10).Want(201)
			recordCalls(c, 1).WantRefused(429, "QUOTA_EXCEEDED")
		}
	})
}
