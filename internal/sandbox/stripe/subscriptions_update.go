package stripe

import (
	"context"
	"slices"
)

func updateSubscription(ctx context.Context, c *call) (any, error) {
	sub, err := subscriptions.get(ctx, c.q, c.id, "id")
	if err != nil {
		return nil, err
	}
	before := *sub
	sub.Items.Data = slices.Clone(sub.Items.Data)
	p := c.params
	p.metadata(&sub.Metadata)
	p.clearable("description", &sub.Description)
	readCancellation(p, &sub.CancellationDetails)
	p.boolean("cancel_at_period_end", &sub.CancelAtPeriodEnd)
	proration := "create_prorations"
	p.choice("proration_behavior", &proration, "create_prorations", "none", "always_invoice")
	wanted := readItemChanges(p)
	if err := p.done(); err != nil {
		return nil, err
	}
	if before.Status == subscriptionCanceled {
		if p.has("cancel_at_period_end") || len(wanted) > 0 {
			return nil, refuse("", "", "A canceled subscription can only update its cancellation_details and metadata.")
		}
	}
	for _, w := range wanted {
		if err := sub.setQuantity(w, proration); err != nil {
			return nil, err
		}
	}
	if sub.CancelAtPeriodEnd != before.CancelAtPeriodEnd {
		sub.scheduleEnd(c.now)
	}
	return sub, c.change(ctx, "customer.subscription.updated", before, sub)
}

// itemChange is a new quantity for an item.
type itemChange struct {
	params   *params
	id       string
	quantity int64
}

func readItemChanges(p *params) []itemChange {
	var changes []itemChange
	for _, given := range p.list("items") {
		given.require("id", "quantity")
		change := itemChange{params: given}
		given.text("id", &change.id)
		given.integer("quantity", 1, maxQuantity, &change.quantity)
		changes = append(changes, change)
	}
	return changes
}

// setQuantity changes an item without prorating.
func (sub *subscription) setQuantity(w itemChange, proration string) error {
	i := slices.IndexFunc(sub.Items.Data, func(item subscriptionItem) bool { return item.ID == w.id })
	if i < 0 {
		return missing(subscriptionItems.label, w.id, w.params.name("id"))
	}
	item := &sub.Items.Data[i]
	if item.Quantity != w.quantity && proration != "none" {
		return refuse("proration_behavior", "", "The sandbox does not prorate: change a quantity with proration_behavior=none.")
	}
	item.Quantity = w.quantity
	return nil
}

// scheduleEnd follows the flag that lets the subscription end with its period.
func (sub *subscription) scheduleEnd(now int64) {
	if !sub.CancelAtPeriodEnd {
		sub.CancelAt, sub.CanceledAt, sub.CancellationDetails = nil, nil, cancellation{}
		return
	}
	end := sub.Items.Data[0].CurrentPeriodEnd
	reason := "cancellation_requested"
	sub.CancelAt, sub.CanceledAt, sub.CancellationDetails.Reason = &end, &now, &reason
}

func readCancellation(p *params, into *cancellation) {
	given := p.hash("cancellation_details")
	if given == nil {
		return
	}
	given.clearable("comment", &into.Comment)
	if given.cleared("feedback") {
		given.clearable("feedback", &into.Feedback)
	} else if given.has("feedback") {
		var feedback string
		given.choice("feedback", &feedback, "customer_service", "low_quality", "missing_features",
			"other", "switched_service", "too_complex", "too_expensive", "unused")
		into.Feedback = &feedback
	}
}

// cancelSubscription ends a subscription at once. As there is neither metered
// usage nor proration, there is nothing that invoice_now could invoice.
func cancelSubscription(ctx context.Context, c *call) (any, error) {
	sub, err := subscriptions.get(ctx, c.q, c.id, "id")
	if err != nil {
		return nil, err
	}
	readCancellation(c.params, &sub.CancellationDetails)
	var invoiceNow, prorate bool
	c.params.boolean("invoice_now", &invoiceNow)
	c.params.boolean("prorate", &prorate)
	if prorate {
		c.params.fail("prorate", "", "The sandbox does not prorate: cancel without prorate.")
	}
	if err := c.params.done(); err != nil {
		return nil, err
	}
	if sub.Status == subscriptionCanceled {
		return nil, missing(subscriptions.label, sub.ID, "id")
	}
	return sub, c.endSubscription(ctx, sub)
}

// endSubscription cancels at once.
func (st *step) endSubscription(ctx context.Context, sub *subscription) error {
	now, reason := st.now, "cancellation_requested"
	sub.Status, sub.EndedAt, sub.CancelAtPeriodEnd, sub.CancelAt = subscriptionCanceled, &now, false, nil
	sub.CanceledAt, sub.CancellationDetails.Reason = &now, &reason
	if err := put(ctx, st.q, sub); err != nil {
		return err
	}
	return st.emit(ctx, "customer.subscription.deleted", sub, nil)
}
