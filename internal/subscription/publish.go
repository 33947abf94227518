package subscription

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/hook"
)

// publishChange adds one event about a change to the outbox, with the most specific type. Call it
// at the end of the transaction that stores the change. If the view is unchanged, it publishes
// nothing (rules: webhooks#types).
func (s *Service) publishChange(ctx context.Context, before, after Subscription) error {
	switch {
	case after.Status == Canceled && before.Status != Canceled:
		return s.publish(ctx, hook.SubscriptionCanceled, after)
	case after.Status == PastDue && before.Status != PastDue:
		return s.publish(ctx, hook.SubscriptionPastDue, after)
	case before.hasSameView(after) && sameTime(s.featuresUntil(before), s.featuresUntil(after)):
		return nil
	default:
		return s.publish(ctx, hook.SubscriptionUpdated, after)
	}
}

// publish adds an event about a subscription to the outbox, and another one if the entitlements of
// the tenant changed with it.
func (s *Service) publish(ctx context.Context, t hook.Type, sub Subscription) error {
	if err := s.deps.Entitlements.PublishChange(ctx, sub.TenantID); err != nil {
		return err
	}
	return hook.Publish(ctx, s.deps.Events, t, sub.TenantID, func(ctx context.Context) (any, error) {
		now, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID) // the transaction may also have stored a reason
		if err != nil {
			return nil, err
		}
		return s.view(ctx, now)
	})
}

// hasSameView reports whether the API shows two states alike, except for updated_at. It ignores the
// cancellation reason, which only changes together with another field.
func (s Subscription) hasSameView(o Subscription) bool {
	return s.Terms == o.Terms && s.CustomPrice == o.CustomPrice && s.Status == o.Status && s.PlanID == o.PlanID && s.PriceCents == o.PriceCents && s.Quantity == o.Quantity &&
		s.Interval() == o.Interval() && s.CurrentPeriodStart.Equal(o.CurrentPeriodStart) && s.CurrentPeriodEnd.Equal(o.CurrentPeriodEnd) &&
		sameTime(s.TrialEndsAt, o.TrialEndsAt) && s.IsEnding() == o.IsEnding() && sameTime(s.CancelAt, o.CancelAt) &&
		sameTime(s.CanceledAt, o.CanceledAt) && s.Action == o.Action && s.asksForCard(o.UpdatedAt) == o.asksForCard(o.UpdatedAt) && s.Pending.hasSameView(o.Pending) &&
		s.liveDiscount().hasSameView(o.liveDiscount()) && s.Scheduled.hasSameView(o.Scheduled)
}

func (p *PendingChange) hasSameView(o *PendingChange) bool {
	if p == nil || o == nil {
		return p == o
	}
	return p.PlanID == o.PlanID && p.ExpiresAt.Equal(o.ExpiresAt)
}

func (d *Discount) hasSameView(o *Discount) bool {
	if d == nil || o == nil {
		return d == o
	}
	return d.ID == o.ID && sameTime(d.EndsAt, o.EndsAt)
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
