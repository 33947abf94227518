package catalog

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
)

// PlanList declares the filters, sorts and includes of the administration's list of
// plans (rules: catalog#plans). Plans always come with their entitlements and
// features; those includes are accepted and change nothing.
func PlanList() page.Spec {
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

// Plans lists the plans that q asks for, with prices and entitlements, and counts all
// that match; PlanList parses q. It takes four queries however many plans there are.
func (s *Service) Plans(ctx context.Context, q page.Query) (plans []Plan, total int64, err error) {
	return s.store.planPage(ctx, q)
}
