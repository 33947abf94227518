package subscription

import (
	"context"
	"time"
)

// oldestUnpaid returns the oldest unpaid invoice of a past_due subscription, read from the provider.
// The provider does not store when a bank debit failed, so Since is then the time at which the failure
// was first read.
func (s *Service) oldestUnpaid(ctx context.Context, known, next Subscription) (*UnpaidInvoice, error) {
	if next.Status != PastDue {
		return nil, nil //nolint:nilnil // there is none
	}
	now := s.deps.Clock.Now().Truncate(time.Second)
	found, err := s.deps.Provider.OldestUnpaid(ctx, next.PSPSubscriptionID, now)
	if err != nil || found == nil {
		return nil, err
	}
	unpaid := &UnpaidInvoice{PSPID: found.ID, Since: found.Since}
	if !found.Delayed {
		return unpaid, nil
	}
	unpaid.Since = now
	if known.Unpaid != nil && known.Unpaid.PSPID == found.ID {
		unpaid.Since = known.Unpaid.Since
	}
	return unpaid, nil
}

// featuresUntil returns the end of the grace period of a subscription that is past_due, or nil
// without a grace period (rules: subscription#grace-period).
func (s *Service) featuresUntil(sub Subscription) *time.Time {
	if sub.Status != PastDue || sub.Unpaid == nil || s.deps.Grace == 0 {
		return nil
	}
	end := sub.Unpaid.Since.Add(s.deps.Grace)
	return &end
}
