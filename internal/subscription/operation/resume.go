package operation

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// Resume takes a scheduled end of the tenant's running subscription back. A
// subscription without one is refused (subscription_not_resumable).
func (s *Service) Resume(ctx context.Context, tenantID uuid.UUID) (subscription.Subscription, error) {
	return s.operate(ctx, resume{ofRunning{s, tenantID}})
}

// resume takes a scheduled end back.
type resume struct{ ofRunning }

func (resume) continues(pending instruction) bool { return pending.Kind == opResume }

func (resume) prepare(_ context.Context, sub subscription.Subscription) (instruction, error) {
	if !sub.Ending() {
		return instruction{}, errNotResumable
	}
	return instruction{Kind: opResume}, nil
}

// send clears what is set of the two ways to schedule an end, never both. Where it was
// scheduled the other way meanwhile, the answer shows it.
func (r resume) send(ctx context.Context, op operation) error {
	after, err := r.clear(ctx, op, op.before.CancelAtPeriodEnd, op.key())
	if err == nil && after.CancelAt != nil {
		_, err = r.clear(ctx, op, after.CancelAtPeriodEnd, op.key()+"-other")
	}
	return err
}

func (r resume) clear(ctx context.Context, op operation, withPeriod bool, key string) (psp.Subscription, error) {
	if withPeriod {
		return r.svc.deps.Provider.SetCancelAtPeriodEnd(ctx, op.before.PSPSubscriptionID, false, key)
	}
	return r.svc.deps.Provider.ClearCancelAt(ctx, op.before.PSPSubscriptionID, key)
}
