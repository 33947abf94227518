package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// Letters writes to tenants; *letters.Letters does.
type Letters interface {
	TrialEnds(ctx context.Context, locale, to string, e letters.TrialEnds) error
}

// TrialEvent handles the notification that a trial is about to end: the tenant is
// told by mail, once for each end, unless the subscription ends with it. It goes by
// the stored state, which SubscriptionEvent has read back before.
func (s *Service) TrialEvent(ctx context.Context, e psp.Event) error {
	sub, err := s.store.byPSPID(ctx, e.ObjectID)
	if err != nil || sub == nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, sub.TenantID)
		if err != nil {
			return err
		}
		isNew, err := s.store.q(ctx).NoteTrialEndTold(ctx, subscriptionsql.NoteTrialEndToldParams{TenantID: sub.TenantID, ID: sub.ID})
		if err != nil || isNew == 0 {
			return err
		}
		to, err := s.deps.Tenants.BillingEmail(ctx, t)
		if err != nil || to == nil {
			return err
		}
		if sub, err = s.store.byPSPID(ctx, e.ObjectID); err != nil {
			return err
		}
		plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
		if err != nil {
			return err
		}
		units, err := s.store.q(ctx).MinorUnits(ctx, sub.Currency)
		if err != nil {
			return err
		}
		locale := t.Locale()
		return s.deps.Letters.TrialEnds(ctx, locale, *to, letters.TrialEnds{
			Tenant: t.Name, Plan: i18n.Pick(plan.Name, locale), EndsAt: *sub.TrialEndsAt, MinorUnits: int(units),
			Price: money.Money{AmountCents: sub.PriceCents * sub.Quantity, Currency: sub.Currency},
		})
	})
}
