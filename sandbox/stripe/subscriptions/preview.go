package subscriptions

import (
	"context"
	"net/http"
	"slices"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// previewInvoice handles POST /v1/invoices/create_preview. It returns the next invoice of a
// subscription, with or without a change. It stores nothing. It uses the same functions as changes
// and renewals, so that the preview matches the later invoice.
func previewInvoice(ctx context.Context, c *kernel.Call) (any, error) {
	p := c.Params
	var customerID, subscriptionID string
	p.Text("customer", &customerID)
	p.Text("subscription", &subscriptionID)
	p.Choice("preview_mode", new(string), "next")
	ch := change{params: p, proration: prorationsPending, date: c.Now}
	ending := false
	details := p.Hash("subscription_details")
	if details != nil {
		ch = readChange(details, c.Now)
		details.Boolean("cancel_at_period_end", &ending)
	}
	extra := invoices.ReadPreviewed(p, c.Now)
	discount := discounts.Read(p, true)
	if customerID == "" && subscriptionID == "" {
		p.Fail("customer", "parameter_missing", "You must provide one of: customer, subscription.")
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	sub, err := previewedSubscription(ctx, c.Step, customerID, subscriptionID)
	if err != nil {
		return nil, err
	}
	if details != nil && details.Has("cancel_at_period_end") {
		sub.CancelAtPeriodEnd = ending
		sub.ScheduleEnd(c.Now)
	}
	cu, err := customers.All.Get(ctx, c.Q, sub.Customer, "customer")
	if err != nil {
		return nil, err
	}
	if err := sub.setDiscount(ctx, c.Step, discount, cu); err != nil {
		return nil, err
	}
	rev, err := revise(ctx, c.Step, sub, ch)
	if err != nil {
		return nil, err
	}
	b, err := nextBill(ctx, c.Step, sub, rev, extra)
	if err != nil {
		return nil, err
	}
	return b.draft().Preview(), nil
}

// previewedSubscription returns the subscription with the id. If id is empty, it returns the
// customer's subscription that is billed next.
func previewedSubscription(ctx context.Context, st *kernel.Step, customerID, id string) (*Subscription, error) {
	if customerID != "" {
		if _, err := customers.FindLive(ctx, st, customerID, "customer"); err != nil {
			return nil, err
		}
	}
	if id != "" {
		sub, err := All.Get(ctx, st.Q, id, "subscription")
		if err == nil && customerID != "" && sub.Customer != customerID {
			err = form.NewMissing(All.Label, id, "subscription")
		}
		return sub, err
	}
	all, err := All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ?`, customerID)
	if err != nil {
		return nil, err
	}
	var next *Subscription
	for _, sub := range all {
		_, end := sub.Period()
		if sub.IsRunning() && (next == nil || end < next.Items.Data[0].CurrentPeriodEnd) {
			next = sub
		}
	}
	if next == nil {
		return nil, noUpcomingInvoice(customerID)
	}
	return next, nil
}

// nextBill returns the next bill after a revision. It is due immediately or at the end of the
// period. extra are additional items, which are treated as pending.
func nextBill(ctx context.Context, st *kernel.Step, sub *Subscription, rev *revision, extra []*invoices.Item) (bill, error) {
	cu, err := customers.All.Get(ctx, st.Q, sub.Customer, "customer")
	if err != nil {
		return bill{}, err
	}
	pending, err := pendingItems(ctx, st, sub)
	if err != nil {
		return bill{}, err
	}
	for _, item := range extra {
		item.SetSubscription(sub.ID, nil)
	}
	pending = slices.Concat(pending, extra, rev.prorations)
	if rev.now {
		return rev.newBill(sub, cu, pending, st.Now), nil
	}
	if !sub.IsRunning() {
		return bill{}, noUpcomingInvoice(sub.Customer)
	}
	start, end := sub.duePeriod()
	usage, err := meteredLines(ctx, st, sub, start, end, rev.names)
	if err != nil {
		return bill{}, err
	}
	if err := enterNextPhase(ctx, st, sub, end, rev.names); err != nil {
		return bill{}, err
	}
	b := sub.renewal(cu, pending, usage, rev.names)
	if !b.period && !b.isNeeded() {
		return bill{}, noUpcomingInvoice(sub.Customer)
	}
	b.reason = invoices.ReasonUpcoming
	return b, nil
}

// noUpcomingInvoice returns the error for a preview if nothing will be billed.
func noUpcomingInvoice(customerID string) *form.Error {
	e := form.Refuse("", "invoice_upcoming_none", "No upcoming invoices for customer: %s", customerID)
	e.Status = http.StatusNotFound
	return e
}
