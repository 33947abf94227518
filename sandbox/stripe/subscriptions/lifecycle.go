package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The reasons for a cancellation.
const (
	canceledByRequest = "cancellation_requested"
	canceledByFailure = "payment_failed"
)

// cancel ends a subscription immediately. The reason can be empty.
func (sub *Subscription) cancel(reason string, now int64) {
	sub.Status, sub.EndedAt, sub.CancelAtPeriodEnd, sub.CancelAt = StatusCanceled, &now, false, nil
	sub.CanceledAt, sub.CancellationDetails.Reason = &now, nil
	if reason != "" {
		sub.CancellationDetails.Reason = &reason
	}
}

// Begin stores a new subscription and sets its timers.
func Begin(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	sub.planPending(st.Now)
	if err := st.Create(ctx, "customer.subscription.created", sub); err != nil {
		return err
	}
	if err := setTimers(ctx, st, sub); err != nil {
		return err
	}
	return scheduleTrialEndEvent(ctx, st, sub)
}

// Save stores a changed subscription, emits the events about the change, and sets or stops its
// timers. before is the subscription before the change.
func Save(ctx context.Context, st *kernel.Step, before, sub *Subscription) error {
	if sub.IsEnded() {
		if err := dropPending(ctx, st, sub); err != nil {
			return err
		}
		if err := endSchedule(ctx, st, sub); err != nil {
			return err
		}
	}
	sub.planPending(st.Now)
	if sub.Status == StatusCanceled && before.Status != StatusCanceled {
		if err := st.Create(ctx, "customer.subscription.deleted", sub); err != nil {
			return err
		}
	} else if err := st.Change(ctx, "customer.subscription.updated", before, sub); err != nil {
		return err
	}
	paused := sub.Status == StatusPaused
	switch was := before.Status == StatusPaused; {
	case paused && !was:
		if err := st.Emit(ctx, "customer.subscription.paused", sub, nil); err != nil {
			return err
		}
	case was && !paused && !sub.IsEnded():
		if err := st.Emit(ctx, "customer.subscription.resumed", sub, nil); err != nil {
			return err
		}
	}
	return setTimers(ctx, st, sub)
}

// setTimers sets the timers that the subscription's state requires and stops all others.
func setTimers(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if err := setPendingTimer(ctx, st, sub); err != nil {
		return err
	}
	if sub.IsRunning() {
		_, end := sub.duePeriod()
		if err := st.SetTimer(ctx, TimerPeriodEnds, sub.ID, end); err != nil {
			return err
		}
		if err := scheduleUpcomingEvent(ctx, st, sub, end); err != nil {
			return err
		}
	} else {
		for _, timer := range []string{TimerPeriodEnds, timerUpcoming} {
			if err := st.StopTimer(ctx, timer, sub.ID); err != nil {
				return err
			}
		}
	}
	if err := setDiscountTimer(ctx, st, sub); err != nil {
		return err
	}
	if err := updatePendingTimer(ctx, st, sub); err != nil {
		return err
	}
	if sub.Status != StatusTrialing {
		if err := st.StopTimer(ctx, timerTrialWillEnd, sub.ID); err != nil {
			return err
		}
	}
	if sub.Status == StatusIncomplete {
		return st.SetTimer(ctx, timerIncompleteExpires, sub.ID, sub.Created+incompleteLife)
	}
	if err := st.StopTimer(ctx, timerIncompleteExpires, sub.ID); err != nil {
		return err
	}
	if sub.IsEnded() {
		return stopCollecting(ctx, st, sub)
	}
	return nil
}

// stopCollecting stops the automatic collection of a subscription's drafts and open invoices.
func stopCollecting(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	left, err := invoices.All.FindWhere(ctx, st.Q,
		`doc ->> '$.customer' = ? AND doc ->> '$.parent.subscription_details.subscription' = ? AND doc ->> '$.status' IN ('draft', 'open')`, sub.Customer, sub.ID)
	if err != nil {
		return err
	}
	for _, in := range left {
		before := *in
		in.AutoAdvance, in.NextPaymentAttempt, in.AutomaticallyFinalizes = false, nil, nil
		if err := st.Change(ctx, "invoice.updated", before, in); err != nil {
			return err
		}
		for _, timer := range []string{invoices.TimerFinalizes, invoices.TimerRetries} {
			if err := st.StopTimer(ctx, timer, in.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// EndAll cancels all subscriptions of a customer immediately.
func EndAll(ctx context.Context, st *kernel.Step, cu *customers.Customer) error {
	running, err := All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired')`, cu.ID)
	if err != nil {
		return err
	}
	for _, sub := range running {
		before := sub.Clone()
		sub.cancel(canceledByRequest, st.Now)
		if err := Save(ctx, st, before, sub); err != nil {
			return err
		}
	}
	return nil
}

// Timers maps the kinds of timers to the actions of this package.
func Timers() map[string]kernel.Action {
	return map[string]kernel.Action{
		timerPendingExpires:     pendingExpires,
		TimerPeriodEnds:         periodEnds,
		timerPendingItems:       invoicePending,
		timerTrialWillEnd:       trialWillEnd,
		timerIncompleteExpires:  incompleteExpires,
		invoices.TimerFinalizes: finalizeDue,
		invoices.TimerRetries:   retryDue,
		invoices.TimerDue:       invoiceDue,
		timerDiscountEnds:       discountEnds,
		timerScheduleEnds:       scheduleEnds,
		timerUpcoming:           announceInvoice,
	}
}
