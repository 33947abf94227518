package blackbox_test

import (
	"crypto/rand"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A subscription keeps its plan as long as it pays the same price at the provider, even if other
// plans are linked to this price.
func TestPriceIsLinkedToAnotherPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("life")
		first := k.CreatePricedPlan(product, "first", map[string]int{"EUR": 2000})
		second := k.CreatePlan(product, "second")
		stays, changes := s.NewCustomer("stays"), s.NewCustomer("changes")
		for _, l := range []*apptest.Customer{stays, changes} {
			l.Buy(first, "EUR", apptest.Card(apptest.CardPays))
		}
		price := s.ProviderPriceOf(first)
		noticed := func(l *apptest.Customer, plan string, cents float64) {
			t.Helper()
			id := l.ProviderObjects(l.Owner, "subscription")[0].Str("id")
			l.AtProvider("POST", "/subscriptions/"+id, "metadata[note]", rand.Text())
			l.AwaitProvider()
			l.Subscription(l.Owner).WantAt("data.plan.id", plan).WantAt("data.price_cents", cents)
		}
		k.AdminCall("PUT", "/plans/"+first+"/prices", apptest.Object{"prices": []any{apptest.Price("EUR", 2500)}}).Want(200)
		noticed(stays, first, 2000)
		k.AdminCall("POST", "/plans/"+second+"/prices/psp-import", apptest.Object{"psp_price_id": price}).Want(201)
		noticed(stays, first, 2000)
		k.AdminCall("PUT", "/plans/"+first+"/prices", apptest.Object{"prices": []any{}}).Want(200)
		noticed(stays, first, 2000)
		// A request for the other plan changes to it, at the same price.
		changes.ChangePlan(changes.Owner, "second", nil).Want(200).WantAt("data.subscription.plan.id", second)
		noticed(changes, second, 2000)
		// Another price at the provider means another plan.
		third := k.CreatePlan(product, "third")
		other := s.NewProviderPrice("unit_amount", "3000")
		k.AdminCall("POST", "/plans/"+third+"/prices/psp-import", apptest.Object{"psp_price_id": other}).Want(201)
		sub := stays.ProviderObjects(stays.Owner, "subscription")[0]
		stays.AtProvider("POST", "/subscriptions/"+sub.Str("id"), "items[0][id]", sub.Str("items.data.0.id"), "items[0][price]", other)
		stays.AwaitProvider()
		stays.Subscription(stays.Owner).WantAt("data.plan.id", third).WantAt("data.price_cents", 3000.0)
	})
}
