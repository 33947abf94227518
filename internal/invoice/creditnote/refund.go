package creditnote

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/invoices"
)

// NoteEvent handles the provider's credit note events.
func (s *Service) NoteEvent(ctx context.Context, e psp.Event) error {
	pspInvoiceID, err := s.deps.Notes.InvoiceOf(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	tenantID, id, err := s.deps.Invoices.Find(ctx, pspInvoiceID)
	if err != nil || id == uuid.Nil {
		return err
	}
	_, err = s.load(ctx, tenantID, id)
	return err
}

// RefundEvent handles the provider's refund events. Their object is a refund.
func (s *Service) RefundEvent(ctx context.Context, e psp.Event) error {
	charge, err := s.deps.Notes.ChargeOf(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) || err == nil && charge == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return s.ChargeEvent(ctx, psp.Event{ObjectID: charge})
}

// ChargeEvent handles the provider's event about a refunded charge.
func (s *Service) ChargeEvent(ctx context.Context, e psp.Event) error {
	invoices, err := s.deps.Notes.InvoicesOf(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, pspID := range invoices {
		if err := s.followRefunds(ctx, pspID); err != nil {
			return err
		}
	}
	return nil
}

// followRefunds stores the refunds of a provider's invoice and the statuses of the credit notes
// that they belong to.
//
// Invariant: refunds are read back regardless of the content of the notification, and their
// statuses change only from pending to succeeded to failed. So repeated and reordered notifications
// change nothing.
func (s *Service) followRefunds(ctx context.Context, pspID string) error {
	payments, err := s.deps.Notes.Payments(ctx, pspID)
	if err != nil {
		return err
	}
	var refunds []invoices.Refund
	for _, p := range payments {
		refunds = append(refunds, p.Refunds...)
	}
	if len(refunds) == 0 {
		return nil
	}
	return s.deps.Invoices.StoreRefunds(ctx, pspID, refunds, func(ctx context.Context, tenantID, _ uuid.UUID) error {
		for _, r := range refunds {
			if err := s.applyRefund(ctx, tenantID, r); err != nil {
				return err
			}
		}
		return s.deps.Returned(ctx, tenantID)
	})
}

// applyRefund updates the credit note of a refund.
func (s *Service) applyRefund(ctx context.Context, tenantID uuid.UUID, r invoices.Refund) error {
	noteID, _, isRetry := strings.Cut(r.Key, "/")
	if id, err := uuid.Parse(noteID); isRetry && err == nil {
		n, err := s.store.get(ctx, tenantID, id)
		if err != nil && !errors.Is(err, errNotFound) {
			return err
		}
		if err == nil && n.retry != nil && n.retryKey() == r.Key {
			return s.completeRetry(ctx, n, r)
		}
	}
	return s.store.setRefundStatus(ctx, tenantID, r.ID, r.Status)
}

// completeRetry records the refund that replaces the failed one.
func (s *Service) completeRetry(ctx context.Context, n Note, r invoices.Refund) error {
	if err := s.store.completeRetry(ctx, n, r); err != nil {
		return err
	}
	return s.deps.Audit.Record(n.retry.By.NewContext(ctx), audit.Entry{
		Action: "credit_note.refund_retried", TenantID: &n.TenantID, Resource: "credit_note", ResourceID: n.ID.String(),
		Before: map[string]any{"refund_status": n.RefundStatus}, After: map[string]any{"refund_status": r.Status},
	})
}

// retryRefund refunds the amount of a failed refund again.
//
// Invariant: a credit note has at most one pending retry. The retry is committed under the tenant's
// lock before the provider is called, and its ID names the provider's refund. So concurrent and
// repeated requests refund once.
func (s *Service) retryRefund(ctx context.Context, tenantID, id uuid.UUID) (Note, error) {
	for began := s.deps.Lease.Now(); ; {
		n, isBusy, err := s.claimRetry(ctx, tenantID, id)
		if err != nil {
			return Note{}, err
		}
		if !isBusy {
			if err := s.sendRetry(ctx, n); err != nil {
				return Note{}, err
			}
			return s.get(ctx, tenantID, id)
		}
		if s.deps.Lease.Now().Sub(began) >= busyWait || !clock.Pause(ctx, pollInterval) {
			return Note{}, errBusy
		}
	}
}

func (s *Service) claimRetry(ctx context.Context, tenantID, id uuid.UUID) (n Note, isBusy bool, _ error) {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) (err error) {
		if _, err := s.deps.Tenants.LockLive(ctx, tenantID); err != nil {
			return err
		}
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		if n, err = s.get(ctx, tenantID, id); err != nil {
			return err
		}
		now := s.deps.Lease.Now()
		if isBusy = n.retry != nil && n.leasedUntil.After(now); isBusy {
			return nil
		}
		if n.RefundStatus != invoices.RefundFailed {
			return errNotFailed
		}
		if n.retry == nil {
			n.retry = &retry{ID: uuid.New(), By: authz.OriginOf(ctx)}
		}
		return s.store.setRetry(ctx, n, n.retry, now.Add(leaseTime))
	})
	return n, isBusy, err
}

// sendRetry makes the refund, unless an earlier attempt has made it, and stores it.
func (s *Service) sendRetry(ctx context.Context, n Note) error {
	payments, err := s.deps.Notes.Payments(ctx, n.pspInvoiceID)
	if err == nil {
		err = s.refundOnce(ctx, n, payments)
	}
	if err == nil {
		err = s.followRefunds(context.WithoutCancel(ctx), n.pspInvoiceID)
	}
	if err == nil {
		return nil
	}
	left := n.retry
	if errors.Is(err, errTooLarge) || errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		left = nil // nothing was refunded
	}
	return errors.Join(err, s.endRetry(context.WithoutCancel(ctx), n, left))
}

// endRetry releases the lease of a retry and stores left in its place: the retry itself if its
// outcome is unknown, or nil to delete it.
func (s *Service) endRetry(ctx context.Context, n Note, left *retry) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, n.TenantID); err != nil {
			return err
		}
		current, err := s.store.get(ctx, n.TenantID, n.ID)
		if err != nil || current.retry == nil || current.retry.ID != n.retry.ID {
			return err
		}
		return s.store.setRetry(ctx, n, left, s.deps.Lease.Now())
	})
}

func (s *Service) refundOnce(ctx context.Context, n Note, payments []invoices.Payment) error {
	amount := n.Total.AmountCents
	for _, p := range payments {
		for _, r := range p.Refunds {
			switch {
			case r.Key == n.retryKey():
				return nil
			case r.ID == n.pspRefundID:
				amount = r.Amount
			}
		}
	}
	var left int64
	for _, p := range payments {
		if p.RefundableAmount() >= amount {
			_, err := s.deps.Notes.Refund(ctx, p, amount, n.retryKey())
			return err
		}
		left += p.RefundableAmount()
	}
	m := n.Total
	m.AmountCents = left
	return errTooLarge.With("amount_left", m)
}
