package stripe

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// cancelSubscription ends a subscription at once. prorate gives back the rest of
// its period, invoice_now bills what is pending, that credit included, and what
// was used of metered items.
func cancelSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	sub, err := subscriptions.Get(ctx, c.Q, c.Id, "id")
	if err != nil {
		return nil, err
	}
	before := sub.clone()
	readCancellation(c.Params, &sub.CancellationDetails)
	var invoiceNow, prorate bool
	c.Params.Boolean("invoice_now", &invoiceNow)
	c.Params.Boolean("prorate", &prorate)
	if err := c.Params.Done(); err != nil {
		return nil, err
	}
	if sub.ended() {
		return nil, form.Missing(subscriptions.Label, sub.ID, "id")
	}
	if err := billRemainder(ctx, c.Step, sub, prorate, invoiceNow); err != nil {
		return nil, err
	}
	sub.cancel(canceledByRequest, c.Now)
	return sub, save(ctx, c.Step, before, sub)
}

// settleUp bills what a subscription that ends now leaves behind.
func billRemainder(ctx context.Context, st *kernel.Step, sub *subscription, prorate, invoiceNow bool) error {
	rev := &revision{names: productNames{}}
	rev.since, _ = sub.period()
	if err := readProductNames(ctx, st, sub.Items.Data, rev.names); err != nil {
		return err
	}
	if prorate && sub.running() && sub.Status != subscriptionTrialing {
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
		rev.now = rev.bill(sub, nil, append(pending, rev.prorations...), st.Now).needed()
	}
	return applyRevision(ctx, st, sub, rev, false)
}

// resumeSubscription begins a new period of a subscription that was paused, and
// bills it at once. A payment that fails leaves it past due.
func resumeSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	sub, err := subscriptions.Get(ctx, c.Q, c.Id, "id")
	if err != nil {
		return nil, err
	}
	c.Params.Choice("billing_cycle_anchor", new(string), "now")
	c.Params.Choice("proration_behavior", new(string), prorationsPending, prorationsNow, prorationsNone)
	if err := c.Params.Done(); err != nil {
		return nil, err
	}
	if sub.Status != subscriptionPaused {
		return nil, form.Refuse("", "", "Only subscriptions with a status of `paused` can be resumed. This subscription has a status of `%s`.", sub.Status)
	}
	before := sub.clone()
	rev := &revision{names: productNames{}, restarted: true, now: true}
	rev.since, _ = sub.period()
	if err := readProductNames(ctx, c.Step, sub.Items.Data, rev.names); err != nil {
		return nil, err
	}
	sub.Status, sub.BillingCycleAnchor = subscriptionActive, c.Now
	sub.setPeriod(c.Now, sub.cycle().Boundary(1))
	if err := applyRevision(ctx, c.Step, sub, rev, false); err != nil {
		return nil, err
	}
	return sub, save(ctx, c.Step, before, sub)
}
