package invoice

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// tellOfFailure mails the tenant about a failed payment, once for each
// notification however often that comes.
func (s *Service) tellOfFailure(ctx context.Context, tenantID uuid.UUID, in psp.Invoice, event string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		isNew, err := s.store.q(ctx).NoteFailedPayment(ctx, invoicesql.NoteFailedPaymentParams{PSPInvoiceID: in.ID, Event: &event})
		if err != nil || isNew == 0 {
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
		about, err := s.store.billedPlan(ctx, tenantID, in)
		if err != nil {
			return err
		}
		units, err := s.store.q(ctx).MinorUnits(ctx, in.Currency)
		if err != nil {
			return err
		}
		locale := t.Locale()
		return s.deps.Letters.PaymentFailed(ctx, locale, *to, letters.PaymentFailed{
			Tenant: t.Name, Plan: i18n.Pick(about, locale), MinorUnits: int(units),
			Amount: money.Money{AmountCents: in.AmountDue, Currency: in.Currency},
		})
	})
}
