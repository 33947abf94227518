package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
)

// ChangeEntry returns the entry of the audit trail for a change that led from s to
// another state.
func (s Subscription) ChangeEntry(action string, after Subscription) audit.Entry {
	return audit.Entry{
		Action: action, TenantID: &s.TenantID, Resource: "subscription", ResourceID: s.ID.String(),
		Before: s.recorded(), After: after.recorded(),
	}
}

// CancelEntry is ChangeEntry for a cancellation.
func (s Subscription) CancelEntry(after Subscription, immediately bool, reason *string) audit.Entry {
	e := s.ChangeEntry("subscription.canceled", after)
	state := after.recorded()
	state["immediately"], state["reason"] = immediately, reason
	e.After = state
	return e
}

func (s Subscription) recorded() map[string]any {
	return map[string]any{
		"status": s.Status, "plan_id": s.PlanID, "quantity": s.Quantity, "cancel_at_period_end": s.Ending(),
	}
}

// CountDeparture notes, in the transaction in which a member leaves a team, that its
// seat is billed no longer than until the quantity follows.
func (s *Service) CountDeparture(ctx context.Context, tenantID uuid.UUID) error {
	return s.store.countDeparture(ctx, tenantID)
}

// SeatsFollowed notes that the quantity has followed so many departures.
func (s *Service) SeatsFollowed(ctx context.Context, sub Subscription, departures int64) error {
	if departures == 0 {
		return nil
	}
	return s.store.forgetDepartures(ctx, sub, departures)
}

// SetReason stores why a subscription ends, nil where it does not any more.
func (s *Service) SetReason(ctx context.Context, sub Subscription, reason *string) error {
	return s.store.setReason(ctx, sub, reason, s.deps.Clock.Now())
}
