package app

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// allowances gives the usage domain the quotas and the billing period of a
// tenant's subscription.
type allowances struct{ entitlements *entitlement.Service }

func (a allowances) Allowances(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]usage.Allowance, error) {
	terms, err := a.entitlements.TermsOf(ctx, tenantIDs)
	if err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID]usage.Allowance, len(terms))
	for id, t := range terms {
		all[id] = usage.Allowance{Limits: t.Quotas, Billing: &usage.Billing{
			Anchor: t.BillingAnchor, IntervalUnit: usage.IntervalUnit(t.IntervalUnit), IntervalCount: int(t.IntervalCount),
			Current: usage.Period{Start: t.CurrentPeriodStart, End: t.CurrentPeriodEnd},
		}}
	}
	return all, nil
}

// payers gives the usage domain the currency and the billing period in which a
// tenant pays.
type payers struct {
	subscriptions *subscription.Service
	tenants       *tenant.Service
}

func (p payers) Payer(ctx context.Context, tenantID uuid.UUID) (billing.Payer, error) {
	sub, err := p.subscriptions.Current(ctx, tenantID)
	if err != nil && !errors.Is(err, subscription.ErrNotFound) {
		return billing.Payer{}, err
	}
	if err == nil && (sub.Status.GrantsFeatures() || sub.Status == subscription.PastDue) {
		return billing.Payer{Currency: sub.Currency, Billing: &usage.Billing{
			Anchor: sub.BillingAnchor, IntervalUnit: usage.IntervalUnit(sub.IntervalUnit), IntervalCount: int(sub.IntervalCount),
			Current: usage.Period{Start: sub.CurrentPeriodStart, End: sub.CurrentPeriodEnd},
		}}, nil
	}
	t, err := p.tenants.Get(ctx, tenantID)
	return billing.Payer{Currency: t.PreferredCurrency}, err
}

// consumption gives the subscription domain how much a tenant uses of each metered
// feature, so that a plan with a lower quota is not offered.
type consumption struct{ usage *usage.Service }

func (c consumption) Current(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	summary, err := c.usage.Summary(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	used := make(map[string]int64, len(summary.Readings))
	for _, r := range summary.Readings {
		used[r.Meter.Code] = r.Current.Ceil()
	}
	return used, nil
}
