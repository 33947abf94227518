package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// The platform acts for a customer with the service functions of the tenant's routes.

type adminPreviewInput struct {
	adminSubscriptionInput
	changeQuery
}

// AdminPreviewChange handles GET /admin/tenants/{tenant}/subscriptions/{subscription}/preview-change.
func (h *HTTP) AdminPreviewChange(ctx context.Context, in *adminPreviewInput) (*rest.Data[ChangePreview], error) {
	load, err := h.adminLoader(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	p, err := in.params()
	if err != nil {
		return nil, err
	}
	p.forCustomer = true
	return h.previewChange(ctx, load, p)
}

type adminChangeInput struct {
	adminSubscriptionInput
	Body changeBody
}

// load returns the load step of the subscription in the path.
func (in adminSubscriptionInput) load(s *Service) (loader, error) {
	tenantID, id, err := pathIDs(in.Tenant, in.Subscription)
	return s.store.loaderByID(tenantID, id), err
}

// CheckAdminChange is the check that rest.Checks runs for AdminChangePlan.
func (h *HTTP) CheckAdminChange(ctx context.Context, in *adminChangeInput) error {
	load, err := in.load(h.svc)
	if err != nil {
		return err
	}
	return in.Body.check(ctx, h.svc, load)
}

// AdminChangePlan handles POST /admin/tenants/{tenant}/subscriptions/{subscription}/change-plan.
func (h *HTTP) AdminChangePlan(ctx context.Context, in *adminChangeInput) (*rest.Data[PlanChange], error) {
	load, err := in.load(h.svc)
	if err != nil {
		return nil, err
	}
	p, err := in.Body.params()
	if err != nil {
		return nil, err
	}
	p.forCustomer = true
	return h.changePlan(ctx, load, p, h.svc.platformView)
}

// AdminResume handles POST /admin/tenants/{tenant}/subscriptions/{subscription}/resume.
func (h *HTTP) AdminResume(ctx context.Context, in *adminSubscriptionInput) (*rest.Data[*SubscriptionView], error) {
	load, err := h.adminLoader(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	sub, err := h.svc.resume(ctx, load)
	return answerChange(ctx, sub, err, "subscription.resumed", h.svc.platformView)
}

// AdminDropChange handles DELETE
// /admin/tenants/{tenant}/subscriptions/{subscription}/pending-change.
func (h *HTTP) AdminDropChange(ctx context.Context, in *adminSubscriptionInput) (*rest.NoBody, error) {
	load, err := h.adminLoader(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.dropChange(ctx, load)
}

// PreviewContract handles POST /admin/tenants/{tenant}/subscriptions/preview.
func (h *HTTP) PreviewContract(ctx context.Context, in *contractInput) (*rest.Data[PurchasePreview], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	p, err := in.params()
	if err != nil {
		return nil, err
	}
	cost, err := h.svc.previewContract(ctx, id, p)
	if err != nil {
		return nil, err
	}
	return rest.OK(h.svc.viewPurchase(cost)), nil
}
