package subscription

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/tenant"
)

// dropTimeout limits the cancellation of a subscription that could not be stored. The cancellation
// continues after the request has ended.
const dropTimeout = 10 * time.Second

// FreeSubscription is a subscription to a plan with the price 0 that exists at the provider, for a
// tenant that does not exist yet.
type FreeSubscription struct {
	next   Subscription
	remote psp.Subscription
}

// CreateFree creates a subscription to a plan with the price 0 at the provider, without a checkout
// and without a trial. It is for a tenant that is about to be created: StoreFree stores the
// subscription with the tenant, and DropFree cancels it if that fails. The plan must be sellable.
func (s *Service) CreateFree(ctx context.Context, t tenant.Tenant, plan catalog.Plan, price catalog.Price) (FreeSubscription, error) {
	bought := purchase{selection: selection{plan, price, 1}, tenant: t}
	if err := s.deps.Prices.CheckSellable(ctx, plan, price, bought.quantity); err != nil {
		return FreeSubscription{}, err
	}
	p := psp.CheckoutParams{
		Key: "provision-" + t.ID.String(), Quantity: bought.quantity, InvoicesMonthly: plan.Interval.LongerThanMonth(),
		Metadata: map[string]string{metaTenant: t.ID.String(), metaPlan: plan.ID.String()},
	}
	var err error
	if p.PriceID, err = s.deps.Prices.Ensure(ctx, plan.ID, price.ID); err != nil {
		return FreeSubscription{}, err
	}
	if p.MeteredPriceIDs, err = s.meteredPrices(ctx, bought); err != nil {
		return FreeSubscription{}, err
	}
	if p.CustomerID, err = s.deps.Customers.Create(ctx, t); err != nil {
		return FreeSubscription{}, err
	}
	var f FreeSubscription
	if f.remote, err = s.deps.Provider.CreateSubscription(ctx, p); err != nil {
		return f, s.deps.Prices.ExplainRefusal(ctx, plan, price, bought.quantity, err)
	}
	if f.next, err = s.merge(ctx, Subscription{TenantID: t.ID}, f.remote); err != nil {
		s.DropFree(ctx, f)
	}
	return f, err
}

// StoreFree stores a subscription with its tenant, in the transaction of ctx that creates the tenant.
func (s *Service) StoreFree(ctx context.Context, f FreeSubscription) error {
	if err := s.adopt(ctx, f.next, f.remote); err != nil {
		return err
	}
	// The tenant was created with its VAT number, which is not registered yet.
	if err := s.deps.Customers.BillingChanged(ctx, f.next.TenantID); err != nil {
		return err
	}
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: "subscription.created", TenantID: &f.next.TenantID, Resource: "subscription", ResourceID: f.next.ID.String(),
		After: map[string]any{"plan_id": f.next.PlanID, "currency": f.next.Currency, "quantity": f.next.Quantity, "status": f.next.Status},
	})
}

// DropFree cancels a subscription whose tenant could not be created. A failure is only logged: the
// subscription is free, and belongs to no tenant.
func (s *Service) DropFree(ctx context.Context, f FreeSubscription) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	if _, err := s.deps.Provider.CancelSubscription(ctx, f.remote.ID, "drop-"+f.remote.ID); err != nil {
		s.deps.Log.WarnContext(ctx, "failed to cancel the subscription of a tenant that was not created", "psp_subscription_id", f.remote.ID, "error", err)
	}
}
