package psp_test

import (
	"net/http"
	"testing"
)

// A price is active only if its product is active too, as far as the product is known. It has a
// unit price if the provider has a single amount per unit.
func TestPriceAsItIsSold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   string
		active bool
		unit   string
	}{
		"a product that is only named": {
			body:   `{"active": true, "product": "prod_1", "unit_amount": 1200, "unit_amount_decimal": "1200"}`,
			active: true,
			unit:   "1200",
		},
		"an active product": {
			body:   `{"active": true, "product": {"id": "prod_1", "active": true}, "unit_amount_decimal": "0.25"}`,
			active: true,
			unit:   "0.25",
		},
		"an inactive product": {
			body: `{"active": true, "product": {"id": "prod_1", "active": false}, "unit_amount_decimal": "0.25"}`,
			unit: "0.25",
		},
		"a deleted product": {
			body: `{"active": true, "product": {"id": "prod_1", "deleted": true}, "unit_amount_decimal": "5"}`,
			unit: "5",
		},
		"an inactive price": {
			body: `{"active": false, "product": {"id": "prod_1", "active": true}, "unit_amount_decimal": "5"}`,
			unit: "5",
		},
		"tiers": {
			body:   `{"active": true, "product": "prod_1", "unit_amount": null, "unit_amount_decimal": null}`,
			active: true,
		},
		"packages of several units": {
			body:   `{"active": true, "product": "prod_1", "unit_amount": 5, "unit_amount_decimal": "5", "transform_quantity": {"divide_by": 10, "round": "up"}}`,
			active: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, tt.body) })
			got, err := provider.client(t).GetPrice(t.Context(), "price_1")
			if err != nil {
				t.Fatal(err)
			}
			if got.Active != tt.active || got.UnitPrice != tt.unit {
				t.Errorf("active %t, unit price %q", got.Active, got.UnitPrice)
			}
			if asked := provider.requests(); len(asked) != 1 || asked[0].form.Get("expand[0]") != "product" {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
