package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Subscriptions keep their price when the price of the plan changes. They count as customers of the
// plan until they are over.
func TestCustomersOfAPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000, "USD": 2200})
		path := "/plans/" + plan
		customers := func() apptest.Reply { return k.AdminCall("GET", path+"/customers", nil).Want(200) }
		customers().WantAt("data", apptest.Object{"tenants": 0.0, "by_price": []any{}})

		for name, currency := range map[string]string{"ada": "EUR", "bob": "EUR", "eve": "USD"} {
			s.NewCustomer(name).Buy(plan, currency, apptest.Card(apptest.CardPays))
		}
		price := map[any]any{}
		for _, p := range k.AdminCall("GET", path, nil).Want(200).At("data.prices").([]any) {
			price[p.(apptest.Object)["currency"]] = p.(apptest.Object)["id"]
		}
		pays := func(id any, currency string, amount, tenants float64) apptest.Object {
			return apptest.Object{"price": id, "currency": currency, "amount": amount, "interval_unit": "month", "interval_count": 1.0, "tenants": tenants}
		}
		customers().WantAt("data", apptest.Object{"tenants": 3.0, "by_price": []any{
			pays(price["EUR"], "EUR", 2000, 2), pays(price["USD"], "USD", 2200, 1),
		}})

		k.AdminCall("PUT", path+"/prices", apptest.Object{"prices": []any{apptest.Price("EUR", 2500), apptest.Price("USD", 2200)}}).Want(200)
		carl := s.NewCustomer("carl")
		carl.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		customers().WantAt("data", apptest.Object{"tenants": 4.0, "by_price": []any{
			pays(nil, "EUR", 2000, 2), pays(price["EUR"], "EUR", 2500, 1), pays(price["USD"], "USD", 2200, 1),
		}})

		s.Call("POST", carl.Path("/subscription/cancel"), carl.Token, apptest.Object{"immediately": true}).Want(200)
		customers().WantAt("data.tenants", 3.0)
		k.AdminCall("GET", "/plans/01990000-0000-7000-8000-000000000000/customers", nil).WantRefused(404, "")
		k.AdminCall("GET", "/plans/x/customers", nil).WantRefused(404, "")
	})
}
