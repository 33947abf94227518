package stripe

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
)

// cancelSubscription ends a subscription at once. prorate gives back the rest of
// its period, invoice_now bills what is pending, that credit included, and what
// was used of metered items.
func cancelSubscription(ctx context.Context, c *call) (any, error) {
	sub, err := subscriptions.get(ctx, c.q, c.id, "id")
	if err != nil {
		return nil, err
	}
	before := sub.clone()
	readCancellation(c.params, &sub.CancellationDetails)
	var invoiceNow, prorate bool
	c.params.Boolean("invoice_now", &invoiceNow)
	c.params.Boolean("prorate", &prorate)
	if err := c.params.Done(); err != nil {
		return nil, err
	}
	if sub.ended() {
		return nil, form.Missing(subscriptions.label, sub.ID, "id")
	}
	if err := billRemainder(ctx, c.step, sub, prorate, invoiceNow); err != nil {
		return nil, err
	}
	sub.cancel(canceledByRequest, c.now)
	return sub, save(ctx, c.step, before, sub)
}

// settleUp bills what a subscription that ends now leaves behind.
func billRemainder(ctx context.Context, st *step, sub *subscription, prorate, invoiceNow bool) error {
	rev := &revision{names: productNames{}}
	rev.since, _ = sub.period()
	if err := readProductNames(ctx, st, sub.Items.Data, rev.names); err != nil {
		return err
	}
	if prorate && sub.running() && sub.Status != subscriptionTrialing {
		for _, item := range sub.Items.Data {
			rev.add(sub, item, credit, st.now, st.now)
		}
	}
	pending, err := pendingItems(ctx, st, sub)
	if err != nil {
		return err
	}
	if invoiceNow {
		if rev.usage, err = meteredLines(ctx, st, sub, rev.since, st.now, rev.names); err != nil {
			return err
		}
		rev.now = rev.bill(sub, nil, append(pending, rev.prorations...), st.now).needed()
	}
	return applyRevision(ctx, st, sub, rev, false)
}

// resumeSubscription begins a new period of a subscription that was paused, and
// bills it at once. A payment that fails leaves it past due.
func resumeSubscription(ctx context.Context, c *call) (any, error) {
	sub, err := subscriptions.get(ctx, c.q, c.id, "id")
	if err != nil {
		return nil, err
	}
	c.params.Choice("billing_cycle_anchor", new(string), "now")
	c.params.Choice("proration_behavior", new(string), prorationsPending, prorationsNow, prorationsNone)
	if err := c.params.Done(); err != nil {
		return nil, err
	}
	if sub.Status != subscriptionPaused {
		return nil, form.Refuse("", "", "Only subscriptions with a status of `paused` can be resumed. This subscription has a status of `%s`.", sub.Status)
	}
	before := sub.clone()
	rev := &revision{names: productNames{}, restarted: true, now: true}
	rev.since, _ = sub.period()
	if err := readProductNames(ctx, c.step, sub.Items.Data, rev.names); err != nil {
		return nil, err
	}
	sub.Status, sub.BillingCycleAnchor = subscriptionActive, c.now
	sub.setPeriod(c.now, sub.cycle().Boundary(1))
	if err := applyRevision(ctx, c.step, sub, rev, false); err != nil {
		return nil, err
	}
	return sub, save(ctx, c.step, before, sub)
}
