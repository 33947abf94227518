package operation

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// Cancellation says how a subscription is to end.
type Cancellation struct {
	// Immediately ends it now, else with its current period.
	Immediately bool
	Reason      *string
}

// of returns the operation that ends a subscription so.
func (c Cancellation) of(e ending) kind {
	e.reason = c.Reason
	if c.Immediately {
		return cancelNow{e}
	}
	return cancel{e}
}

// Cancel ends the tenant's running subscription, at the provider first.
func (s *Service) Cancel(ctx context.Context, tenantID uuid.UUID, c Cancellation) (subscription.Subscription, error) {
	return s.operate(ctx, c.of(ending{ofRunning: ofRunning{s, tenantID}}))
}

// CancelOne is Cancel for the administration, which names the subscription: one
// that the tenant does not have is refused (404), and so is one whose status does
// not allow it (SUBSCRIPTION_CANNOT_BE_CANCELED).
func (s *Service) CancelOne(ctx context.Context, tenantID, id uuid.UUID, c Cancellation) (subscription.Subscription, error) {
	return s.operate(ctx, c.of(ending{ofRunning: ofRunning{s, tenantID}, id: id}))
}

// ending has what the two cancellations share.
type ending struct {
	ofRunning
	id     uuid.UUID // of the subscription; Nil for the tenant's running one
	reason *string
}

func (e ending) load(ctx context.Context) (subscription.Subscription, error) {
	if e.id == uuid.Nil {
		return e.ofRunning.load(ctx)
	}
	sub, err := e.svc.deps.Subscriptions.Get(ctx, e.tenantID, e.id)
	if err == nil && !sub.Status.Running() {
		err = errNotCancelable
	}
	return sub, err
}

func (e ending) refusal(err error) error { return goneOr(err, e.gone()) }

// dropWaiting ends a change that waits; one that was paid meanwhile is made, and ends
// with the subscription.
func (e ending) dropWaiting(ctx context.Context, op operation) error {
	err := e.svc.dropWaiting(ctx, op)
	if errors.Is(err, psp.ErrRefused) {
		return nil
	}
	return err
}

func (e ending) gone() error {
	if e.id == uuid.Nil {
		return subscription.ErrNotFound
	}
	return errNotCancelable
}

// cancel ends a subscription with its period.
type cancel struct{ ending }

func (cancel) continues(pending instruction) bool { return pending.Kind == opCancel }

func (c cancel) prepare(context.Context, subscription.Subscription) (instruction, error) {
	return instruction{Kind: opCancel, Reason: c.reason}, nil
}

func (c cancel) send(ctx context.Context, op operation) error {
	if err := c.dropWaiting(ctx, op); err != nil {
		return err
	}
	_, err := c.svc.deps.Provider.SetCancelAtPeriodEnd(ctx, op.before.PSPSubscriptionID, true, op.key())
	return err
}

// cancelNow ends a subscription at once. What is owed goes on a final invoice: usage so
// far and changes of seats that waited for the next invoice.
type cancelNow struct{ ending }

func (cancelNow) continues(pending instruction) bool { return pending.Kind == opCancelNow }

func (c cancelNow) prepare(context.Context, subscription.Subscription) (instruction, error) {
	return instruction{Kind: opCancelNow, Reason: c.reason, Usage: usageSettled}, nil
}

func (c cancelNow) send(ctx context.Context, op operation) error {
	if err := c.dropWaiting(ctx, op); err != nil {
		return err
	}
	if err := c.svc.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
		return err
	}
	// The invoice that waits for its collection decides what was paid.
	if err := c.svc.deps.Provider.CollectDue(ctx, op.before.PSPSubscriptionID, op.key()); err != nil {
		return err
	}
	if err := c.svc.chargeUnpaidCredit(ctx, op); err != nil {
		return err
	}
	_, err := c.svc.deps.Provider.EndSubscription(ctx, op.before.PSPSubscriptionID, op.key())
	return err
}
