package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// cancellation describes how a subscription ends.
type cancellation struct {
	immediately bool // otherwise at the end of the current period
	reason      *string
}

// instruction returns the instruction to end a subscription.
func (c cancellation) instruction() instruction {
	if c.immediately {
		return instruction{Kind: opCancelNow, Reason: c.reason, Usage: usageSettled}
	}
	return instruction{Kind: opCancel, Reason: c.reason}
}

// cancel ends the tenant's running subscription.
func (s *Service) cancel(ctx context.Context, tenantID uuid.UUID, c cancellation) (Subscription, error) {
	return s.end(ctx, c, steps{load: s.runningLoader(tenantID)})
}

// cancelByID is cancel for the admin API, which names the subscription. It rejects a subscription
// of another tenant (404) and a status that does not allow a cancellation
// (SUBSCRIPTION_CANNOT_BE_CANCELED).
func (s *Service) cancelByID(ctx context.Context, tenantID, id uuid.UUID, c cancellation) (Subscription, error) {
	return s.end(ctx, c, steps{
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

// end runs the operation that ends a subscription. The callers set the load step and the missing error.
func (s *Service) end(ctx context.Context, c cancellation, o steps) (Subscription, error) {
	in := c.instruction()
	o.check = func(context.Context, Subscription) (instruction, verdict, error) { return in, mustSend, nil }
	o.repeats = isKind(in.Kind)
	o.send = s.sendCancellation
	return s.operate(ctx, o)
}

// sendCancellation ends a subscription and drops its pending change. For an immediate cancellation,
// the final invoice includes the usage so far and the pending changes of seats.
func (s *Service) sendCancellation(ctx context.Context, op operation) error {
	if err := s.releaseSchedule(ctx, op); err != nil {
		return err
	}
	if err := s.dropPending(ctx, op); err != nil && !errors.Is(err, psp.ErrRefused) { // refused: already paid
		return err
	}
	if op.Kind == opCancel {
		_, err := s.deps.Provider.SetCancelAtPeriodEnd(ctx, op.before.PSPSubscriptionID, true, op.key())
		return err
	}
	if err := s.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
		return err
	}
	// A draft invoice must be collected first, because it determines the paid amount.
	if err := s.deps.Provider.CollectDue(ctx, op.before.PSPSubscriptionID, op.key()); err != nil {
		return err
	}
	if err := s.chargeUnpaidCredit(ctx, op); err != nil {
		return err
	}
	_, err := s.deps.Provider.EndSubscription(ctx, op.before.PSPSubscriptionID, op.key())
	if err == nil {
		s.sendInvoices(ctx, op, true)
	}
	return err
}
