package psp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/contracts"
	"github.com/tenantry/tenantry/internal/psp/schedule"
)

// scheduleWorks sets, replaces and releases the schedule of a subscription.
func scheduleWorks(
	t *testing.T, step func(string, func(ctx context.Context) error), is func(string, bool), p counterpart, id, price string,
) {
	t.Helper()
	schedules := schedule.Schedules{Client: p.Client}
	next := schedule.Next{
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
		is("a change was scheduled for another period", errors.Is(err, schedule.ErrPeriodEnded))
		return nil
	})
	if !p.remembers {
		next.StartsAt = exampleEnd(t, p)
	}
	step("Set", func(ctx context.Context) error { return schedules.Set(ctx, id, next, "schedule") })
	scheduled(1200, 2)
	step("Set again at a custom price", func(ctx context.Context) error {
		next.Quantity, next.Price = 3, &contracts.CustomPrice{ProductID: "prod_1", Amount: 700, Currency: "EUR", IntervalUnit: psp.IntervalMonth, IntervalCount: 3}
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

// exampleEnd returns the end of the first phase of the mock's only schedule.
func exampleEnd(t *testing.T, p counterpart) time.Time {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/v1/subscription_schedules/sub_sched_1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(p.key, "")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var example struct {
		Phases []struct {
			EndDate int64 `json:"end_date"`
		} `json:"phases"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&example); err != nil || len(example.Phases) == 0 {
		t.Fatalf("the mock's schedule: %v", err)
	}
	return time.Unix(example.Phases[0].EndDate, 0)
}
