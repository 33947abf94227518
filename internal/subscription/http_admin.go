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

// AdminList handles GET /admin/tenants/{tenant}/subscriptions. It lists all subscriptions of the
// tenant, newest first.
func (h *HTTP) AdminList(ctx context.Context, in *adminTenantInput) (*rest.Body[page.Part[SubscriptionView]], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	q, err := page.ParsePart(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	if next := h.svc.ListAll(id); q.IsWhole() {
		return rest.StreamList(ctx, func(ctx context.Context) ([]SubscriptionView, bool, error) {
			part, more, err := next(ctx)
			if err != nil {
				return nil, false, err
			}
			views, err := h.views(ctx, part)
			return views, more, err
		})
	}
	subs, total, err := h.svc.ListPage(ctx, id, q)
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
	views, maker := make([]SubscriptionView, len(subs)), h.svc.newViewMaker(true)
	for i, sub := range subs {
		v, err := maker.view(ctx, sub)
		if err != nil {
			return nil, err
		}
		views[i] = *v
	}
	return views, nil
}

type planInput struct {
	Plan string `path:"plan" format:"uuid"`
}

// AdminCustomers handles GET /admin/plans/{plan}/customers. The route checks that the plan exists.
func (h *HTTP) AdminCustomers(ctx context.Context, in *planInput) (*rest.Data[PlanCustomers], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	v := PlanCustomers{}
	if v.ByPrice, err = h.svc.store.countCustomers(ctx, id); err != nil {
		return nil, err
	}
	for _, c := range v.ByPrice {
		v.Tenants += c.Tenants
	}
	byDefault, err := h.svc.store.countDefaultTenants(ctx, id)
	if err != nil {
		return nil, err
	}
	v.Tenants += byDefault
	return rest.OK(v), nil
}

type adminCancelInput struct {
	Tenant       string `path:"tenant" format:"uuid"`
	Subscription string `path:"subscription" format:"uuid"`
	Body         struct {
		Reason      *string `json:"reason,omitempty" nullable:"true" maxLength:"500"`
		Immediately bool    `json:"immediately,omitempty"`
	}
}

// AdminSubscriptionExists is the check of routes that name a subscription of a tenant.
func (h *HTTP) AdminSubscriptionExists(ctx context.Context, param func(string) string) error {
	tenantID, id, err := pathIDs(param("tenant"), param("subscription"))
	if err != nil {
		return err
	}
	_, err = h.svc.store.byID(ctx, tenantID, id)
	return err
}

func pathIDs(tenant, subscription string) (tenantID, id uuid.UUID, err error) {
	if tenantID, err = shape.ParseID(tenant); err != nil {
		return
	}
	id, err = shape.ParseID(subscription)
	return
}

// AdminCancel handles POST /admin/tenants/{tenant}/subscriptions/{subscription}/cancel.
func (h *HTTP) AdminCancel(ctx context.Context, in *adminCancelInput) (*rest.Data[*SubscriptionView], error) {
	tenantID, id, err := pathIDs(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	sub, err := h.svc.cancelByID(ctx, tenantID, id, cancellation{immediately: in.Body.Immediately, reason: in.Body.Reason})
	return answerChange(ctx, sub, err, "subscription.canceled", h.svc.platformView)
}
