package app

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestDemoData(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		login := func(email, password string) reply {
			return s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": password}).want(200)
		}
		if admin := login("admin@tenantry.test", "sandbox-admin"); admin.at("user.is_platform_admin") != true {
			t.Errorf("admin: %s", admin.text)
		}
		acme := login("owner@acme.test", "sandbox-owner")
		if acme.str("user.tenants.0.name") != "Acme" {
			t.Fatalf("owner: %s", acme.text)
		}
		path := "/api/v1/tenant/" + acme.str("user.tenants.0.id")
		if sub := s.call("GET", path+"/subscription", acme.str("accessToken"), nil).want(200); sub.at("data.status") != "active" {
			t.Errorf("Acme's subscription: %s", sub.text)
		}
		plans := s.call("GET", "/api/v1/catalog/plans", "", nil).want(200).text
		for _, slug := range []string{"free", "starter", "team", "scale"} {
			if !strings.Contains(plans, `"slug":"`+slug+`"`) {
				t.Errorf("no plan %q", slug)
			}
		}
	})
}

func TestCheckoutToEntitlements(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		path := "/api/v1/tenant/" + o.tenant
		if sub := s.call("GET", path+"/subscription", o.token, nil).want(200); sub.text != `{"data":null}`+"\n" {
			t.Errorf("before: %s", sub.text)
		}
		if e := s.call("GET", path+"/entitlements", o.token, nil).want(200); e.text != `{"data":[]}`+"\n" {
			t.Errorf("entitlements before: %s", e.text)
		}
		page := s.checkout(o, "starter")
		s.pay(page, declinedCard).want(402)
		if sub := s.call("GET", path+"/subscription", o.token, nil).want(200); sub.at("data") != nil {
			t.Errorf("after a declined card: %s", sub.text)
		}
		paid := s.pay(page, goodCard).want(303)
		if to := paid.header.Get("Location"); to != "https://app.example.com/ok" {
			t.Errorf("back at %s", to)
		}
		var sub reply
		eventually(t, "the activation", func() bool {
			sub = s.call("GET", path+"/subscription", o.token, nil).want(200)
			return sub.at("data") != nil
		})
		for at, want := range map[string]any{
			"data.status": "active", "data.currency": "EUR", "data.quantity": 1.0, "data.interval_unit": "month",
			"data.interval_count": 1.0, "data.trial_ends_at": nil, "data.cancel_at_period_end": false,
			"data.canceled_at": nil, "data.cancellation_reason": nil, "data.plan.pricing_type": "flat",
		} {
			if got := sub.at(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		if sub.str("data.current_period_start") >= sub.str("data.current_period_end") {
			t.Errorf("period: %s", sub.text)
		}
		entitlements := s.call("GET", path+"/entitlements", o.token, nil).want(200)
		if !strings.Contains(entitlements.text, `{"key":"api-calls","enabled":true,"type":"quota","limit":1000,"used":null,"remaining":null}`) {
			t.Errorf("entitlements: %s", entitlements.text)
		}
		if me := s.call("GET", "/api/v1/auth/me", o.token, nil).want(200); me.at("user.tenants.0.has_active_subscription") != true {
			t.Errorf("me: %s", me.text)
		}
		// Paying once more changes nothing.
		s.pay(page, goodCard).want(303)
		again := s.call("POST", path+"/checkout", o.token, map[string]any{
			"plan_id": s.plan(o, "team"), "currency": "EUR", "success_url": "https://a.example/", "cancel_url": "https://a.example/",
		}).want(422)
		if again.at("code") != "subscription_already_exists" {
			t.Errorf("second checkout: %s", again.text)
		}
	})
}

func TestCheckoutRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		path := "/api/v1/tenant/" + o.tenant + "/checkout"
		valid := func(change map[string]any) map[string]any {
			body := map[string]any{
				"plan_id": s.plan(o, "starter"), "currency": "EUR",
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
				a := s.call("POST", path, o.token, valid(c.change))
				errs, _ := a.at("errors").(map[string]any)
				if a.status != 422 || errs[c.field] == nil || len(errs) != 1 {
					t.Errorf("%d %s, want 422 on %s alone", a.status, a.text, c.field)
				}
			})
		}
		for code, c := range map[string]map[string]any{
			"plan_not_available_in_currency": {"currency": "GBP"},
			"seat_pricing_misconfigured":     {"currency": "GBP", "plan_id": s.plan(o, "team")},
		} {
			if a := s.call("POST", path, o.token, valid(c)).want(422); a.at("code") != code {
				t.Errorf("%s, want %s", a.text, code)
			}
		}
		bare := s.register("bare@example.com", false)
		s.call("PATCH", "/api/v1/onboarding/complete-setup", bare.token, map[string]any{"city": "Paris", "country": "FR"}).want(200)
		a := s.call("POST", "/api/v1/tenant/"+bare.tenant+"/checkout", bare.token, valid(nil)).want(422)
		if a.at("code") != "billing_not_ready" || !strings.Contains(a.text, `"missing_fields":["legal_name","address","postal_code"]`) {
			t.Errorf("without billing details: %s", a.text)
		}
	})
}

// Two checkouts opened before either is paid, both paid at once: one becomes the
// subscription, the other is canceled at the provider and refunded.
func TestTwoPaidCheckouts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		pages := []string{s.checkout(o, "starter"), s.checkout(o, "starter")}
		var wg sync.WaitGroup
		for _, page := range pages {
			wg.Go(func() { s.pay(page, goodCard) })
		}
		wg.Wait()
		eventually(t, "one subscription and one refusal", func() bool {
			sub := s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200)
			return sub.at("data.status") == "active" && strings.Contains(s.log.String(), "second subscription refused")
		})
	})
}

// A free plan takes the same way, without a card.
func TestFreePlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.pay(s.checkout(o, "free"), "").want(303)
		eventually(t, "the activation", func() bool {
			return s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200).at("data.price_cents") == 0.0
		})
	})
}

// A notification that nobody signed changes nothing.
func TestForgedNotification(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		for _, signature := range []string{"", "t=1,v1=00", "nonsense"} {
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/v1/webhooks/stripe",
				bytes.NewReader([]byte(`{"id":"evt_1","object":"event","type":"customer.subscription.updated","data":{"object":{"id":"sub_1"}}}`)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Stripe-Signature", signature)
			if a := s.do(r).want(400); a.at("message") == nil {
				t.Errorf("refusal: %s", a.text)
			}
		}
	})
}

// From the plan that a tenant bought to the call that is one too many.
func TestQuotaOfThePlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		path := "/api/v1/tenant/" + o.tenant + "/usage"
		s.call("POST", path, o.token, map[string]any{"meter_code": "api-calls", "quantity": 999.5, "idempotency_key": "a"}).want(201)
		s.call("POST", path, o.token, map[string]any{"meter_code": "api-calls", "quantity": 999.5, "idempotency_key": "a"}).want(409)
		if a := s.call("POST", path, o.token, map[string]any{"meter_code": "api-calls"}).want(429); a.at("code") != "QUOTA_EXCEEDED" {
			t.Errorf("over: %s", a.text)
		}
		s.call("POST", path, o.token, map[string]any{"meter_code": "api-calls", "quantity": 0.5}).want(201)
		quotas := s.call("GET", path+"/quotas", o.token, nil).want(200)
		if !strings.Contains(quotas.text, `"current_usage":1000,"quota_limit":1000,"usage_percent":100,"status":"exceeded"`) {
			t.Errorf("quotas: %s", quotas.text)
		}
		// What is used counts against smaller plans.
		plans := s.call("GET", "/api/v1/tenant/"+o.tenant+"/plans", o.token, nil).want(200)
		if !strings.Contains(plans.text, `{"selectable":false,"violations":[{"feature_code":"api-calls","current_usage":1000,"plan_limit":100}]}`) {
			t.Errorf("plans: %s", plans.text)
		}
	})
}
