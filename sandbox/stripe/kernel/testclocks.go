package kernel

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// TestClocks are the test clocks. The timers of a test clock's customers fire only when that clock
// is advanced. All other timers use the sandbox's clock.
var TestClocks = Kind[TestClock]{Name: "test_helpers.test_clock", Prefix: "clock", Label: "test clock", Path: "/v1/test_helpers/test_clocks"}

// TestClock is a frozen time that applies to the objects of its customers.
type TestClock struct {
	Header
	DeletesAfter  int64        `json:"deletes_after"`
	FrozenTime    int64        `json:"frozen_time"`
	Name          *string      `json:"name"`
	Status        string       `json:"status"`
	StatusDetails clockDetails `json:"status_details"`
}

type clockDetails struct {
	Advancing *clockTarget `json:"advancing,omitempty"`
}

type clockTarget struct {
	TargetFrozenTime int64 `json:"target_frozen_time"`
}

// The statuses of a test clock.
const (
	ClockReady     = "ready"
	ClockAdvancing = "advancing"
)

// UseTestClock sets the step's time to the time of the first test clock that it finds for the ids.
// An object has the test clock of its customer. UseTestClock ignores unknown ids and objects
// without a test clock.
func (st *Step) UseTestClock(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		var clock string
		var now int64
		err := st.Q.QueryRowContext(ctx, `
			SELECT c.id, c.doc ->> '$.frozen_time' FROM stripe_objects c WHERE c.kind = 'test_helpers.test_clock' AND c.id = (
				SELECT coalesce(cu.doc ->> '$.test_clock', o.doc ->> '$.test_clock', o.id)
				FROM stripe_objects o LEFT JOIN stripe_objects cu ON cu.kind = 'customer' AND cu.id = o.doc ->> '$.customer'
				WHERE o.id = ? AND o.kind IN ('test_helpers.test_clock', 'customer', 'subscription', 'invoice', 'invoiceitem', 'payment_intent',
					'payment_method', 'charge', 'checkout.session', 'billing_portal.session'))`, id).Scan(&clock, &now)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return fmt.Errorf("find the test clock of %s: %w", id, err)
		}
		st.Now, st.clock = now, clock
		return nil
	}
	return nil
}

// clockParams returns the ids in the parameters that can determine the test clock of a request, in
// addition to the id in its path.
func clockParams(p *form.Params) []string {
	return []string{
		p.PeekValue("test_clock"), p.PeekValue("customer"), p.PeekValue("subscription"), p.PeekValue("invoice"), p.PeekValue("payment_intent"), p.PeekValue("charge"),
		p.PeekValue("payload", "stripe_customer_id"),
	}
}

// Advance starts to advance a test clock. The clock is ready again after all timers up to the
// target time have fired.
func (st *Step) Advance(ctx context.Context, tc *TestClock, to int64) error {
	tc.Status, tc.StatusDetails.Advancing = ClockAdvancing, &clockTarget{to}
	st.timed = true
	return st.Create(ctx, "test_helpers.test_clock.advancing", tc)
}

// settleTestClocks fires the timers of all advancing test clocks up to their target times.
func (e *Engine) settleTestClocks(ctx context.Context) error {
	moving, err := TestClocks.FindWhere(ctx, e.cfg.DB, `doc ->> '$.status' = ?`, ClockAdvancing)
	if err != nil {
		return err
	}
	for _, tc := range moving {
		to := tc.StatusDetails.Advancing.TargetFrozenTime
		if err := e.settleTimers(ctx, tc.ID, func() int64 { return to }); err != nil {
			return err
		}
		err := e.Write(ctx, func(ctx context.Context, st *Step) error {
			tc, err := TestClocks.Find(ctx, st.Q, tc.ID)
			if errors.Is(err, ErrNotFound) || err == nil && tc.Status != ClockAdvancing {
				return nil // another request has already advanced the clock
			}
			if err != nil {
				return err
			}
			tc.Status, tc.FrozenTime, tc.StatusDetails = ClockReady, to, clockDetails{}
			st.Now = to
			return st.Create(ctx, "test_helpers.test_clock.ready", tc)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
