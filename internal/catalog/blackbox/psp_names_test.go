package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The provider's pages and invoices show the product name of a price. Each plan has its own product
// there, named after the plan and its product.
func TestPSPProductsNameThePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		productOf := func(slug, currency string) string {
			t.Helper()
			plan := soldPlanOf(s, slug)
			if linksOf(s, admin, plan)[currency]["psp_price_id"] == nil {
				s.Call("POST", plan.path(currency, "psp-create"), admin, map[string]any{"product_id": plan.product}).Want(200)
			}
			price, _ := linksOf(s, admin, plan)[currency]["psp_price_id"].(string)
			product, _ := s.AtProvider("GET", "/prices/"+price).At("product").(string)
			return product
		}
		team, scale := productOf("team", "EUR"), productOf("scale", "EUR")
		if team == scale {
			t.Errorf("two plans share the product %s", team)
		}
		if again := productOf("team", "USD"); again != team {
			t.Errorf("one plan has the products %s and %s", team, again)
		}
		for id, want := range map[string]string{team: "Team (Platform)", scale: "Scale (Platform)"} {
			product := s.AtProvider("GET", "/products/"+id)
			if got := product.At("name"); got != want {
				t.Errorf("%s is %q, want %q", id, got, want)
			}
			if product.At("metadata.plan_id") == nil || product.At("metadata.product_id") == nil {
				t.Errorf("%s lacks plan_id or product_id in its metadata: %s", id, product.Text)
			}
		}
	})
}
