package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// letterWriter writes one of the mails about the life of a subscription.
type letterWriter func(ctx context.Context, locale, to string, n letters.Subscription) error

// mailStart mails the tenant that a subscription has started. Call it in the transaction that stores
// the subscription as running.
func (s *Service) mailStart(ctx context.Context, sub Subscription) error {
	return s.mailBillingContact(ctx, sub, letters.Subscription{}, s.deps.Letters.SubscriptionStarted)
}

// mailChange mails the tenant about the change from one stored state to the next: the first
// payment, another plan, a cancellation, or an end for failed payments. remote is the provider's
// state.
//
// Invariant: it runs in the transaction that stores the state, and a state is stored once. So each
// change is mailed once, even if it is read several times.
func (s *Service) mailChange(ctx context.Context, before, after Subscription, remote psp.Subscription) error {
	var n letters.Subscription
	switch {
	case before.Status.IsOver():
		return nil
	case before.Status == Incomplete:
		if !after.Status.IsRunning() {
			return nil
		}
		return s.mailStart(ctx, after)
	case after.Status == Unpaid && before.Status != Unpaid, after.Status == Canceled && remote.CanceledForPayment && before.Status != Unpaid:
		n.EndsAt = after.effectiveAt
		return s.mailBillingContact(ctx, after, n, s.deps.Letters.SubscriptionEnded)
	case before.IsEnding():
		return nil // the cancellation was mailed
	case after.Status == Canceled && remote.CanceledByRequest:
		n.EndsAt = after.effectiveAt
		return s.mailBillingContact(ctx, after, n, s.deps.Letters.SubscriptionCanceled)
	case after.Status.IsRunning() && after.IsEnding():
		n.EndsAt = after.CurrentPeriodEnd
		if after.CancelAt != nil {
			n.EndsAt = *after.CancelAt
		}
		return s.mailBillingContact(ctx, after, n, s.deps.Letters.SubscriptionCanceled)
	case after.Status.IsRunning() && before.PlanID != after.PlanID:
		former, err := s.planName(ctx, before.PlanID)
		if err != nil {
			return err
		}
		return s.mailBillingContact(ctx, after, n, func(ctx context.Context, locale, to string, n letters.Subscription) error {
			n.FormerPlan = i18n.Pick(former, locale)
			return s.deps.Letters.PlanChanged(ctx, locale, to, n)
		})
	}
	return nil
}

// planName returns the translated name of a plan, even of a deleted one.
func (s *Service) planName(ctx context.Context, id uuid.UUID) (map[string]string, error) {
	plan, err := s.deps.Catalog.Plan(ctx, id)
	return plan.Name, err
}

// mailBillingContact completes the content of a mail from the subscription and sends it to the billing
// contact.
func (s *Service) mailBillingContact(ctx context.Context, sub Subscription, n letters.Subscription, write letterWriter) error {
	t, err := s.deps.Tenants.Get(ctx, sub.TenantID)
	if err != nil {
		return err
	}
	to, locale, err := s.billingContact(ctx, t)
	if err != nil || to == "" {
		return err
	}
	name, err := s.planName(ctx, sub.PlanID)
	if err != nil {
		return err
	}
	if n.MinorUnits, err = s.store.minorUnits(ctx, sub.Currency); err != nil {
		return err
	}
	amount, err := s.nextAmount(ctx, sub)
	if err != nil {
		return err
	}
	n.Tenant, n.Plan, n.Price = t.Name, i18n.Pick(name, locale), money.Money{AmountCents: amount, Currency: sub.Currency}
	switch {
	case sub.Status == Trialing && sub.TrialEndsAt != nil:
		n.TrialEndsAt = *sub.TrialEndsAt
	case n.EndsAt.IsZero():
		n.RenewsAt = sub.CurrentPeriodEnd
	}
	return write(ctx, locale, to, n)
}
