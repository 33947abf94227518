package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Members who join or leave while a subscription cannot be changed are synced once it can be changed
// again.
func TestSeatsAreFollowedOnceItRunsAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 1500, 0, map[string]int{"api-calls": 10})
		s.SetDunning("unpaid")
		l := s.NewCustomer("ada")
		l.Buy(s.PlanID(l.Owner, "crew"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		s.Advance(month)
		s.Advance(16 * apptest.Day)
		l.WantStatus("unpaid")
		s.Join(l.Owner, "Mary", "mary@example.com", "member")
		apptest.Eventually(t, "the end of all jobs about seats", func() bool {
			return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'subscription.seats'`) == 0
		})
		l.ReplaceCard(apptest.CardPays)
		l.PayOpenInvoices(apptest.Card(apptest.CardPays))
		l.WantStatus("active")
		apptest.Eventually(t, "the seats", func() bool { return l.Subscription(l.Owner).At("data.quantity") == 2.0 })
	})
}

// A checkout whose payment takes effect after its subscription was stored still sets the preferred
// currency.
func TestCurrencyOfACheckoutThatIsPaidLater(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000, "USD": 2100})
		l := s.NewCustomer("ada")
		l.OpenCheckout(plan, "USD").Want(200)
		session := l.ProviderObjects(l.Owner, "checkout.session")[0]
		l.AtProvider("POST", "/subscriptions", "customer", session.Str("customer"), "items[0][price]", s.ProviderPriceOf(plan),
			"items[0][quantity]", "1", "payment_behavior", "default_incomplete", "metadata[tenant_id]", l.Tenant,
			"metadata[plan_id]", plan, "metadata[checkout_id]", session.Str("metadata.checkout_id"))
		l.AwaitProvider()
		prefers := func(currency string) {
			t.Helper()
			l.Call("GET", "/api/v1/tenant", l.Token, nil).Want(200).WantAt("data.preferred_currency", currency)
		}
		l.WantStatus("incomplete")
		prefers("EUR")
		l.PayOpenInvoices(apptest.Card(apptest.CardPays))
		l.WantStatus("active")
		prefers("USD")
	})
}
