package operation

import (
	"context"

	"github.com/google/uuid"

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
	if !sub.CancelAtPeriodEnd {
		return instruction{}, errNotResumable
	}
	return instruction{Kind: opResume}, nil
}

func (r resume) send(ctx context.Context, op operation) error {
	_, err := r.svc.deps.Provider.SetCancelAtPeriodEnd(ctx, op.before.PSPSubscriptionID, false, op.key())
	return err
}
