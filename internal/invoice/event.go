package invoice

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// Event handles the provider's invoice events. It ignores the payload and reads the current invoice
// from the provider.
func (s *Service) Event(ctx context.Context, e psp.Event) error {
	_, _, err := s.follow(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) {
		return s.deleteID(ctx, e.ObjectID) // a deleted draft, which never had a number
	}
	if errors.Is(err, errUnknownCustomer) {
		return nil
	}
	return err
}

// Store reads an invoice from the provider, stores it as its notification would, and returns its ID.
func (s *Service) Store(ctx context.Context, pspID string) (uuid.UUID, error) {
	in, _, err := s.follow(ctx, pspID)
	return stableID(in.ID, in.CreatedAt), err
}

// FailureEvent handles a failed-payment event. The tenant receives one mail for each event
// (rules: invoices#failed-payments).
func (s *Service) FailureEvent(ctx context.Context, e psp.Event) error {
	in, tenantID, err := s.follow(ctx, e.ObjectID)
	if errors.Is(err, psp.ErrNotFound) || errors.Is(err, errUnknownCustomer) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.mailFailure(ctx, tenantID, in, e.ID)
}

// follow reads an invoice from the provider and stores its state. It returns the invoice and its
// tenant, or errUnknownCustomer if no tenant has the customer.
func (s *Service) follow(ctx context.Context, pspID string) (psp.Invoice, uuid.UUID, error) {
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if err != nil {
		return in, uuid.Nil, err
	}
	tenantID, err := s.store.tenantOf(ctx, in.CustomerID)
	if err != nil {
		return in, uuid.Nil, err
	}
	// An invoice event can arrive before the event of its subscription, and the subscription shows
	// the invoice's payment action too. So refresh the subscription first.
	if in, err = s.sendNow(ctx, in); err != nil {
		return in, tenantID, err
	}
	if in.SubscriptionID != "" && (s.deps.Issuing != nil || Status(in.Status) != StatusDraft) {
		if err := s.deps.Subscriptions.SubscriptionEvent(ctx, psp.Event{ObjectID: in.SubscriptionID}); err != nil {
			return in, tenantID, err
		}
	}
	return in, tenantID, s.storeRead(ctx, tenantID, in)
}

// sendNow finalizes a draft of a subscription that is paid by invoice, if the provider would
// finalize it late or never: the first invoice, the invoice of a change, or the last invoice after
// the end. It returns the finalized invoice.
func (s *Service) sendNow(ctx context.Context, in psp.Invoice) (psp.Invoice, error) {
	if !in.IsSent || Status(in.Status) != StatusDraft {
		return in, nil
	}
	if !in.IsSentAtOnce() {
		if in.AutoAdvance {
			return in, nil
		}
		if ended, err := s.deps.Provider.HasEnded(ctx, in.SubscriptionID); err != nil || !ended {
			return in, err
		}
	}
	if err := s.deps.Provider.FinalizeInvoice(ctx, in.ID); err != nil {
		return in, err
	}
	return s.deps.Provider.GetInvoice(ctx, in.ID)
}

// storeRead stores an invoice that was just read from the provider.
func (s *Service) storeRead(ctx context.Context, tenantID uuid.UUID, in psp.Invoice) error {
	state, err := s.deps.Payments.LoadState(ctx, in)
	if err != nil {
		return err
	}
	return s.storeFromProvider(ctx, tenantID, state)
}

// deleteID deletes the stored ID of an invoice that no longer exists at the provider. It keeps
// issued invoices.
func (s *Service) deleteID(ctx context.Context, pspID string) error {
	tenantID, id, err := s.store.find(ctx, pspID)
	if errors.Is(err, errNotStored) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		if issued, err := s.store.isIssued(ctx, tenantID, pspID); err != nil || issued {
			return err
		}
		if err := s.store.deleteCopy(ctx, Invoice{ID: id, TenantID: tenantID}); err != nil {
			return err
		}
		return s.store.deleteID(ctx, tenantID, pspID)
	})
}
