package onboarding_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// newcomer returns the body of a start request, with changes. A nil value removes a key.
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
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		started := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"tenant_name": "Compilers"})).Want(201)
		if keys := slices.Sorted(maps.Keys(started.Body)); !slices.Equal(keys, []string{"accessToken", "checkout_url", "refreshToken", "tenant", "user"}) {
			t.Errorf("keys = %q, want the session without a data envelope", keys)
		}
		if started.At("user.email") != "grace@example.com" || started.At("tenant.name") != "Compilers" ||
			started.At("tenant.user_role") != "owner" || started.At("tenant.preferred_currency") != "EUR" ||
			started.At("user.tenants.0.id") != started.At("tenant.id") {
			t.Errorf("started %s", started.Text)
		}
		token := started.Str("accessToken")
		status := func() apptest.Reply { return s.Call("GET", "/api/v1/onboarding/status", token, nil).Want(200) }
		before := status()
		for key, want := range map[string]any{
			"tenant_id": started.At("tenant.id"), "onboarding_completed": false, "has_subscription": false,
			"subscription_status": nil, "plan_name": nil, "has_billing_details": false, "billing_details.legal_name": nil,
		} {
			if got := before.At(key); got != want {
				t.Errorf("before: %s is %v, want %v", key, got, want)
			}
		}
		if _, nested := before.Body["data"]; nested {
			t.Error("the status has a data envelope")
		}

		paid := s.Pay(started.Str("checkout_url"), apptest.CardPays).Want(303)
		if to := paid.Header.Get("Location"); !strings.HasPrefix(to, s.URL+"/onboarding/success") {
			t.Errorf("payment redirects to %s", to)
		}
		apptest.Eventually(t, "the subscription", func() bool { return status().At("has_subscription") == true })
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", token, apptest.BillingDetails).Want(200)
		after := status()
		for key, want := range map[string]any{
			"onboarding_completed": true, "subscription_status": "active", "plan_name": "Starter",
			"has_billing_details": true, "billing_details.city": "London", "billing_details.vat_number": nil,
		} {
			if got := after.At(key); got != want {
				t.Errorf("after: %s is %v, want %v", key, got, want)
			}
		}
		s.Call("POST", "/api/v1/onboarding/retry-checkout", token, map[string]any{"plan_slug": "starter", "currency": "EUR"}).
			WantRefused(422, "subscription_already_exists")
	})
}

func TestOnboardingTenantHasTheUsersName(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		started := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Want(201)
		if got := started.At("tenant.name"); got != "Grace Hopper" {
			t.Errorf("tenant %v", got)
		}
	})
}

func TestOnboardingStartRefuses(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("taken@example.com", false)
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
			{"invalid email", map[string]any{"email": "grace"}, []string{"email"}},
			{"short password", map[string]any{"password": "short", "password_confirmation": "short"}, []string{"password"}},
			{"other confirmation", map[string]any{"password_confirmation": "battery staple"}, []string{"password_confirmation"}},
			{"no seats", map[string]any{"quantity": 0}, []string{"quantity"}},
			{"seats as text", map[string]any{"quantity": "2"}, []string{"quantity"}},
		} {
			refused := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", test.changes)).Want(422)
			errors, _ := refused.At("errors").(map[string]any)
			if got := slices.Sorted(maps.Keys(errors)); !slices.Equal(got, test.fields) {
				t.Errorf("%s: fields %q, want %q", test.name, got, test.fields)
			}
		}
		gbp := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"currency": "GBP"}))
		gbp.WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		if got, _ := gbp.At("available_currencies").([]any); !slices.Equal(got, []any{"EUR", "USD"}) {
			t.Errorf("available %v", got)
		}
		// The rejected requests created nothing.
		s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Want(201)
	})
}

func TestOnboardingSeats(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		started := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"plan_slug": "team", "quantity": 3})).Want(201)
		o := apptest.Owner{Token: started.Str("accessToken"), Tenant: started.Str("tenant.id")}
		s.Pay(started.Str("checkout_url"), apptest.CardPays).Want(303)
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, apptest.BillingDetails).Want(200)
		sub := s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200)
		if sub.At("data.quantity") != 3.0 {
			t.Errorf("subscription %s", sub.Text)
		}
	})
}

func TestRetryCheckout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		started := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Want(201)
		token := started.Str("accessToken")
		retry := func(body map[string]any) apptest.Reply {
			return s.Call("POST", "/api/v1/onboarding/retry-checkout", token, body)
		}
		retry(map[string]any{"currency": "EUR"}).Want(422)
		retry(map[string]any{"plan_slug": "none", "currency": "EUR"}).Want(422)
		retry(map[string]any{"plan_slug": "starter", "currency": "GBP"}).WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		page := retry(map[string]any{"plan_slug": "team", "currency": "USD", "quantity": 2}).Want(200).Str("data.checkout_url")
		s.Pay(page, apptest.CardPays).Want(303)
		s.AwaitNotifications()
		// The first page can still be paid. The second payment is refunded.
		s.Pay(started.Str("checkout_url"), apptest.CardPays).Want(303)
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", token, apptest.BillingDetails).Want(200)
		sub := s.Call("GET", "/api/v1/tenant/"+started.Str("tenant.id")+"/subscription", token, nil).Want(200)
		if sub.At("data.quantity") != 2.0 || sub.At("data.currency") != "USD" {
			t.Errorf("subscription %s", sub.Text)
		}
		s.Call("POST", "/api/v1/onboarding/retry-checkout", "", map[string]any{"plan_slug": "team", "currency": "USD"}).Want(401)
	})
}

func TestOnboardingWithoutTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Call("POST", "/api/v1/auth/register", "", map[string]any{
			"name": "Ada", "email": "ada@example.com", "password": "correct horse", "password_confirmation": "correct horse", "create_tenant": false,
		}).Want(201).Str("accessToken")
		s.Call("GET", "/api/v1/onboarding/status", token, nil).WantRefused(400, "TENANT_CONTEXT_REQUIRED")
		s.Call("GET", "/api/v1/onboarding/status", "", nil).Want(401)
	})
}

func TestOnboardingInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Fetch("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Want(419)
		started := f.Send("POST", "/api/v1/onboarding/start", newcomer("grace@example.com", nil)).Want(201)
		if _, ok := started.Body["accessToken"]; ok {
			t.Error("response contains tokens and a session cookie")
		}
		f.Send("GET", "/api/v1/auth/me", nil).Want(200)
	})
}

// If many requests start with the same email, one creates an account and the others get an error.
func TestOnboardingStartsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		var wg sync.WaitGroup
		statuses := make([]int, 8)
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Status
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
			t.Errorf("%d accounts were created", made)
		}
	})
}

// A late event must not make a paid tenant look unpaid.
func TestPaymentWithoutNotification(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Chaos(apptest.ChaosNoWebhooks)
		started := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Want(201)
		token := started.Str("accessToken")
		status := func() apptest.Reply { return s.Call("GET", "/api/v1/onboarding/status", token, nil).Want(200) }
		if got := status().At("has_subscription"); got != false {
			t.Errorf("before the payment: %v", got)
		}
		s.Pay(started.Str("checkout_url"), apptest.CardPays).Want(303)
		// The checkout was read a moment ago, and the next read is due in seconds.
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "4s"}).Want(200)
		if got := status().At("subscription_status"); got != "active" {
			t.Errorf("after the payment: %v", got)
		}

		o := s.Register("ada@example.com", true)
		s.Pay(s.Checkout(o, "starter"), apptest.CardPays).Want(303)
		if got := s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200).At("data.status"); got != "active" {
			t.Errorf("GET /subscription after the payment: %v", got)
		}
	})
}

// While an event is late, the provider is queried at most once every few seconds for all waiting
// requests. If it does not respond, the known state is returned.
func TestPaymentWithoutNotificationIsLookedAtSparingly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Chaos(apptest.ChaosNoWebhooks)
		o := s.Register("ada@example.com", true)
		page := s.Checkout(o, "starter")
		looks := func() int { return strings.Count(s.Log(), `"path":"/v1/checkout/sessions/cs_`) }
		show := func() apptest.Reply {
			return s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200)
		}
		before := looks()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { show() })
		}
		wg.Wait()
		if got := looks() - before; got != 1 {
			t.Errorf("%d requests to the provider, want 1", got)
		}
		s.Pay(page, apptest.CardPays).Want(303)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "4s"}).Want(200)
		s.Chaos(apptest.ChaosProviderDown)
		if got := show().At("data"); got != nil {
			t.Errorf("while the provider is down: %v", got)
		}
		s.Chaos(apptest.ChaosNoWebhooks)
		apptest.Eventually(t, "the subscription", func() bool {
			s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "10s"}).Want(200)
			return show().At("data.status") == "active"
		})
	})
}

// A start whose checkout cannot be opened leaves nothing behind.
func TestOnboardingStartWithoutProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Chaos(apptest.ChaosProviderDown)
		s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).WantRefused(502, "psp_error")
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "grace@example.com", "password": "correct horse"}).
			WantRefused(401, "INVALID_CREDENTIALS")
		s.Chaos(nil)
		apptest.Eventually(t, "the provider's return", func() bool {
			return s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Status == 201
		})
	})
}
