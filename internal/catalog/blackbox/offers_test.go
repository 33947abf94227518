package blackbox_test

import (
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Features are listed by sort order, then by code.
func TestFeaturesAreInTheSellersOrder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		for _, code := range []string{"aaa", "bbb", "ccc"} {
			k.CreateFeature(code)
		}
		id := k.AdminCall("GET", "/features?filter[code]=aaa", nil).Want(200).Str("data.0.id")
		for _, wrong := range []any{-1, "first", 1.5} {
			k.AdminCall("PATCH", "/features/"+id, apptest.Object{"sort_order": wrong}).WantInvalid("sort_order")
		}
		k.AdminCall("PATCH", "/features/"+id, apptest.Object{"sort_order": 7}).Want(200).WantAt("data.sort_order", 7.0)
		var got []string
		list, _ := s.Call("GET", "/api/v1/catalog/features", "", nil).Want(200).At("data").([]any)
		for _, one := range list {
			got = append(got, one.(map[string]any)["code"].(string))
		}
		if last := got[len(got)-1]; last != "aaa" || !slices.IsSorted(got[:len(got)-1]) {
			t.Errorf("the features are in the order %v", got)
		}
	})
}

// A usage plan shows the unit price of each meter that it bills. Other plans show no meters. A new
// price is visible immediately.
func TestUsagePlansShowUnitPrices(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("app")
		k.CreatePlan(product, "flat", apptest.Object{"prices": []any{apptest.Object{"currency": "EUR", "price_cents": 900}}})
		k.CreatePlan(product, "usage", apptest.Object{"pricing_type": "usage", "prices": []any{apptest.Object{"currency": "EUR", "price_cents": 0}}})
		meters := func(slug string) any {
			list, _ := s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200).At("data").([]any)
			for _, one := range list {
				if plan := one.(map[string]any); plan["slug"] == slug {
					return plan["meters"]
				}
			}
			t.Fatalf("plan %s not found", slug)
			return nil
		}
		if got, _ := meters("usage").([]any); len(got) != 0 {
			t.Errorf("meters without a price: %v", got)
		}
		k.AdminCall("POST", "/meters", apptest.Object{
			"code": "calls", "name": "Calls", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "soft", "unit_label": "call",
			"prices": []any{
				apptest.Object{"currency": "EUR", "unit_price_cents": 0.25, "psp_price_id": s.NewMeteredPrice("EUR", "0.25")},
				apptest.Object{"currency": "USD", "unit_price_cents": 0.3},
			},
		}).Want(201)
		got, _ := meters("usage").([]any)
		if len(got) != 1 {
			t.Fatalf("meters: %v", got)
		}
		meter := got[0].(map[string]any)
		for field, want := range map[string]any{"code": "calls", "name": "Calls", "unit_label": "call", "unit_price_cents": 0.25, "currency": "EUR"} {
			if meter[field] != want {
				t.Errorf("%s is %v, want %v", field, meter[field], want)
			}
		}
		if got, _ := meters("flat").([]any); len(got) != 0 {
			t.Errorf("a flat plan has the meters %v", got)
		}
		if list := s.Call("GET", "/api/v1/catalog/plans?currency=USD", "", nil).Want(200); len(list.At("data.0.meters").([]any)) != 0 {
			t.Errorf("meters in dollars: %s", list.Text)
		}
	})
}
