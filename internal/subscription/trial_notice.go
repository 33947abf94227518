package subscription

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/psp"
)

// TrialEvent handles the notification that a trial is about to end. It mails the tenant once per
// end date, unless the subscription ends with the trial. It uses the stored state, which
// SubscriptionEvent has read back before.
func (s *Service) TrialEvent(ctx context.Context, e psp.Event) error {
	sub, err := s.store.byPSPID(ctx, e.ObjectID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		isNew, err := s.store.markTrialEndMailed(ctx, sub)
		if err != nil || !isNew {
			return err
		}
		current, err := s.store.byPSPID(ctx, e.ObjectID)
		if err != nil {
			return err
		}
		return s.mailTrial(ctx, current, s.deps.Tenants.BillingEmail, s.deps.Letters.TrialEnds)
	})
}
