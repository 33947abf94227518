package app

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// newcomer is the body of a start, with changes; nil takes a key out.
func newcomer(email string, changes map[string]any) map[string]any {
	body := map[string]any{
		"name": "Grace Hopper", "email": email, "password": "correct horse", "password_confirmation": "correct horse",
		"plan_slug": "starter", "currency": "EUR",
	}
	for key, value := range changes {
		if value == nil {
			delete(body, key)
		} else {
			body[key] = value
		}
	}
	return body
}

func TestOnboarding(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		started := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"tenant_name": "Compilers"})).want(201)
		if keys := slices.Sorted(maps.Keys(started.body)); !slices.Equal(keys, []string{"accessToken", "checkout_url", "refreshToken", "tenant", "user"}) {
			t.Errorf("keys %q: there is no data envelope", keys)
		}
		if started.at("user.email") != "grace@example.com" || started.at("tenant.name") != "Compilers" ||
			started.at("tenant.user_role") != "owner" || started.at("tenant.preferred_currency") != "EUR" ||
			started.at("user.tenants.0.id") != started.at("tenant.id") {
			t.Errorf("started %s", started.text)
		}
		token := started.str("accessToken")
		status := func() reply { return s.call("GET", "/api/v1/onboarding/status", token, nil).want(200) }
		before := status()
		for key, want := range map[string]any{
			"tenant_id": started.at("tenant.id"), "onboarding_completed": false, "has_subscription": false,
			"subscription_status": nil, "plan_name": nil, "has_billing_details": false, "billing_details.legal_name": nil,
		} {
			if got := before.at(key); got != want {
				t.Errorf("before: %s is %v, want %v", key, got, want)
			}
		}
		if _, nested := before.body["data"]; nested {
			t.Error("the status has a data envelope")
		}

		paid := s.pay(started.str("checkout_url"), goodCard).want(303)
		if to := paid.header.Get("Location"); !strings.HasPrefix(to, s.url+"/onboarding/success") {
			t.Errorf("paying leads to %s", to)
		}
		eventually(t, "the subscription", func() bool { return status().at("has_subscription") == true })
		s.call("PATCH", "/api/v1/onboarding/complete-setup", token, billing).want(200)
		after := status()
		for key, want := range map[string]any{
			"onboarding_completed": true, "subscription_status": "active", "plan_name": "Starter",
			"has_billing_details": true, "billing_details.city": "London", "billing_details.vat_number": nil,
		} {
			if got := after.at(key); got != want {
				t.Errorf("after: %s is %v, want %v", key, got, want)
			}
		}
		s.call("POST", "/api/v1/onboarding/retry-checkout", token, map[string]any{"plan_slug": "starter", "currency": "EUR"}).
			refused(422, "subscription_already_exists")
	})
}

func TestOnboardingTenantHasTheUsersName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		started := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).want(201)
		if got := started.at("tenant.name"); got != "Grace Hopper" {
			t.Errorf("tenant %v", got)
		}
	})
}

func TestOnboardingStartRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("taken@example.com", false)
		for _, test := range []struct {
			name    string
			changes map[string]any
			fields  []string
		}{
			{"nothing given", map[string]any{"name": nil, "email": nil, "password": nil, "password_confirmation": nil, "plan_slug": nil, "currency": nil}, []string{"currency", "email", "name", "password", "password_confirmation", "plan_slug"}},
			{"unknown plan", map[string]any{"plan_slug": "none"}, []string{"plan_slug"}},
			{"unknown currency", map[string]any{"currency": "XXX"}, []string{"currency"}},
			{"several at once", map[string]any{"currency": "XXX", "plan_slug": "none", "email": "Taken@Example.com"}, []string{"currency", "email", "plan_slug"}},
			{"email with an account", map[string]any{"email": "TAKEN@example.com"}, []string{"email"}},
			{"email that is none", map[string]any{"email": "grace"}, []string{"email"}},
			{"short password", map[string]any{"password": "short", "password_confirmation": "short"}, []string{"password"}},
			{"other confirmation", map[string]any{"password_confirmation": "battery staple"}, []string{"password_confirmation"}},
			{"no seats", map[string]any{"quantity": 0}, []string{"quantity"}},
			{"seats as text", map[string]any{"quantity": "2"}, []string{"quantity"}},
		} {
			refused := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", test.changes)).want(422)
			errors, _ := refused.at("errors").(map[string]any)
			if got := slices.Sorted(maps.Keys(errors)); !slices.Equal(got, test.fields) {
				t.Errorf("%s: fields %q, want %q", test.name, got, test.fields)
			}
		}
		gbp := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"currency": "GBP"}))
		gbp.refused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		if got, _ := gbp.at("available_currencies").([]any); !slices.Equal(got, []any{"EUR", "USD"}) {
			t.Errorf("available %v", got)
		}
		// Nothing was made on the way.
		s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).want(201)
	})
}

func TestOnboardingSeats(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		started := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"plan_slug": "team", "quantity": 3})).want(201)
		o := owner{token: started.str("accessToken"), tenant: started.str("tenant.id")}
		s.pay(started.str("checkout_url"), goodCard).want(303)
		s.call("PATCH", "/api/v1/onboarding/complete-setup", o.token, billing).want(200)
		sub := s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200)
		if sub.at("data.quantity") != 3.0 {
			t.Errorf("subscription %s", sub.text)
		}
	})
}

func TestRetryCheckout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		started := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).want(201)
		token := started.str("accessToken")
		retry := func(body map[string]any) reply {
			return s.call("POST", "/api/v1/onboarding/retry-checkout", token, body)
		}
		retry(map[string]any{"currency": "EUR"}).want(422)
		retry(map[string]any{"plan_slug": "none", "currency": "EUR"}).want(422)
		retry(map[string]any{"plan_slug": "starter", "currency": "GBP"}).refused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		page := retry(map[string]any{"plan_slug": "team", "currency": "USD", "quantity": 2}).want(200).str("data.checkout_url")
		s.pay(page, goodCard).want(303)
		s.settled()
		// The first page can still be paid: the second payment is given back.
		s.pay(started.str("checkout_url"), goodCard).want(303)
		s.call("PATCH", "/api/v1/onboarding/complete-setup", token, billing).want(200)
		sub := s.call("GET", "/api/v1/tenant/"+started.str("tenant.id")+"/subscription", token, nil).want(200)
		if sub.at("data.quantity") != 2.0 || sub.at("data.currency") != "USD" {
			t.Errorf("subscription %s", sub.text)
		}
		s.call("POST", "/api/v1/onboarding/retry-checkout", "", map[string]any{"plan_slug": "team", "currency": "USD"}).want(401)
	})
}

func TestOnboardingWithoutTenant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		token := s.call("POST", "/api/v1/auth/register", "", map[string]any{
			"name": "Ada", "email": "ada@example.com", "password": "correct horse", "password_confirmation": "correct horse", "create_tenant": false,
		}).want(201).str("accessToken")
		s.call("GET", "/api/v1/onboarding/status", token, nil).refused(400, "TENANT_CONTEXT_REQUIRED")
		s.call("GET", "/api/v1/onboarding/status", "", nil).want(401)
	})
}

func TestOnboardingInCookieMode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		f := s.frontend()
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		f.fetch("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).want(419)
		started := f.send("POST", "/api/v1/onboarding/start", newcomer("grace@example.com", nil)).want(201)
		if _, ok := started.body["accessToken"]; ok {
			t.Error("there are tokens beside the session")
		}
		f.send("GET", "/api/v1/auth/me", nil).want(200)
	})
}

// One email gets one account, however many start at once, and everybody else is
// told.
func TestOnboardingStartsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		var wg sync.WaitGroup
		statuses := make([]int, 8)
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).status
			})
		}
		wg.Wait()
		made := 0
		for _, status := range statuses {
			switch status {
			case http.StatusCreated:
				made++
			case http.StatusUnprocessableEntity:
			default:
				t.Errorf("status %d", status)
			}
		}
		if made != 1 {
			t.Errorf("%d accounts were made", made)
		}
	})
}

// Nobody who has paid is shown as unpaid because a notification is late.
func TestPaymentWithoutNotification(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.chaos(noWebhooks)
		started := s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).want(201)
		token := started.str("accessToken")
		status := func() reply { return s.call("GET", "/api/v1/onboarding/status", token, nil).want(200) }
		if got := status().at("has_subscription"); got != false {
			t.Errorf("before the payment: %v", got)
		}
		s.pay(started.str("checkout_url"), goodCard).want(303)
		// It was looked at a moment ago; the next look is due in seconds.
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "4s"}).want(200)
		if got := status().at("subscription_status"); got != "active" {
			t.Errorf("after the payment: %v", got)
		}

		o := s.register("ada@example.com", true)
		s.pay(s.checkout(o, "starter"), goodCard).want(303)
		if got := s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200).at("data.status"); got != "active" {
			t.Errorf("GET /subscription after the payment: %v", got)
		}
	})
}

// While a notification is late, the provider is asked once every few seconds at
// most, however many wait; and what is known is shown while it does not answer.
func TestPaymentWithoutNotificationIsLookedAtSparingly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.chaos(noWebhooks)
		o := s.register("ada@example.com", true)
		page := s.checkout(o, "starter")
		looks := func() int { return strings.Count(s.log.String(), `"path":"/v1/checkout/sessions/cs_`) }
		show := func() reply {
			return s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200)
		}
		before := looks()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { show() })
		}
		wg.Wait()
		if got := looks() - before; got != 1 {
			t.Errorf("the provider was asked %d times, want once", got)
		}
		s.pay(page, goodCard).want(303)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "4s"}).want(200)
		s.chaos(pspDown)
		if got := show().at("data"); got != nil {
			t.Errorf("while the provider is down: %v", got)
		}
		s.chaos(noWebhooks)
		eventually(t, "the subscription", func() bool {
			s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "10s"}).want(200)
			return show().at("data.status") == "active"
		})
	})
}

// A start whose checkout cannot be opened leaves nothing behind.
func TestOnboardingStartWithoutProvider(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.chaos(pspDown)
		s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).refused(502, "psp_error")
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "grace@example.com", "password": "correct horse"}).
			refused(401, "INVALID_CREDENTIALS")
		s.chaos(nil)
		eventually(t, "the provider's return", func() bool {
			return s.call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).status == 201
		})
	})
}
