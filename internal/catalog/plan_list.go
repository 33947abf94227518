package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
)

// PlanList returns the filters, sort orders and includes of the admin plan list
// (rules: catalog#plans). Plans always include their entitlements and features, so those includes
// are accepted and have no effect.
func (*HTTP) PlanList() page.Spec {
	filters := commonFilters("p", "slug")
	filters["product_id"] = page.Filter{Kind: page.UUID, Exprs: []string{"p.product_id"}}
	filters["pricing_type"] = page.Filter{
		Kind: page.Enum, Exprs: []string{"p.pricing_type"}, Values: []string{string(PricingFlat), string(PricingSeat), string(PricingUsage)},
	}
	filters["billing_cycle"] = page.Filter{Kind: page.Enum, Exprs: []string{"p.billing_cycle"}, Values: BillingCycles()}
	return page.Spec{
		Filters:     filters,
		Sorts:       map[string]string{"sort_order": "p.sort_order", "created_at": "p.created_at"},
		DefaultSort: "sort_order",
		Tiebreak:    "p.id",
		Includes:    []string{"product", "entitlements", "entitlements.feature"},
	}
}

// Plans returns the page of plans for q, which PlanList parses, with prices and entitlements, and
// the total number of matches. It runs four queries for any number of plans.
func (s *Service) Plans(ctx context.Context, q page.Query) (plans []Plan, total int64, err error) {
	return s.store.planPage(ctx, q)
}
