package invoice

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// Void voids a draft or open invoice of a tenant (rules: invoices#voiding), at the
// provider first, so that nobody can pay what is void here. Final ones are refused with
// invoice_not_voidable.
//
// Invariant: the provider's state is read back and decides, so that where a payment
// arrives at the same time, what the provider accepted first holds. The idempotency key
// is made from the invoice's id, so that trying again after an unknown outcome is the
// same operation.
func (s *Service) Void(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	before, err := s.source.get(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	if before.Status.Final() {
		return Invoice{}, errNotVoidable
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
				return err // a notification has changed the state already
			}
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
		return after, nil // it was deleted
	}
	return now, err
}

// readBack stores the provider's current state of an invoice.
func (s *Service) readBack(ctx context.Context, tenantID uuid.UUID, pspID string) error {
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return err
	}
	return s.takeRead(ctx, tenantID, in)
}
