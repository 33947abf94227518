package invoice

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
)

// Pay collects an open invoice now, with the customer's payment method at the provider
// (rules: invoices#paying). It returns invoice_not_payable if the invoice is not open, and
// payment_failed, with the action that the payer must take, if the payment fails.
//
// Invariant: concurrent calls charge the customer once, because the provider pays an invoice only
// once. Each attempt uses a new idempotency key, because the provider replays an earlier failure
// for a repeated key. Pay reads the outcome back from the provider.
func (s *Service) Pay(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	before, err := s.source.get(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	if before.Status != StatusOpen {
		return Invoice{}, errNotPayable
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error { return s.lockCaller(ctx, tenantID) })
	if err != nil {
		return Invoice{}, err
	}
	attempt := uuid.New()
	payErr := s.deps.Provider.PayInvoice(ctx, before.PSPInvoiceID, "pay-"+attempt.String())
	refused := errors.Is(payErr, psp.ErrRefused)
	declined := errors.Is(payErr, psp.ErrDeclined)
	if payErr != nil && !refused && !declined {
		return Invoice{}, payErr
	}
	if err := s.refreshPaid(ctx, tenantID, before.PSPInvoiceID); err != nil {
		return Invoice{}, err
	}
	after, err := s.source.get(ctx, tenantID, id)
	action := after.Action.OrNil()
	switch {
	case err != nil:
		return Invoice{}, err
	case declined && after.Status == StatusOpen, refused && action != nil:
		return Invoice{}, errNotPaid.Wrap(payErr).With("payment_action", action)
	case refused && after.Status == StatusOpen:
		s.deps.Log.ErrorContext(ctx, "failed to collect open invoice", "invoice_id", id, "error", payErr)
		return Invoice{}, errNotPayable.Wrap(payErr)
	case refused, declined: // another request has paid or voided it
		return Invoice{}, errNotPayable.Wrap(payErr)
	case after.Status != StatusPaid: // a bank debit is in progress
		return after, nil
	}
	return after, s.deps.Audit.Record(ctx, audit.Entry{
		Action: "invoice.paid", TenantID: &tenantID, Resource: "invoice", ResourceID: id.String(),
		Before: map[string]any{"status": before.Status}, After: map[string]any{"status": after.Status},
	})
}

// refreshPaid stores the provider's current state of an invoice and of its subscription, which a
// payment can change.
func (s *Service) refreshPaid(ctx context.Context, tenantID uuid.UUID, pspID string) error {
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return err
	}
	if in.SubscriptionID != "" {
		if err := s.deps.Subscriptions.SubscriptionEvent(ctx, psp.Event{ObjectID: in.SubscriptionID}); err != nil {
			return err
		}
	}
	return s.storeRead(ctx, tenantID, in)
}
