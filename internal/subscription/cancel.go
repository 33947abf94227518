package subscription

import (
	"context"

	"github.com/google/uuid"
)

// Cancellation says how a subscription is to end.
type Cancellation struct {
	// Immediately ends it now, else with its current period.
	Immediately bool
	Reason      *string
}

func (c Cancellation) request() request {
	if c.Immediately {
		return request{Kind: opCancelNow, Reason: c.Reason}
	}
	return request{Kind: opCancel, Reason: c.Reason}
}

// Running returns the tenant's subscription that is active, trialing or past_due:
// the one that can be canceled, resumed and changed. A tenant without one is
// refused (404).
func (s *Service) Running(ctx context.Context, tenantID uuid.UUID) (*Subscription, error) {
	sub, err := s.store.live(ctx, tenantID)
	if err == nil && (sub == nil || !sub.Status.Running()) {
		err = errNotFound
	}
	return sub, err
}

// Cancel ends the tenant's running subscription, at the provider first.
func (s *Service) Cancel(ctx context.Context, tenantID uuid.UUID, c Cancellation) (*Subscription, error) {
	return s.operate(ctx, action{
		find:    func(ctx context.Context) (*Subscription, error) { return s.Running(ctx, tenantID) },
		wanted:  c.request(),
		prepare: func(context.Context, Subscription) (request, error) { return c.request(), nil },
		gone:    errNotFound,
	})
}

// CancelOne is Cancel for the administration, which names the subscription: one
// that the tenant does not have is refused (404), and one whose status does not
// allow it (SUBSCRIPTION_CANNOT_BE_CANCELED).
func (s *Service) CancelOne(ctx context.Context, tenantID, id uuid.UUID, c Cancellation) (*Subscription, error) {
	return s.operate(ctx, action{
		find: func(ctx context.Context) (*Subscription, error) {
			sub, err := s.store.ofTenant(ctx, tenantID, id)
			switch {
			case err != nil:
				return nil, err
			case sub == nil:
				return nil, errNotFound
			case !sub.Status.Running():
				return nil, errNotCancelable
			}
			return sub, nil
		},
		wanted:  c.request(),
		prepare: func(context.Context, Subscription) (request, error) { return c.request(), nil },
		gone:    errNotCancelable,
	})
}

// Resume takes back that the tenant's running subscription ends with its period.
// One that does not is refused (subscription_not_resumable).
func (s *Service) Resume(ctx context.Context, tenantID uuid.UUID) (*Subscription, error) {
	return s.operate(ctx, action{
		find:   func(ctx context.Context) (*Subscription, error) { return s.Running(ctx, tenantID) },
		wanted: request{Kind: opResume},
		prepare: func(_ context.Context, sub Subscription) (request, error) {
			if !sub.CancelAtPeriodEnd {
				return request{}, errNotResumable
			}
			return request{Kind: opResume}, nil
		},
		gone: errNotFound,
	})
}
