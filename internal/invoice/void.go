package invoice

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

const (
	// voidLease is longer than it takes to call the provider and to read the state back. Like
	// voidWait, it is real time.
	voidLease = 45 * time.Second
	// voidWait is the longest wait for another request that voids the same invoice.
	voidWait = 20 * time.Second
	// voidPause is the polling interval while waiting.
	voidPause = 50 * time.Millisecond
)

// Void voids a draft or open invoice of a tenant (rules: invoices#voiding). It voids the invoice at
// the provider first, so that an invoice that this service shows as void cannot be paid. It returns
// invoice_not_voidable if the status is final, and otherwise invoice_has_credit_notes if a credit
// note of the invoice is not void.
//
// Invariant: the provider's status decides and is read back, so if a payment arrives at the same
// time, the operation that the provider accepted first wins. The idempotency key derives from the
// invoice ID, so a retry after an unknown outcome repeats the same operation. While a caller holds the
// lease of an invoice, no other caller voids or credits it.
func (s *Service) Void(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	hasNotes, err := s.claimVoid(ctx, tenantID, id)
	if err != nil {
		return Invoice{}, err
	}
	inv, err := s.voidLeased(ctx, tenantID, id, hasNotes)
	return inv, errors.Join(err, s.store.leaseVoid(context.WithoutCancel(ctx), tenantID, id, nil))
}

// claimVoid leases the voiding of an invoice to the caller. It waits while another caller voids the
// invoice. It reports whether the invoice has a credit note that is pending or issued.
func (s *Service) claimVoid(ctx context.Context, tenantID, id uuid.UUID) (hasNotes bool, _ error) {
	for began := s.deps.Lease.Now(); ; {
		var isBusy bool
		err := s.deps.DB.Tx(ctx, func(ctx context.Context) (err error) {
			if err := s.lockCaller(ctx, tenantID); err != nil {
				return err
			}
			now := s.deps.Lease.Now()
			if isBusy, err = s.store.isVoiding(ctx, tenantID, id, now); err != nil || isBusy {
				return err
			}
			if hasNotes, err = s.store.hasCreditNote(ctx, tenantID, id); err != nil {
				return err
			}
			until := now.Add(voidLease)
			return s.store.leaseVoid(ctx, tenantID, id, &until)
		})
		switch {
		case err != nil || !isBusy:
			return hasNotes, err
		case s.deps.Lease.Now().Sub(began) >= voidWait:
			return false, errNotVoidable
		case !clock.Pause(ctx, voidPause):
			return false, ctx.Err()
		}
	}
}

// lockCaller locks the tenant and checks the caller's rights again.
func (s *Service) lockCaller(ctx context.Context, tenantID uuid.UUID) error {
	if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
		return err
	}
	return authz.Recheck(ctx)
}

// IsVoiding reports whether a caller is voiding an invoice. Call it under the tenant's lock.
func (s *Service) IsVoiding(ctx context.Context, tenantID, id uuid.UUID) (bool, error) {
	return s.store.isVoiding(ctx, tenantID, id, s.deps.Lease.Now())
}

// voidLeased voids an invoice whose voiding is leased to the caller.
func (s *Service) voidLeased(ctx context.Context, tenantID, id uuid.UUID, hasNotes bool) (Invoice, error) {
	before, err := s.source.get(ctx, tenantID, id)
	switch {
	case err != nil:
		return Invoice{}, err
	case before.Status.IsFinal():
		return Invoice{}, errNotVoidable
	case hasNotes:
		return Invoice{}, errHasNotes
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
	if err := s.storeVoid(ctx, before, after); err != nil {
		return after, err
	}
	now, err := s.source.get(ctx, tenantID, id)
	if before.Status == StatusDraft && errors.Is(err, errNotFound) {
		return after, nil // voiding deleted the draft
	}
	return now, err
}

// storeVoid stores and audits that an invoice was voided at the provider. An event may have changed
// the status before.
func (s *Service) storeVoid(ctx context.Context, before, after Invoice) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, after.TenantID); err != nil {
			return err
		}
		if s.deps.Issuing != nil {
			if err := s.store.move(ctx, after, s.deps.Clock.Now()); err != nil {
				return err
			}
		}
		if err := s.store.voidCopy(ctx, after); err != nil {
			return err
		}
		if before.Status != StatusDraft {
			if _, err := s.publish(ctx, after); err != nil {
				return err
			}
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "invoice.voided", TenantID: &after.TenantID, Resource: "invoice", ResourceID: after.ID.String(),
			Before: map[string]any{"status": before.Status}, After: map[string]any{"status": after.Status},
		})
	})
}

// readBack stores the provider's current state of an invoice.
func (s *Service) readBack(ctx context.Context, tenantID uuid.UUID, pspID string) error {
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return err
	}
	return s.storeRead(ctx, tenantID, in)
}
