package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// cancelSubscription handles DELETE /v1/subscriptions/{id}. It cancels a subscription immediately. prorate
// credits the rest of the period. invoice_now bills that credit, the pending items and the metered
// usage.
func cancelSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	sub, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	readCancellation(c.Params, &sub.CancellationDetails)
	var invoiceNow, prorate bool
	c.Params.Boolean("invoice_now", &invoiceNow)
	c.Params.Boolean("prorate", &prorate)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if sub.IsEnded() {
		return nil, form.NewMissing(All.Label, sub.ID, "id")
	}
	if err := dropPending(ctx, c.Step, sub); err != nil {
		return nil, err
	}
	if err := billRemainder(ctx, c.Step, sub, prorate, invoiceNow); err != nil {
		return nil, err
	}
	sub.cancel(canceledByRequest, c.Now)
	return sub, Save(ctx, c.Step, before, sub)
}

// billRemainder credits and bills the remainder of a subscription that ends now.
func billRemainder(ctx context.Context, st *kernel.Step, sub *Subscription, prorate, invoiceNow bool) error {
	rev, err := startRevision(ctx, st, sub)
	if err != nil {
		return err
	}
	if err := ReadProductNames(ctx, st, sub.Items.Data, rev.names); err != nil {
		return err
	}
	if prorate && sub.IsRunning() && sub.Status != StatusTrialing {
		for _, item := range sub.Items.Data {
			rev.add(sub, item, credit, st.Now, st.Now)
		}
	}
	pending, err := pendingItems(ctx, st, sub)
	if err != nil {
		return err
	}
	if invoiceNow {
		if rev.usage, err = meteredLines(ctx, st, sub, rev.since, st.Now, rev.names); err != nil {
			return err
		}
		rev.now = rev.newBill(sub, nil, append(pending, rev.prorations...), st.Now).isNeeded()
	}
	return applyRevision(ctx, st, sub, sub, rev, allowIncomplete)
}

// resumeSubscription handles POST /v1/subscriptions/{id}/resume. It starts a new period of a paused
// subscription and bills it immediately. If the payment fails, the subscription becomes past due.
func resumeSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	sub, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	c.Params.Choice("billing_cycle_anchor", new(string), "now")
	c.Params.Choice("proration_behavior", new(string), prorationsPending, prorationsNow, prorationsNone)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if sub.Status != StatusPaused {
		return nil, form.Refuse("", "", "Only subscriptions with a status of `paused` can be resumed. This subscription has a status of `%s`.", sub.Status)
	}
	before := sub.Clone()
	rev := &revision{names: ProductNames{}, restarted: true, now: true}
	rev.since, _ = sub.Period()
	if err := ReadProductNames(ctx, c.Step, sub.Items.Data, rev.names); err != nil {
		return nil, err
	}
	sub.Status, sub.BillingCycleAnchor = StatusActive, c.Now
	sub.setPeriod(c.Now, sub.cycle().Boundary(1))
	if err := applyRevision(ctx, c.Step, before, sub, rev, allowIncomplete); err != nil {
		return nil, err
	}
	return sub, Save(ctx, c.Step, before, sub)
}
