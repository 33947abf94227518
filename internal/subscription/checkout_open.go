package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// An open checkout is read back at most once per readBackInterval, regardless of the number of
// requests, and only within readBackWindow. The provider's page closes after a day.
const (
	readBackInterval = 3 * time.Second
	readBackWindow   = 48 * time.Hour
	lookTimeout      = 5 * time.Second
)

// CheckoutEvent handles notifications about checkout sessions. A completed session has started a
// subscription.
func (s *Service) CheckoutEvent(ctx context.Context, e psp.Event) error {
	return s.readCheckout(ctx, e.ObjectID)
}

// readCheckout reads a checkout back from the provider and stores the subscription that it started.
func (s *Service) readCheckout(ctx context.Context, sessionID string) error {
	session, err := s.deps.Provider.GetCheckout(ctx, sessionID)
	if err != nil {
		return psp.MarkPermanent(err)
	}
	if session.Status == psp.CheckoutExpired {
		return s.expireCheckout(ctx, tenantOfSession(session), session.ID)
	}
	if session.Status != psp.CheckoutComplete || session.SubscriptionID == "" {
		return nil
	}
	if err := s.TakeOver(ctx, session.SubscriptionID); err != nil {
		return err
	}
	if err := s.refundRefused(ctx, session); err != nil {
		return err
	}
	return s.store.completeCheckout(ctx, tenantOfSession(session), session.ID, s.deps.Clock.Now())
}

// refundRefused refunds a refused checkout that was paid after the refusal, for example by a bank
// debit.
func (s *Service) refundRefused(ctx context.Context, session psp.Checkout) error {
	if session.PaymentStatus != psp.PaymentPaid {
		return nil
	}
	id, _ := uuid.Parse(session.Metadata[metaCheckout]) // Nil for an invalid id; no checkout has it
	opened, err := s.store.loadCheckout(ctx, tenantOfSession(session), id)
	if errors.Is(err, errNoCheckout) || err == nil && !opened.refused {
		return nil
	}
	if err != nil {
		return err
	}
	opened.session = session.ID
	return s.refuse(ctx, opened, session.SubscriptionID, session.InvoiceID)
}

// tenantOfSession returns the tenant that opened a session, or Nil for a session of another program.
func tenantOfSession(session psp.Checkout) uuid.UUID {
	id, _ := uuid.Parse(session.Metadata[metaTenant])
	return id
}

// ReadOpenCheckouts reads the tenant's open checkouts back from the provider, to detect a payment
// before its notification arrives. Requests that show the tenant's subscription call it first, so
// that a tenant that has paid is not shown as unpaid. If the provider does not answer, the stored
// state is shown.
//
// Invariant: across all requests and instances, only one request at a time reads a checkout back,
// and at most once per readBackInterval.
func (s *Service) ReadOpenCheckouts(ctx context.Context, tenantID uuid.UUID) {
	now := s.deps.Clock.Now()
	open, err := s.store.listOpenCheckouts(ctx, tenantID, now.Add(-readBackWindow))
	if err != nil {
		s.deps.Log.ErrorContext(ctx, "failed to list open checkouts", "tenant_id", tenantID, "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for _, c := range open {
		if err := s.refreshCheckout(ctx, c, now); err != nil {
			s.deps.Log.WarnContext(ctx, "failed to read checkout", "tenant_id", tenantID, "error", err)
			return
		}
	}
}

func (s *Service) refreshCheckout(ctx context.Context, c checkout, now time.Time) error {
	claimed, err := s.store.claimReadBack(ctx, c, now, now.Add(-readBackInterval))
	if err != nil || !claimed {
		return err
	}
	return s.readCheckout(ctx, c.session)
}
