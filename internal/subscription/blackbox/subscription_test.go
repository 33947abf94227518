package blackbox_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestDemoData(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		login := func(email, password string) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": password}).Want(200)
		}
		if admin := login("admin@tenantry.test", "sandbox-admin"); admin.At("user.is_platform_admin") != true {
			t.Errorf("admin: %s", admin.Text)
		}
		acme := login("owner@acme.test", "sandbox-owner")
		if acme.Str("user.tenants.0.name") != "Acme" {
			t.Fatalf("owner: %s", acme.Text)
		}
		path := "/api/v1/tenant/" + acme.Str("user.tenants.0.id")
		if sub := s.Call("GET", path+"/subscription", acme.Str("accessToken"), nil).Want(200); sub.At("data.status") != "active" {
			t.Errorf("Acme's subscription: %s", sub.Text)
		}
		plans := s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200).Text
		for _, slug := range []string{"free", "starter", "team", "scale"} {
			if !strings.Contains(plans, `"slug":"`+slug+`"`) {
				t.Errorf("no plan %q", slug)
			}
		}
	})
}

func TestCheckoutToEntitlements(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		path := "/api/v1/tenant/" + o.Tenant
		if sub := s.Call("GET", path+"/subscription", o.Token, nil).Want(200); sub.Text != `{"data":null}`+"\n" {
			t.Errorf("before: %s", sub.Text)
		}
		if e := s.Call("GET", path+"/entitlements", o.Token, nil).Want(200); e.Text != `{"data":[]}`+"\n" {
			t.Errorf("entitlements before: %s", e.Text)
		}
		page := s.Checkout(o, "starter")
		s.Pay(page, apptest.CardDeclined).Want(402)
		if sub := s.Call("GET", path+"/subscription", o.Token, nil).Want(200); sub.At("data") != nil {
			t.Errorf("after a declined card: %s", sub.Text)
		}
		paid := s.Pay(page, apptest.CardPays).Want(303)
		if to := paid.Header.Get("Location"); to != "https://app.example.com/ok" {
			t.Errorf("back at %s", to)
		}
		var sub apptest.Reply
		apptest.Eventually(t, "the activation", func() bool {
			sub = s.Call("GET", path+"/subscription", o.Token, nil).Want(200)
			return sub.At("data") != nil
		})
		for at, want := range map[string]any{
			"data.status": "active", "data.currency": "EUR", "data.quantity": 1.0, "data.interval_unit": "month",
			"data.interval_count": 1.0, "data.trial_ends_at": nil, "data.cancel_at_period_end": false,
			"data.canceled_at": nil, "data.cancellation_reason": nil, "data.plan.pricing_type": "flat",
		} {
			if got := sub.At(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		if sub.Str("data.current_period_start") >= sub.Str("data.current_period_end") {
			t.Errorf("period: %s", sub.Text)
		}
		entitlements := s.Call("GET", path+"/entitlements", o.Token, nil).Want(200)
		if !strings.Contains(entitlements.Text, `{"key":"api-calls","enabled":true,"type":"quota","limit":1000,"used":null,"remaining":null}`) {
			t.Errorf("entitlements: %s", entitlements.Text)
		}
		if me := s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200); me.At("user.tenants.0.has_active_subscription") != true {
			t.Errorf("me: %s", me.Text)
		}
		// Paying again changes nothing.
		s.Pay(page, apptest.CardPays).Want(303)
		again := s.Call("POST", path+"/checkout", o.Token, map[string]any{
			"plan_id": s.PlanID(o, "team"), "currency": "EUR", "success_url": "https://a.example/", "cancel_url": "https://a.example/",
		}).Want(422)
		if again.At("code") != "subscription_already_exists" {
			t.Errorf("second checkout: %s", again.Text)
		}
	})
}

func TestCheckoutRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		path := o.Path("/checkout")
		valid := func(change map[string]any) map[string]any {
			body := map[string]any{
				"plan_id": s.PlanID(o, "starter"), "currency": "EUR",
				"success_url": "https://app.example.com/ok?a=b#c", "cancel_url": "http://localhost:3000/no",
			}
			for k, v := range change {
				body[k] = v
			}
			return body
		}
		for name, c := range map[string]struct {
			change map[string]any
			field  string
		}{
			"unknown plan":        {map[string]any{"plan_id": "01990000-0000-7000-8000-000000000000"}, "plan_id"},
			"malformed plan":      {map[string]any{"plan_id": "starter"}, "plan_id"},
			"unknown currency":    {map[string]any{"currency": "QQQ"}, "currency"},
			"long currency":       {map[string]any{"currency": "EURO"}, "currency"},
			"no success_url":      {map[string]any{"success_url": ""}, "success_url"},
			"relative URL":        {map[string]any{"success_url": "/ok"}, "success_url"},
			"script URL":          {map[string]any{"cancel_url": "javascript:alert(1)"}, "cancel_url"},
			"URL with user info":  {map[string]any{"cancel_url": "https://a:b@example.com/"}, "cancel_url"},
			"URL with line break": {map[string]any{"cancel_url": "https://example.com/\nx"}, "cancel_url"},
			"no seat":             {map[string]any{"quantity": 0}, "quantity"},
			"half a seat":         {map[string]any{"quantity": 1.5}, "quantity"},
			"null seats":          {map[string]any{"quantity": nil}, "quantity"},
		} {
			t.Run(name, func(t *testing.T) {
				a := s.Call("POST", path, o.Token, valid(c.change))
				errs, _ := a.At("errors").(map[string]any)
				if a.Status != 422 || errs[c.field] == nil || len(errs) != 1 {
					t.Errorf("%d %s, want 422 only on %s", a.Status, a.Text, c.field)
				}
			})
		}
		for code, c := range map[string]map[string]any{
			"plan_not_available_in_currency": {"currency": "GBP"},
			"seat_pricing_misconfigured":     {"currency": "GBP", "plan_id": s.PlanID(o, "team")},
		} {
			if a := s.Call("POST", path, o.Token, valid(c)).Want(422); a.At("code") != code {
				t.Errorf("%s, want %s", a.Text, code)
			}
		}
		bare := s.Register("bare@example.com", false)
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", bare.Token, map[string]any{"city": "Paris", "country": "FR"}).Want(200)
		a := s.Call("POST", bare.Path("/checkout"), bare.Token, valid(nil)).Want(422)
		if a.At("code") != "billing_not_ready" || !strings.Contains(a.Text, `"missing_fields":["legal_name","address","postal_code"]`) {
			t.Errorf("without billing details: %s", a.Text)
		}
	})
}

// Two checkouts are opened before either is paid, and both are paid concurrently: one becomes the
// subscription, the other is canceled at the provider and refunded.
func TestTwoPaidCheckouts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		pages := []string{s.Checkout(o, "starter"), s.Checkout(o, "starter")}
		var wg sync.WaitGroup
		for _, page := range pages {
			wg.Go(func() { s.Pay(page, apptest.CardPays) })
		}
		wg.Wait()
		apptest.Eventually(t, "one subscription and one refusal", func() bool {
			sub := s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200)
			return sub.At("data.status") == "active" && strings.Contains(s.Log(), "second subscription canceled")
		})
	})
}

// A free plan is bought the same way, without a card.
func TestFreePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.Pay(s.Checkout(o, "free"), "").Want(303)
		apptest.Eventually(t, "the activation", func() bool {
			return s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200).At("data.price_cents") == 0.0
		})
	})
}

// An unsigned notification changes nothing.
func TestForgedNotification(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for _, signature := range []string{"", "t=1,v1=00", "nonsense"} {
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/v1/webhooks/stripe",
				bytes.NewReader([]byte(`{"id":"evt_1","object":"event","type":"customer.subscription.updated","data":{"object":{"id":"sub_1"}}}`)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Stripe-Signature", signature)
			if a := s.Do(r).Want(400); a.At("message") == nil {
				t.Errorf("refusal: %s", a.Text)
			}
		}
	})
}

// A purchased plan grants its quota, and a call that exceeds the quota is rejected.
func TestQuotaOfThePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		path := o.Path("/usage")
		s.Call("POST", path, o.Token, map[string]any{"meter_code": "api-calls", "quantity": 999.5, "idempotency_key": "a"}).Want(201)
		s.Call("POST", path, o.Token, map[string]any{"meter_code": "api-calls", "quantity": 999.5, "idempotency_key": "a"}).Want(409)
		if a := s.Call("POST", path, o.Token, map[string]any{"meter_code": "api-calls"}).Want(429); a.At("code") != "QUOTA_EXCEEDED" {
			t.Errorf("over: %s", a.Text)
		}
		s.Call("POST", path, o.Token, map[string]any{"meter_code": "api-calls", "quantity": 0.5}).Want(201)
		quotas := s.Call("GET", path+"/quotas", o.Token, nil).Want(200)
		if !strings.Contains(quotas.Text, `"current_usage":1000,"reserved":0,"quota_limit":1000,"usage_percent":100,"status":"exceeded"`) {
			t.Errorf("quotas: %s", quotas.Text)
		}
		// Usage counts against the quotas of smaller plans.
		plans := s.Call("GET", o.Path("/plans"), o.Token, nil).Want(200)
		if !strings.Contains(plans.Text, `{"selectable":false,"violations":[{"feature_code":"api-calls","current_usage":1000,"plan_limit":100}]}`) {
			t.Errorf("plans: %s", plans.Text)
		}
	})
}
