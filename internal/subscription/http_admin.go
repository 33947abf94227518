package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminList handles GET /admin/tenants/{tenant}/subscriptions: all that the
// tenant has had, the newest first.
func (h *HTTP) AdminList(ctx context.Context, in *adminTenantInput) (*rest.Listing[SubscriptionView], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	q, err := page.ParsePart(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	if next := h.svc.OfTenant(id); q.Whole() {
		return rest.StreamList(ctx, func(ctx context.Context) ([]SubscriptionView, bool, error) {
			part, more, err := next(ctx)
			if err != nil {
				return nil, false, err
			}
			views, err := h.views(ctx, part)
			return views, more, err
		})
	}
	subs, total, err := h.svc.OfTenantOnPage(ctx, id, q)
	if err != nil {
		return nil, err
	}
	views, err := h.views(ctx, subs)
	if err != nil {
		return nil, err
	}
	return rest.ListPage(page.New(q, h.admin+id.String()+"/subscriptions", views, total))
}

func (h *HTTP) views(ctx context.Context, subs []Subscription) ([]SubscriptionView, error) {
	views := make([]SubscriptionView, len(subs))
	for i, sub := range subs {
		v, err := h.View(ctx, sub)
		if err != nil {
			return nil, err
		}
		views[i] = *v
	}
	return views, nil
}

// PlanCustomers are the tenants with a subscription to a plan that is not over.
type PlanCustomers struct {
	Tenants int64            `json:"tenants" doc:"How many tenants there are."`
	ByPrice []PriceCustomers `json:"by_price" doc:"The same by the price that they pay, the most first."`
}

// PriceCustomers are those who pay the same price. Subscriptions keep theirs when the plan's
// changes.
type PriceCustomers struct {
	Price         *uuid.UUID `json:"price" doc:"The id of the plan's price; null for one that the plan does not have any more."`
	Currency      string     `json:"currency"`
	Amount        int64      `json:"amount" doc:"The price of a unit, in minor units of the currency."`
	IntervalUnit  string     `json:"interval_unit" enum:"day,week,month,year"`
	IntervalCount int32      `json:"interval_count"`
	Tenants       int64      `json:"tenants" doc:"How many tenants pay it."`
}

type planInput struct {
	Plan string `path:"plan" format:"uuid"`
}

// AdminCustomers handles GET /admin/plans/{plan}/customers. The route refuses a plan that
// does not exist.
func (h *HTTP) AdminCustomers(ctx context.Context, in *planInput) (*rest.Data[PlanCustomers], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	rows, err := h.svc.store.customersOfPlan(ctx, id)
	if err != nil {
		return nil, err
	}
	v := PlanCustomers{ByPrice: make([]PriceCustomers, len(rows))}
	for i, r := range rows {
		v.Tenants += r.Tenants
		v.ByPrice[i] = PriceCustomers{
			Price: r.PriceID, Currency: r.Currency, Amount: r.PriceCents, IntervalUnit: r.IntervalUnit, IntervalCount: r.IntervalCount,
			Tenants: r.Tenants,
		}
	}
	return rest.OK(v), nil
}
