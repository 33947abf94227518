package onboarding_test

import (
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The preferred currency is set at the start of an onboarding and by every paid checkout. A
// checkout that is only opened, or whose payment is refused, does not change it.
func TestPreferredCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		var o apptest.Owner
		prefers := func(what, want string) {
			t.Helper()
			s.AwaitNotifications()
			s.Call("GET", "/api/v1/tenant", o.Token, nil).As(what).Want(200).WantAt("data.preferred_currency", want)
		}
		open := func(currency string) string {
			t.Helper()
			return s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
				"plan_id": s.PlanID(o, "team"), "currency": currency, "quantity": 1,
			})).Want(200).Str("data.url")
		}
		end := func() {
			t.Helper()
			s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"immediately": true}).Want(200)
		}
		o = s.Register("ada@example.com", true)
		prefers("a new tenant", "EUR")
		late := open("EUR")
		page := open("usd") // case-insensitive
		prefers("with an open checkout", "EUR")
		s.Pay(page, apptest.CardDeclined).Want(402)
		prefers("after a declined card", "EUR")
		s.Pay(page, apptest.CardPays).Want(303)
		prefers("after a payment", "USD")
		s.Subscription(o).WantAt("data.currency", "USD").WantAt("data.status", "trialing")
		end()
		s.Pay(late, apptest.CardPays).Want(303) // the tenant has used its trial
		prefers("after a refused checkout", "USD")
		s.Pay(open("EUR"), apptest.CardPays).Want(303)
		prefers("after another payment", "EUR")
		if n := s.CountAudited(o, "tenant.updated"); n != 2 {
			t.Errorf("%d changes in the audit log", n)
		}

		started := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"currency": "usd"})).
			Want(201).WantAt("tenant.preferred_currency", "USD")
		o = apptest.Owner{Token: started.Str("accessToken"), Tenant: started.Str("tenant.id")}
		page = s.Call("POST", "/api/v1/onboarding/retry-checkout", o.Token, apptest.Object{"plan_slug": "starter", "currency": "eur"}).
			Want(200).Str("data.checkout_url")
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, apptest.BillingDetails).Want(200)
		prefers("after a retry", "USD")
		s.Pay(page, apptest.CardPays).Want(303)
		prefers("after the retry's payment", "EUR")
		// The currency of the plan list is case-insensitive, too.
		prices := s.Call("GET", o.Path("/plans?currency=usd"), o.Token, nil).Want(200)
		prices.WantAt("data.0.prices.0.currency", "USD")
	})
}

// Plans cannot be bought in an inactive currency.
func TestOnboardingInAnInactiveCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.CatalogAdmin().AdminCall("PATCH", "/currencies/USD", apptest.Object{"is_active": false}).Want(200)
		refused := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"currency": "USD"}))
		refused.WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		if got, _ := refused.At("available_currencies").([]any); !slices.Equal(got, []any{"EUR"}) {
			t.Errorf("available %v", got)
		}
		token := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", nil)).Want(201).Str("accessToken")
		s.Call("POST", "/api/v1/onboarding/retry-checkout", token, apptest.Object{"plan_slug": "starter", "currency": "USD"}).
			WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
	})
}
