package invoice

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// Void voids a draft or open invoice of a tenant (rules: invoices#voiding). It voids the invoice at
// the provider first, so that an invoice that this service shows as void cannot be paid. It returns
// invoice_not_voidable if the status is final, and otherwise invoice_has_credit_notes if a credit
// note of the invoice is not void.
//
// Invariant: the provider's status decides and is read back, so if a payment arrives at the same
// time, the operation that the provider accepted first wins. The idempotency key derives from the
// invoice ID, so a retry after an unknown outcome repeats the same operation.
func (s *Service) Void(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	before, err := s.source.get(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	if before.Status.IsFinal() {
		return Invoice{}, errNotVoidable
	}
	if noted, err := s.store.hasCreditNote(ctx, tenantID, id); err != nil || noted {
		return Invoice{}, cmp.Or(err, error(errHasNotes))
	}
	err = s.deps.Provider.VoidInvoice(ctx, before.PSPInvoiceID, "void-"+before.PSPInvoiceID)
	if errors.Is(err, psp.ErrRefused) {
		if err := s.readBack(ctx, tenantID, before.PSPInvoiceID); err != nil {
			return Invoice{}, err
		}
		return Invoice{}, errNotVoidable
	}
	if err != nil {
		return Invoice{}, err
	}
	after := before
	after.Status, after.Action = StatusVoid, money.PaymentAction{}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		if s.deps.Issuing != nil {
			moved, err := s.store.move(ctx, after, s.deps.Clock.Now())
			if err != nil || !moved {
				return err // an event has already changed the status
			}
		}
		if err := s.store.voidCopy(ctx, after); err != nil {
			return err
		}
		if before.Status != StatusDraft {
			if err := s.publish(ctx, after); err != nil {
				return err
			}
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "invoice.voided", TenantID: &tenantID, Resource: "invoice", ResourceID: id.String(),
			Before: map[string]any{"status": before.Status}, After: map[string]any{"status": after.Status},
		})
	})
	if err != nil {
		return after, err
	}
	now, err := s.source.get(ctx, tenantID, id)
	if before.Status == StatusDraft && errors.Is(err, errNotFound) {
		return after, nil // voiding deleted the draft
	}
	return now, err
}

// readBack stores the provider's current state of an invoice.
func (s *Service) readBack(ctx context.Context, tenantID uuid.UUID, pspID string) error {
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return err
	}
	return s.storeRead(ctx, tenantID, in)
}
