package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// releaseSchedule handles POST /v1/subscription_schedules/{id}/release. It leaves the subscription as
// it is.
func releaseSchedule(ctx context.Context, c *kernel.Call) (any, error) {
	sched, err := schedules.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	c.Params.Boolean("preserve_cancel_date", new(bool))
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if sched.Status != scheduleActive {
		return nil, form.Refuse("", "", "You cannot release a subscription schedule that is currently in the `%s` status. It must be in one of the following statuses: not_started, active.", sched.Status)
	}
	sub, err := All.Get(ctx, c.Q, *sched.Subscription, "subscription")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	if err := sched.release(ctx, c.Step, sub); err != nil {
		return nil, err
	}
	return sched, Save(ctx, c.Step, before, sub)
}

// release detaches a schedule from its subscription, which the caller stores.
func (sched *schedule) release(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	now := st.Now
	sched.Status, sched.ReleasedAt, sched.ReleasedSubscription, sched.Subscription, sched.CurrentPhase = scheduleReleased, &now, &sub.ID, nil, nil
	sub.Schedule = nil
	if err := st.StopTimer(ctx, timerScheduleEnds, sched.ID); err != nil {
		return err
	}
	return st.Create(ctx, "subscription_schedule.released", sched)
}

// cancelSchedule handles POST /v1/subscription_schedules/{id}/cancel. It also cancels the subscription.
func cancelSchedule(ctx context.Context, c *kernel.Call) (any, error) {
	sched, err := schedules.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	var invoiceNow, prorate bool
	c.Params.Boolean("invoice_now", &invoiceNow)
	c.Params.Boolean("prorate", &prorate)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if sched.Status != scheduleActive {
		return nil, form.Refuse("", "", "You cannot cancel a subscription schedule that is currently in the `%s` status. It must be in one of the following statuses: not_started, active.", sched.Status)
	}
	sub, err := All.Get(ctx, c.Q, *sched.Subscription, "subscription")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	if err := billRemainder(ctx, c.Step, sub, prorate, invoiceNow); err != nil {
		return nil, err
	}
	sub.cancel(canceledByRequest, c.Now)
	if err := Save(ctx, c.Step, before, sub); err != nil {
		return nil, err
	}
	return schedules.Get(ctx, c.Q, sched.ID, "id")
}

// endSchedule cancels the schedule of a subscription that has ended.
func endSchedule(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if sub.Schedule == nil {
		return nil
	}
	sched, err := schedules.Get(ctx, st.Q, *sub.Schedule, "schedule")
	if err != nil {
		return err
	}
	now := st.Now
	sched.Status, sched.CanceledAt, sched.CurrentPhase = scheduleCanceled, &now, nil
	sub.Schedule = nil
	if err := st.StopTimer(ctx, timerScheduleEnds, sched.ID); err != nil {
		return err
	}
	return st.Create(ctx, "subscription_schedule.canceled", sched)
}

// scheduleEnds releases a schedule whose last phase has ended.
func scheduleEnds(ctx context.Context, st *kernel.Step, id string) error {
	sched, err := schedules.Get(ctx, st.Q, id, "id")
	if err != nil || sched.Status != scheduleActive {
		return err
	}
	sub, err := All.Get(ctx, st.Q, *sched.Subscription, "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if err := sched.release(ctx, st, sub); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}
