package subscription

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// TrialEvent handles the notification that a trial is about to end. It mails the tenant once per
// end date, unless the subscription ends with the trial. It uses the stored state, which
// SubscriptionEvent has read back before.
func (s *Service) TrialEvent(ctx context.Context, e psp.Event) error {
	sub, err := s.store.byPSPID(ctx, e.ObjectID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, sub.TenantID)
		if err != nil {
			return err
		}
		isNew, err := s.store.markTrialEndMailed(ctx, sub)
		if err != nil || !isNew {
			return err
		}
		to, err := s.deps.Tenants.BillingEmail(ctx, t)
		if err != nil || to == nil {
			return err
		}
		current, err := s.store.byPSPID(ctx, e.ObjectID)
		if err != nil {
			return err
		}
		plan, err := s.deps.Catalog.Plan(ctx, current.PlanID)
		if err != nil {
			return err
		}
		units, err := s.store.minorUnits(ctx, current.Currency)
		if err != nil {
			return err
		}
		locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
		if err != nil {
			return err
		}
		return s.deps.Letters.TrialEnds(ctx, locale, *to, letters.TrialEnds{
			Tenant: t.Name, Plan: i18n.Pick(plan.Name, locale), EndsAt: *current.TrialEndsAt, MinorUnits: units,
			Price: money.Money{AmountCents: current.PriceCents * current.Quantity, Currency: current.Currency},
		})
	})
}
