package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// A checkout that waits for its notification is looked at this often at most,
// however many requests wait for it, and only while its page can have been paid:
// the provider closes it after a day.
const (
	lookEvery   = 3 * time.Second
	lookFor     = 48 * time.Hour
	lookTimeout = 5 * time.Second
)

// Settle finds a payment that no notification has told of yet: the tenant's open
// checkouts are read back from the provider. It is for requests that show what a
// tenant has, so that nobody who has paid is shown as unpaid because a
// notification is late; where the provider does not answer they show what is
// known.
//
// Invariant: of all requests and instances one at a time looks at a checkout,
// and not more often than every lookEvery.
func (s *Service) Settle(ctx context.Context, tenantID uuid.UUID) {
	now := s.deps.Clock.Now()
	open, err := s.store.q(ctx).OpenCheckouts(ctx, subscriptionsql.OpenCheckoutsParams{TenantID: tenantID, Since: now.Add(-lookFor)})
	if err != nil {
		s.deps.Log.ErrorContext(ctx, "open checkouts could not be listed", "tenant_id", tenantID, "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for _, c := range open {
		if err := s.look(ctx, tenantID, c, now); err != nil {
			s.deps.Log.WarnContext(ctx, "a checkout could not be read back", "tenant_id", tenantID, "error", err)
			return
		}
	}
}

func (s *Service) look(ctx context.Context, tenantID uuid.UUID, c subscriptionsql.OpenCheckoutsRow, now time.Time) error {
	mine, err := s.store.q(ctx).LookAtCheckout(ctx, subscriptionsql.LookAtCheckoutParams{
		TenantID: tenantID, ID: c.ID, Now: &now, NotSince: addOrNil(now, -lookEvery),
	})
	if err != nil || mine == 0 {
		return err
	}
	return s.CheckoutEvent(ctx, psp.Event{ObjectID: *c.PSPSessionID})
}

func addOrNil(t time.Time, d time.Duration) *time.Time {
	t = t.Add(d)
	return &t
}

// Forget removes the checkouts of a tenant that is about to be discarded, and
// what the provider calls it.
func (s *Service) Forget(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.q(ctx).DeleteCheckouts(ctx, tenantID); err != nil {
			return err
		}
		if err := s.store.q(ctx).DeleteFormerCustomers(ctx, tenantID); err != nil {
			return err
		}
		return s.store.q(ctx).DeleteCustomer(ctx, tenantID)
	})
}
