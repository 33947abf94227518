package psp_test

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
)

// scheduleWorks sets, replaces and releases the schedule of a subscription.
func scheduleWorks(
	step func(string, func(ctx context.Context) error), is func(string, bool), p counterpart, id, price string,
) {
	schedules := subscriptions.Schedules{Client: p.Client}
	next := subscriptions.NextPeriod{
		PriceID: price, Quantity: 2, IntervalUnit: psp.IntervalMonth, IntervalCount: 3,
		Metadata: map[string]string{"plan_id": "p"}, Notes: map[string]string{"seats": "2"},
	}
	scheduled := func(amount, quantity int64) {
		step("GetSubscription with a schedule", func(ctx context.Context) error {
			s, err := p.GetSubscription(ctx, id)
			c := s.Scheduled
			is("another change is scheduled", c != nil && c.UnitAmount == amount && c.Quantity == quantity && c.EffectiveAt.Equal(s.PeriodEnd) &&
				c.Metadata["plan_id"] == "p" && c.Notes["seats"] == "2" && s.ScheduleID != "")
			return err
		})
	}
	step("GetSubscription", func(ctx context.Context) error {
		s, err := p.GetSubscription(ctx, id)
		next.StartsAt = s.PeriodEnd
		return err
	})
	step("Set after the period", func(ctx context.Context) error {
		stale := next
		stale.StartsAt = next.StartsAt.Add(-time.Hour)
		err := schedules.Set(ctx, id, stale, "stale")
		is("a change was scheduled for another period", errors.Is(err, subscriptions.ErrPeriodEnded))
		return nil
	})
	if !p.remembers {
		return // the example of the mock has another period
	}
	step("Set", func(ctx context.Context) error { return schedules.Set(ctx, id, next, "schedule") })
	scheduled(1200, 2)
	step("Set again at a custom price", func(ctx context.Context) error {
		next.Quantity, next.Price = 3, &subscriptions.CustomPrice{ProductID: "prod_1", Amount: 700, Currency: "EUR", IntervalUnit: psp.IntervalMonth, IntervalCount: 3}
		return schedules.Set(ctx, id, next, "schedule again")
	})
	scheduled(700, 3)
	for range 2 {
		step("Release", func(ctx context.Context) error { return schedules.Release(ctx, id, "release") })
	}
	step("GetSubscription without a schedule", func(ctx context.Context) error {
		s, err := p.GetSubscription(ctx, id)
		is("a change is scheduled", s.Scheduled == nil && s.ScheduleID == "")
		return err
	})
}
