package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// cancellation says how a subscription is to end.
type cancellation struct {
	immediately bool // else with its current period
	reason      *string
}

// instruction returns the order to end a subscription.
func (c cancellation) instruction() instruction {
	if c.immediately {
		return instruction{Kind: opCancelNow, Reason: c.reason, Usage: usageSettled}
	}
	return instruction{Kind: opCancel, Reason: c.reason}
}

// cancel ends the tenant's running subscription.
func (s *Service) cancel(ctx context.Context, tenantID uuid.UUID, c cancellation) (Subscription, error) {
	return s.end(ctx, c, request{
		load:    s.runningLoader(tenantID),
		missing: ErrNotFound,
	})
}

// cancelByID is cancel for the administration, which names the subscription. It refuses a
// subscription that the tenant does not have (404), and a status that does not allow it
// (SUBSCRIPTION_CANNOT_BE_CANCELED).
func (s *Service) cancelByID(ctx context.Context, tenantID, id uuid.UUID, c cancellation) (Subscription, error) {
	return s.end(ctx, c, request{
		load: func(ctx context.Context) (Subscription, error) {
			sub, err := s.store.byID(ctx, tenantID, id)
			if err == nil && !sub.Status.IsRunning() {
				err = errNotCancelable
			}
			return sub, err
		},
		missing: errNotCancelable,
	})
}

// end is the operation of both: r has what differs.
func (s *Service) end(ctx context.Context, c cancellation, r request) (Subscription, error) {
	in := c.instruction()
	r.repeats = isKind(in.Kind)
	r.check = func(context.Context, Subscription) (instruction, verdict, error) { return in, mustSend, nil }
	op, claimed, err := s.claim(ctx, r)
	if err != nil || !claimed {
		return op.before, err
	}
	return s.settle(ctx, op, notFoundAs(r.missing, s.sendCancellation(ctx, op)))
}

// sendCancellation ends a subscription, and a pending change with it. At once, the final
// invoice has what is owed: usage so far and changes of seats that waited for the next invoice.
func (s *Service) sendCancellation(ctx context.Context, op operation) error {
	if err := s.dropPending(ctx, op); err != nil && !errors.Is(err, psp.ErrRefused) { // refused: it was paid meanwhile
		return err
	}
	if op.Kind == opCancel {
		_, err := s.deps.Provider.SetCancelAtPeriodEnd(ctx, op.before.PSPSubscriptionID, true, op.key())
		return err
	}
	if err := s.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
		return err
	}
	// The invoice that waits for its collection decides what was paid.
	if err := s.deps.Provider.CollectDue(ctx, op.before.PSPSubscriptionID, op.key()); err != nil {
		return err
	}
	if err := s.chargeUnpaidCredit(ctx, op); err != nil {
		return err
	}
	_, err := s.deps.Provider.EndSubscription(ctx, op.before.PSPSubscriptionID, op.key())
	return err
}
