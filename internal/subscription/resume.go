package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/psp"
)

// resume removes the scheduled end of a running subscription. It fails with
// subscription_not_resumable if no end is scheduled.
func (s *Service) resume(ctx context.Context, load loader) (Subscription, error) {
	return s.operate(ctx, steps{
		load: load,
		check: func(_ context.Context, sub Subscription) (instruction, verdict, error) {
			if !sub.IsEnding() {
				return instruction{}, nothingToDo, errNotResumable
			}
			return instruction{Kind: opResume}, mustSend, nil
		},
		repeats: isKind(opResume),
		send:    s.sendResume,
	})
}

// sendResume clears the scheduled end, which is either the end of the period or a date. One request
// cannot clear both. If the end has changed from one form to the other in the meantime, the response
// shows this, and sendResume clears the new end as well.
func (s *Service) sendResume(ctx context.Context, op operation) error {
	after, err := s.clearEnd(ctx, op, op.before.CancelAtPeriodEnd, op.key())
	if err == nil && after.CancelAt != nil {
		_, err = s.clearEnd(ctx, op, after.CancelAtPeriodEnd, op.key()+"-other")
	}
	return err
}

func (s *Service) clearEnd(ctx context.Context, op operation, withPeriod bool, key string) (psp.Subscription, error) {
	if withPeriod {
		return s.deps.Provider.SetCancelAtPeriodEnd(ctx, op.before.PSPSubscriptionID, false, key)
	}
	return s.deps.Provider.ClearCancelAt(ctx, op.before.PSPSubscriptionID, key)
}
