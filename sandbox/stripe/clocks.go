package stripe

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// clockLife is the lifetime that Stripe documents for a test clock. The sandbox keeps a test clock until
// it is deleted.
const clockLife = 30 * 24 * time.Hour

// maxClockTime is the latest time of a clock, in seconds since the epoch. It is in the year 9987.
const maxClockTime = 253_000_000_000

// createClock handles POST /v1/test_helpers/test_clocks.
func createClock(ctx context.Context, c *kernel.Call) (any, error) {
	tc := kernel.TestClock{Header: kernel.TestClocks.Start(c.Now), Status: kernel.ClockReady, DeletesAfter: c.Now + int64(clockLife/time.Second)}
	c.Params.Require("frozen_time")
	c.Params.Integer("frozen_time", 0, maxClockTime, &tc.FrozenTime)
	c.Params.ReadClearable("name", &tc.Name)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return tc, c.Create(ctx, "test_helpers.test_clock.created", tc)
}

// getClock handles GET /v1/test_helpers/test_clocks/{id}.
func getClock(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, kernel.TestClocks)
}

// listClocks handles GET /v1/test_helpers/test_clocks.
func listClocks(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.TestClocks.Page(ctx, c, kernel.Filter{})
}

// advanceClock handles POST /v1/test_helpers/test_clocks/{id}/advance. The response shows the clock as
// advancing. By the next request, all timers up to the new time have fired.
func advanceClock(ctx context.Context, c *kernel.Call) (any, error) {
	var to int64
	c.Params.Require("frozen_time")
	c.Params.Integer("frozen_time", 0, maxClockTime, &to)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	tc, err := kernel.TestClocks.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	if to <= tc.FrozenTime {
		return nil, form.Refuse("frozen_time", "", "Test clocks can only be advanced to a time after their frozen time (%d).", tc.FrozenTime)
	}
	latest, err := latestTarget(ctx, c.Step, tc)
	if err != nil {
		return nil, err
	}
	if to > latest {
		return nil, form.Refuse("frozen_time", "", "Test clocks can be advanced by at most two intervals of their shortest subscription, or by two years without any: here until %d.", latest)
	}
	return tc, c.Advance(ctx, tc, to)
}

// latestTarget returns the latest time to which a clock can be advanced in one request.
func latestTarget(ctx context.Context, st *kernel.Step, tc *kernel.TestClock) (int64, error) {
	subs, err := subscriptions.All.FindWhere(ctx, st.Q, `doc ->> '$.test_clock' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired')`, tc.ID)
	if err != nil {
		return 0, err
	}
	latest := billing.Cycle{Anchor: tc.FrozenTime, Every: billing.Interval{Unit: "year", Count: 1}}.Boundary(2)
	for _, sub := range subs {
		every := sub.Items.Data[0].Price.Recurring
		cycle := billing.Cycle{Anchor: tc.FrozenTime, Every: billing.Interval{Unit: every.Interval, Count: every.IntervalCount}}
		latest = min(latest, cycle.Boundary(2))
	}
	return latest, nil
}

// deleteClock handles DELETE /v1/test_helpers/test_clocks/{id}. It also deletes the clock's customers
// and calls the ending functions for each of them.
func deleteClock(ending ...customers.EndFunc) kernel.Endpoint {
	return func(ctx context.Context, c *kernel.Call) (any, error) {
		if err := c.Params.CheckUnread(); err != nil {
			return nil, err
		}
		tc, err := kernel.TestClocks.Get(ctx, c.Q, c.ID, "id")
		if err != nil {
			return nil, err
		}
		owned, err := customers.All.FindWhere(ctx, c.Q, `doc ->> '$.test_clock' = ?`, tc.ID)
		if err != nil {
			return nil, err
		}
		for _, cu := range owned {
			if err := customers.Remove(ctx, c.Step, cu, ending...); err != nil {
				return nil, err
			}
		}
		gone := kernel.DeletedObject{ID: tc.ID, Object: tc.Object, Deleted: true}
		if err := c.Emit(ctx, "test_helpers.test_clock.deleted", tc, nil); err != nil {
			return nil, err
		}
		return gone, kernel.TestClocks.Remove(ctx, c.Q, tc.ID)
	}
}
