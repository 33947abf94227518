package invoice

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/invoices"
)

// StoreRefunds stores the refunds of a provider's invoice and publishes invoice.refunded for new ones.
// It calls the function then in the same transaction, under the tenant's lock. It ignores unknown
// invoices.
func (s *Service) StoreRefunds(
	ctx context.Context, pspID string, refunds []invoices.Refund, then func(ctx context.Context, tenantID, id uuid.UUID) error,
) error {
	tenantID, id, err := s.Find(ctx, pspID)
	if err != nil || id == uuid.Nil {
		return err
	}
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		isNew, err := s.deps.Payments.StoreRefunds(ctx, tenantID, id, refunds)
		if err != nil {
			return err
		}
		if isNew {
			if err := s.publishRefund(ctx, tenantID, in); err != nil {
				return err
			}
		}
		return then(ctx, tenantID, id)
	})
}

// publishRefund adds the event invoice.refunded to the outbox.
func (s *Service) publishRefund(ctx context.Context, tenantID uuid.UUID, in psp.Invoice) error {
	if s.deps.Issuing != nil {
		issued, err := s.store.isIssued(ctx, tenantID, in.ID)
		if err != nil || !issued {
			return err
		}
	}
	return hook.Publish(ctx, s.deps.Events, hook.InvoiceRefunded, tenantID, func(ctx context.Context) (any, error) {
		inv, err := s.translate(ctx, tenantID, in)
		return view(inv), err
	})
}

// translate returns the tenant's invoice for a provider's invoice that was just read. If this
// service issues invoices, it is the issued invoice. translate does not call other systems.
func (s *Service) translate(ctx context.Context, tenantID uuid.UUID, in psp.Invoice) (Invoice, error) {
	if s.deps.Issuing != nil {
		inv, err := s.store.invoice(ctx, tenantID, stableID(in.ID, in.CreatedAt))
		if !errors.Is(err, errNotFound) {
			return inv, err
		}
	}
	refs, err := s.store.references(ctx, tenantID, in)
	if err != nil {
		return Invoice{}, err
	}
	locale, err := s.locale(ctx, tenantID)
	if err != nil {
		return Invoice{}, err
	}
	one := []Invoice{fromProvider(tenantID, in, refs, locale)}
	err = s.store.addStored(ctx, tenantID, one, []psp.Invoice{in})
	return one[0], err
}
