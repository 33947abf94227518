package psp_test

import (
	"net/http"
	"testing"

	"github.com/tenantry/tenantry/internal/psp"
)

// A price is active if its product is, too, as far as that is known, and it has a unit
// price where there is a single one.
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

// Whatever can be charged comes back as it was sent, in every currency and however many
// decimals it has here; whatever cannot is between the amounts that are proposed.
func TestUnitsThereAndBack(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"EUR", "JPY", "KWD", "ISK", "UGX", "MGA", "IDR", "HUF"} {
		for _, decimals := range []int{0, 2, 3} {
			u, err := psp.UnitsOf(currency, decimals)
			if err != nil {
				continue
			}
			for amount := int64(0); amount < 5000; amount += 7 {
				possible := u.Possible(amount)
				there, err := u.ToProvider(amount)
				switch {
				case len(possible) == 0 && err == nil:
					if again := u.FromProvider(there); again != amount {
						t.Errorf("%d %s with %d decimals is %d there and %d again", amount, currency, decimals, there, again)
					}
				case len(possible) == 0 || err == nil:
					t.Errorf("%d %s with %d decimals: %v, possible %v", amount, currency, decimals, err, possible)
				case len(possible) == 2 && (possible[0] >= amount || possible[1] <= amount):
					t.Errorf("%d %s with %d decimals is not between %v", amount, currency, decimals, possible)
				}
				if u.FromProvider(-there) != -u.FromProvider(there) {
					t.Errorf("%d %s: a credit is not the opposite of a charge", there, currency)
				}
			}
			if most := u.Maximum(); u.Check(most) != nil || u.Check(most+1) == nil {
				t.Errorf("%s with %d decimals: %d is not the maximum", currency, decimals, most)
			}
		}
	}
}
