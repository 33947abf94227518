package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The payment behaviors: the effect of a failed payment on a change.
const (
	allowIncomplete     = "allow_incomplete"      // the change takes effect, the invoice stays open
	errorIfIncomplete   = "error_if_incomplete"   // the change is refused
	pendingIfIncomplete = "pending_if_incomplete" // the change waits until the invoice is paid
)

// updateSubscription handles POST /v1/subscriptions/{id}.
func updateSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	sub, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	p := c.Params
	sub.readSettings(p)
	p.Boolean("cancel_at_period_end", &sub.CancelAtPeriodEnd)
	endAt := readEnd(p, c.Now)
	if err := sub.updateCollection(ctx, c); err != nil {
		return nil, err
	}
	behavior := allowIncomplete
	p.Choice("payment_behavior", &behavior, allowIncomplete, errorIfIncomplete, pendingIfIncomplete)
	ch, discount := readChange(p, c.Now), discounts.Read(p, true)
	ch.extra = readAddedItems(p, c.Now)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	if err := sub.checkUpdate(ctx, c, behavior); err != nil {
		return nil, err
	}
	if err := sub.changeDiscount(ctx, c.Step, before, discount); err != nil {
		return nil, err
	}
	switch {
	case sub.CancelAtPeriodEnd != before.CancelAtPeriodEnd:
		sub.ScheduleEnd(c.Now)
	case p.Has("cancel_at"):
		sub.EndAt(endAt, c.Now)
	}
	if sub.Status == StatusTrialing && ch.trialEnd == c.Now {
		over, err := endTrialWithoutCard(ctx, c.Step, sub)
		if err != nil {
			return nil, err
		}
		if over {
			sub.TrialEnd = &c.Now
			return sub, Save(ctx, c.Step, before, sub)
		}
	}
	if err := makeChange(ctx, c.Step, sub, ch, behavior); err != nil {
		return nil, err
	}
	if err := Save(ctx, c.Step, before, sub); err != nil {
		return nil, err
	}
	if sub.TrialEnd != nil && (before.TrialEnd == nil || *sub.TrialEnd != *before.TrialEnd) {
		return sub, scheduleTrialEndEvent(ctx, c.Step, sub)
	}
	return sub, nil
}

// checkUpdate refuses an update that the state of the subscription does not allow.
func (sub *Subscription) checkUpdate(ctx context.Context, c *kernel.Call, behavior string) error {
	p := c.Params
	if err := sub.refuseManaged(p); err != nil {
		return err
	}
	if behavior == pendingIfIncomplete {
		if err := canWait(ctx, c.Step, p, sub); err != nil {
			return err
		}
	}
	if sub.IsEnded() && (p.Has("cancel_at_period_end") || p.Has("cancel_at")) {
		return form.Refuse("", "", "A canceled subscription can only update its cancellation_details and metadata.")
	}
	if p.Has("default_payment_method") {
		return customers.CheckCard(ctx, c.Step, sub.DefaultPaymentMethod, sub.Customer, "default_payment_method")
	}
	return nil
}

// makeChange revises a subscription and bills immediate charges. It replaces a pending update. The
// caller stores the subscription.
func makeChange(ctx context.Context, st *kernel.Step, sub *Subscription, ch change, behavior string) error {
	if !ch.isEmpty() {
		if err := dropPending(ctx, st, sub); err != nil {
			return err
		}
	}
	before := sub.Clone()
	rev, err := revise(ctx, st, sub, ch)
	if err != nil {
		return err
	}
	if err := sub.storeUsageStarts(ctx, st); err != nil {
		return err
	}
	return applyRevision(ctx, st, before, sub, rev, behavior)
}

// applyRevision stores the prorations of a revision and bills immediate charges. behavior
// determines the effect of a failed payment. before is the subscription before the change.
func applyRevision(ctx context.Context, st *kernel.Step, before, sub *Subscription, rev *revision, behavior string) error {
	if err := storeBilledOff(ctx, st, rev.charged); err != nil {
		return err
	}
	for _, item := range rev.prorations {
		if err := st.Create(ctx, "invoiceitem.created", item); err != nil {
			return err
		}
	}
	if !rev.now {
		return nil
	}
	cu, err := customers.All.Get(ctx, st.Q, sub.Customer, "customer")
	if err != nil {
		return err
	}
	pending, err := pendingItems(ctx, st, sub)
	if err != nil {
		return err
	}
	b := rev.newBill(sub, cu, pending, st.Now)
	if !b.isNeeded() {
		return nil
	}
	in, err := issueInvoice(ctx, st, b)
	if err != nil {
		return err
	}
	if behavior == pendingIfIncomplete {
		return collectOrWait(ctx, st, before, sub, in)
	}
	refused, err := settleInvoice(ctx, st, sub, in)
	if err == nil && refused != nil && behavior == errorIfIncomplete {
		return refused.Answer(customers.PaysSubscription)
	}
	return err
}

// newBill returns the bill for the immediate charges of a revision.
func (rev *revision) newBill(sub *Subscription, cu *customers.Customer, pending []*invoices.Item, now int64) bill {
	return bill{
		sub: sub, cu: cu, reason: invoices.ReasonUpdate, since: rev.since, at: now,
		period: rev.restarted, pending: pending, usage: rev.usage, names: rev.names,
	}
}

// ScheduleEnd sets or clears the end date after CancelAtPeriodEnd was changed.
func (sub *Subscription) ScheduleEnd(now int64) {
	if !sub.CancelAtPeriodEnd {
		sub.CancelAt, sub.CanceledAt, sub.CancellationDetails = nil, nil, cancellation{}
		return
	}
	_, end := sub.Period()
	reason := canceledByRequest
	sub.CancelAt, sub.CanceledAt, sub.CancellationDetails.Reason = &end, &now, &reason
}

// EndAt sets the end date, or clears it if date is nil, as the portal and the parameter cancel_at
// do. It does not change CancelAtPeriodEnd.
func (sub *Subscription) EndAt(date *int64, now int64) {
	if date == nil {
		sub.CancelAt, sub.CanceledAt, sub.CancellationDetails = nil, nil, cancellation{}
		return
	}
	reason := canceledByRequest
	sub.CancelAt, sub.CanceledAt, sub.CancellationDetails.Reason = date, &now, &reason
}

// readEnd reads the parameter cancel_at. It returns nil if the parameter is cleared or missing.
func readEnd(p *form.Params, now int64) *int64 {
	if !p.Has("cancel_at") {
		return nil
	}
	if p.Has("cancel_at_period_end") {
		p.Fail("cancel_at", "", "You may only specify one of these parameters: cancel_at, cancel_at_period_end.")
	}
	if p.IsCleared("cancel_at") {
		p.ReadClearable("cancel_at", new(*string))
		return nil
	}
	var date int64
	p.Integer("cancel_at", now+1, 1<<40, &date)
	return &date
}

// readSettings reads the parameters that do not affect periods and items.
func (sub *Subscription) readSettings(p *form.Params) {
	p.Metadata(&sub.Metadata)
	p.ReadClearable("description", &sub.Description)
	readCancellation(p, &sub.CancellationDetails)
	p.ReadClearable("default_payment_method", &sub.DefaultPaymentMethod)
	readTrialSettings(p, &sub.TrialSettings.EndBehavior.MissingPaymentMethod)
	readPendingInterval(p, &sub.PendingInterval)
}

// readCancellation reads the parameter cancellation_details.
func readCancellation(p *form.Params, into *cancellation) {
	given := p.Hash("cancellation_details")
	if given == nil {
		return
	}
	given.ReadClearable("comment", &into.Comment)
	if given.IsCleared("feedback") {
		given.ReadClearable("feedback", &into.Feedback)
	} else if given.Has("feedback") {
		var feedback string
		given.Choice("feedback", &feedback, "customer_service", "low_quality", "missing_features",
			"other", "switched_service", "too_complex", "too_expensive", "unused")
		into.Feedback = &feedback
	}
}
