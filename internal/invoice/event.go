package invoice

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Event handles notifications about the provider's invoices. What the
// notification said does not matter: the invoice is read back.
func (s *Service) Event(ctx context.Context, e psp.Event) error {
	_, _, err := s.follow(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) {
		return s.forget(ctx, e.ObjectID) // a draft that was deleted: it never had a number
	}
	return err
}

// FailureEvent handles the notification of a payment that did not go through: the
// tenant is told of each.
func (s *Service) FailureEvent(ctx context.Context, e psp.Event) error {
	in, tenantID, err := s.follow(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	if err != nil || tenantID == uuid.Nil {
		return err
	}
	return s.tellOfFailure(ctx, tenantID, in, e.ID)
}

// follow reads an invoice of the provider and takes it over. It returns it with
// its tenant, Nil for a stranger's.
func (s *Service) follow(ctx context.Context, pspID string) (psp.Invoice, uuid.UUID, error) {
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return in, uuid.Nil, err
	}
	tenantID, err := s.store.tenantOf(ctx, in.CustomerID)
	if err != nil || tenantID == uuid.Nil {
		return in, tenantID, err
	}
	// The notification of an invoice may come before that of what it bills.
	if in.SubscriptionID != "" && s.deps.Issuing != nil {
		if err := s.deps.Subscriptions.SubscriptionEvent(ctx, psp.Event{ObjectID: in.SubscriptionID}); err != nil {
			return in, tenantID, err
		}
	}
	return in, tenantID, s.take(ctx, tenantID, in)
}

// forget drops what an invoice was called here that the provider does not have
// any more. One that was issued here stays.
func (s *Service) forget(ctx context.Context, pspID string) error {
	tenantID, err := s.store.q(ctx).TenantOfPSPInvoice(ctx, pspID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		return s.store.q(ctx).ForgetPSPInvoice(ctx, invoicesql.ForgetPSPInvoiceParams{TenantID: tenantID, PSPInvoiceID: pspID})
	})
}
