package onboarding_test

import (
	"net/http"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A subscription to a free plan starts immediately, without a checkout or a trial.
func TestProvisionWithAPlan(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("shop")
		k.CreatePricedPlan(product, "gift", map[string]int{"EUR": 0, "USD": 500}, apptest.Object{"trial_days": 14})
		seats := k.CreatePricedPlan(product, "seats", map[string]int{"EUR": 0}, apptest.Object{"pricing_type": "seat"})
		k.CreatePricedPlan(product, "closed", map[string]int{"EUR": 0}, apptest.Object{"is_active": false})
		key := newKey(s, "tenants.write", "tenants.read", "subscription.read")
		body := func(slug, currency string) apptest.Object {
			return apptest.Object{"name": "Engines", "plan_slug": slug, "currency": currency, "owner": apptest.Object{"email": slug + "@example.com"}}
		}
		for name, tt := range map[string]struct {
			slug, currency string
			fields         []string
		}{
			"no currency": {"gift", "", []string{"currency"}}, "no price": {"gift", "GBP", []string{"currency"}}, "unknown currency": {"gift", "XXX", []string{"currency"}},
			"priced": {"gift", "USD", []string{"plan_slug"}}, "unknown": {"nothing", "EUR", []string{"plan_slug"}}, "inactive": {"closed", "EUR", []string{"plan_slug"}},
		} {
			s.Call("POST", adminTenants, key, body(tt.slug, tt.currency)).As(name).WantInvalid(tt.fields...)
		}

		for _, slug := range []string{"gift", "seats"} {
			made := s.Call("POST", adminTenants, key, body(slug, "EUR")).Want(201).WantAt("data.subscription_status", "active")
			sub := s.Call("GET", "/api/v1/tenant/"+made.Str("data.id")+"/subscription", key, nil).Want(200)
			sub.WantAt("data.status", "active").WantAt("data.price_cents", float64(0)).WantAt("data.currency", "EUR").WantAt("data.quantity", float64(1)).WantAt("data.trial_ends_at", nil)
			if n := s.CountRows(`SELECT count(*) FROM audit_logs WHERE action = 'subscription.created' AND tenant_id = $1 AND api_key_id IS NOT NULL`, made.Str("data.id")); n != 1 {
				t.Errorf("%s: %d audit entries of the subscription", slug, n)
			}
		}
		if seats == "" || p.Count("POST /checkout/sessions") != 0 {
			t.Error("a checkout was opened")
		}
		s.AwaitNotifications()
		if n := s.CountRows(`SELECT count(*) FROM subscriptions WHERE status = 'active' AND price_cents = 0`); n != 2 {
			t.Errorf("%d subscriptions after the notifications", n)
		}

		// The default plan applies without a subscription, but needs a price in the currency as well.
		standard := k.CreatePricedPlan(product, "standard", map[string]int{"EUR": 0})
		k.AdminCall("PATCH", "/plans/"+standard, apptest.Object{"is_default": true}).Want(200)
		calls := p.Count("POST /subscriptions")
		made := s.Call("POST", adminTenants, key, body("standard", "EUR")).Want(201)
		made.WantAt("data.subscription_status", nil).WantAt("data.plan_name", "Plan standard")
		s.Call("POST", adminTenants, key, body("standard", "USD")).WantInvalid("currency")
		if p.Count("POST /subscriptions") != calls {
			t.Error("the default plan was subscribed to")
		}
	})
}

// If the provider fails, nothing is created: no tenant, no account, no mail and no event.
func TestProvisionWhileTheProviderFails(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("shop")
		k.CreatePricedPlan(product, "gift", map[string]int{"EUR": 0})
		key := newKey(s, "tenants.write", "tenants.read")
		rows := func() (n int) {
			for _, table := range []string{"tenants", "users", "memberships", "subscriptions", "psp_customers", "webhook_events"} {
				n += s.CountRows(`SELECT count(*) FROM ` + table)
			}
			return n + s.CountRows(`SELECT count(*) FROM audit_logs WHERE action LIKE 'tenant.%'`)
		}
		before := rows()
		body := apptest.Object{
			"name": "Engines", "external_id": "cus-1", "plan_slug": "gift", "currency": "EUR", "owner": apptest.Object{"email": "ada@example.com"},
		}
		for _, path := range []string{"/customers", "/subscriptions"} {
			p.Tamper(apptest.ForEndpoint(apptest.Fail, http.MethodPost, path))
			s.Call("POST", adminTenants, key, body).As(path).WantRefused(502, "psp_error")
			if after := rows(); after != before {
				t.Errorf("%s: %d rows, were %d", path, after, before)
			}
		}
		p.Tamper(nil)
		made := s.Call("POST", adminTenants, key, body).Want(201)
		ownerLink(s, "ada@example.com")

		live := func() (n int) {
			for _, sub := range s.AllProviderObjects("subscription") {
				if sub.At("status") != "canceled" {
					n++
				}
			}
			return n
		}
		running := live()

		// If the tenant cannot be created, its subscription is canceled.
		p.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == http.MethodPost && r.URL.Path == "/sandbox/stripe/v1/subscriptions" {
				apptest.Exec(t, s.DB(), `UPDATE tenants SET external_id = 'cus-2' WHERE id = $1`, made.Str("data.id"))
			}
			return apptest.Pass
		})
		s.Call("POST", adminTenants, key, apptest.WithChanges(body, apptest.Object{"external_id": "cus-2", "owner": nil})).WantInvalid("external_id")
		if after := live(); after != running {
			t.Errorf("%d subscriptions at the provider, were %d", after, running)
		}
	})
}
