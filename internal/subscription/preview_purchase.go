package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/tenant"
)

// purchasePreview is the cost of a first purchase. Amounts are in minor units of the currency.
type purchasePreview struct {
	currency string
	// total is the price of the first paid period. It includes the tax, unless the provider
	// decides it.
	total, tax    int64
	discount      int64 // the price minus total
	reverseCharge bool
	// balance is the part of the first invoice that the customer's credit pays.
	balance       int64
	trialEndsAt   time.Time // zero without a trial
	nextBillingAt time.Time // zero for the default plan, which is never billed
	nextAmount    int64
}

// dueNow returns the amount of the first invoice.
func (p purchasePreview) dueNow() int64 {
	if !p.trialEndsAt.IsZero() {
		return 0
	}
	return p.total - p.balance
}

// previewPurchase returns the cost of a checkout. It rejects the same requests, and creates nothing.
func (s *Service) previewPurchase(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (purchasePreview, error) {
	bought, err := s.checkPreview(ctx, tenantID, p)
	if err != nil {
		return purchasePreview{}, err
	}
	return s.costOfCheckout(ctx, bought)
}

// checkPreview is checkPurchase for a preview, which creates no customer at the provider.
func (s *Service) checkPreview(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (purchase, error) {
	bought, err := s.checkPurchase(ctx, tenantID, p)
	if err != nil {
		return bought, err
	}
	customerID, err := s.deps.Customers.Customer(ctx, tenantID)
	if err == nil && customerID != "" {
		err = s.requireCurrency(ctx, customerID, bought.price.Currency)
	}
	return bought, err
}

// PreviewOnboarding returns the view of the cost of a plan for a tenant that does not exist yet. It
// rejects the same plans, prices and seats as a checkout.
func (s *Service) PreviewOnboarding(ctx context.Context, billing tenant.BillingDetails, plan catalog.Plan, p CheckoutParams) (PurchasePreview, error) {
	if err := s.RefuseCodeOfDefault(ctx, plan, p.PromotionCode); err != nil {
		return PurchasePreview{}, err
	}
	if plan.IsDefault {
		return s.viewPurchase(purchasePreview{currency: p.Currency}), nil
	}
	bought, err := s.checkSelection(ctx, tenant.Tenant{Billing: billing}, plan, p)
	if err == nil && !hasSeatForOwner(plan) {
		err = errNotEligible
	}
	if err == nil {
		bought.discount, err = s.findDiscount(ctx, p.PromotionCode, bought.use())
	}
	if err != nil {
		return PurchasePreview{}, err
	}
	cost, err := s.costOfCheckout(ctx, bought)
	return s.viewPurchase(cost), err
}

// hasSeatForOwner reports whether a plan has a seat for the owner of a new tenant.
func hasSeatForOwner(plan catalog.Plan) bool {
	quota := plan.SeatQuota()
	return quota == nil || *quota > 0
}

// costOfCheckout returns the cost of a checked purchase, with the plan's own trial.
func (s *Service) costOfCheckout(ctx context.Context, bought purchase) (purchasePreview, error) {
	days, err := s.trialDays(ctx, bought.tenant.ID, bought.plan)
	if err != nil {
		return purchasePreview{}, err
	}
	return s.costOf(ctx, bought, days)
}

// costOf returns the cost of a checked purchase. days is the length of its trial, or 0.
func (s *Service) costOf(ctx context.Context, bought purchase, days int) (purchasePreview, error) {
	if bought.discount != nil {
		if err := s.deps.Discounts.CheckAtProvider(ctx, *bought.discount); err != nil {
			return purchasePreview{}, err
		}
	}
	now := s.deps.Clock.Now()
	price := bought.price.PriceCents * bought.quantity
	off, err := s.offOf(ctx, bought.discount, price, bought.price.Currency)
	if err != nil {
		return purchasePreview{}, err
	}
	p := purchasePreview{currency: bought.price.Currency, total: price - off, discount: off}
	p.tax, _, p.reverseCharge = s.deps.Tax.IncludedTax(bought.tenant, p.total, now)
	p.nextAmount = p.total
	if days > 0 {
		p.trialEndsAt = now.AddDate(0, 0, days)
		p.nextBillingAt = p.trialEndsAt
		if d := bought.discount; d != nil && !d.AppliesAt(now, p.nextBillingAt) {
			p.nextAmount = price
		}
		return p, nil
	}
	p.nextBillingAt = addInterval(now, bought.plan.Interval)
	if d := bought.discount; d != nil && (d.Duration == discount.Once || !d.AppliesAt(now, p.nextBillingAt)) {
		p.nextAmount = price
	}
	credit, err := s.credit(ctx, bought.tenant.ID, p.currency)
	p.balance = min(p.total, credit)
	return p, err
}
