package operation

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// Outlook is what a change leads to: its regular bill, and what the customer's credit pays.
// Amounts are in minor units of the preview's currency.
type Outlook struct {
	// NextBillingAt is the end of the period, or of the trial, that holds after the change;
	// zero if the subscription ends with it.
	NextBillingAt time.Time
	// NextAmount is the regular bill at that time: quantity × price, without usage.
	NextAmount int64
	// Balance is the customer's credit before the change, at least 0.
	Balance int64
}

// Total returns the amount of the change, with the usage so far and the owed invoices.
func (p Preview) Total() int64 { return p.Net() + p.Usage }

// invoiced returns the amount of the invoice of the change. A negative amount is credited.
func (p Preview) invoiced() int64 { return p.Total() - p.Owed }

// BalanceApplied returns what the customer's credit pays of the change.
func (p Preview) BalanceApplied() int64 { return min(max(p.invoiced(), 0), p.Balance) }

// DueNow returns what is charged now: for the owed invoices, and for the change.
func (p Preview) DueNow() int64 { return p.Owed + max(p.invoiced(), 0) - p.BalanceApplied() }

// NextDue returns what is charged for the next regular bill: a credit of the change and the
// credit that it leaves are taken off.
func (p Preview) NextDue() int64 {
	left := p.Balance - p.BalanceApplied() + max(-p.invoiced(), 0)
	return max(p.NextAmount-left, 0)
}

// outlook returns what follows a change that is counted from a moment; change is zero where
// a checkout makes it.
func (s *Service) outlook(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, change psp.Change, from time.Time) (o Outlook, err error) {
	if o.Balance, err = s.deps.Subscriptions.Credit(ctx, sub.TenantID, sub.Currency); err != nil {
		return o, err
	}
	o.NextAmount = sel.Price.PriceCents * sel.Quantity
	checkout, err := paidFromFree(sub, sel)
	if err != nil {
		return o, err
	}
	switch {
	case checkout:
		days, err := s.deps.Subscriptions.TrialDays(ctx, sub.TenantID, sel.Plan)
		if o.NextBillingAt = after(from, sel.Plan.Interval); days > 0 {
			o.NextBillingAt = from.AddDate(0, 0, days)
		}
		return o, err
	case sub.Ending():
		o.NextAmount = 0
	case !change.TrialEnd.IsZero():
		o.NextBillingAt = change.TrialEnd
	case sub.Status != subscription.Trialing && beginsPeriod(sub, sel):
		o.NextBillingAt = after(from, sel.Plan.Interval)
	default:
		o.NextBillingAt = sub.CurrentPeriodEnd
	}
	return o, nil
}

// beginsPeriod reports whether a change, outside a trial, begins a billing period: one to
// another interval, and one from a paid to a free plan
// (https://docs.stripe.com/billing/subscriptions/billing-cycle).
func beginsPeriod(sub subscription.Subscription, sel subscription.Selection) bool {
	becomesFree := sub.PriceCents > 0 && sel.Price.PriceCents == 0 && sel.Plan.PricingType != catalog.Usage
	return sel.Plan.Interval != sub.Interval() || becomesFree
}
