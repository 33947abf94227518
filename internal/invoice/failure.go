package invoice

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// mailFailure mails the tenant about a failed payment, once per event even if the event is
// delivered repeatedly.
func (s *Service) mailFailure(ctx context.Context, tenantID uuid.UUID, in psp.Invoice, event string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// Send no mail for an incomplete subscription: its owner gets the payment link.
		if isIncomplete, err := s.store.isIncomplete(ctx, tenantID, in.SubscriptionID); err != nil || isIncomplete {
			return err
		}
		isNew, err := s.store.noteFailure(ctx, tenantID, in.ID, event)
		if err != nil || !isNew {
			return err
		}
		t, err := s.deps.Tenants.Get(ctx, tenantID)
		if err != nil {
			return err
		}
		to, err := s.deps.Tenants.BillingEmail(ctx, t)
		if err != nil || to == nil {
			return err
		}
		plan, err := s.store.billedPlan(ctx, tenantID, in.SubscriptionID)
		if err != nil && !errors.Is(err, errNoPlan) {
			return err
		}
		units, err := s.store.minorUnits(ctx, in.Currency)
		if err != nil {
			return err
		}
		locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
		if err != nil {
			return err
		}
		return s.deps.Letters.PaymentFailed(ctx, locale, *to, letters.PaymentFailed{
			Tenant: t.Name, Plan: i18n.Pick(plan, locale), MinorUnits: units,
			Amount: money.Money{AmountCents: in.AmountDue, Currency: in.Currency}, PaymentURL: in.Action.URL,
			IsUnconfirmed: in.Action.Type == money.ActionConfirm,
		})
	})
}
