package stripe

import (
	"context"
	"net/http"
	"strings"
)

// previewInvoice shows the next invoice of a subscription, as it stands or as a
// change would make it, and stores nothing. It goes the way that the change and
// the renewal go, so that what it shows is what is then billed.
func previewInvoice(ctx context.Context, c *call) (any, error) {
	p := c.params
	var customerID, subscriptionID string
	p.text("customer", &customerID)
	p.text("subscription", &subscriptionID)
	p.choice("preview_mode", new(string), "next")
	ch := subscriptionChange{params: p, proration: prorationsPending, date: c.now}
	ending := false
	details := p.hash("subscription_details")
	if details != nil {
		ch = readChange(details, c.now)
		details.boolean("cancel_at_period_end", &ending)
	}
	if customerID == "" && subscriptionID == "" {
		p.fail("customer", "parameter_missing", "You must provide one of: customer, subscription.")
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	sub, err := c.previewed(ctx, customerID, subscriptionID)
	if err != nil {
		return nil, err
	}
	if details != nil && details.has("cancel_at_period_end") {
		sub.CancelAtPeriodEnd = ending
	}
	rev, err := c.apply(ctx, sub, ch)
	if err != nil {
		return nil, err
	}
	b, err := c.nextBill(ctx, sub, rev)
	if err != nil {
		return nil, err
	}
	return b.draft().preview(), nil
}

// previewed is the subscription that a preview is about: the named one, or the
// one of the customer that is billed next.
func (st *step) previewed(ctx context.Context, customerID, id string) (*subscription, error) {
	if customerID != "" {
		if _, err := st.liveCustomer(ctx, customerID, "customer"); err != nil {
			return nil, err
		}
	}
	if id != "" {
		sub, err := subscriptions.get(ctx, st.q, id, "subscription")
		if err == nil && customerID != "" && sub.Customer != customerID {
			err = missing(subscriptions.label, id, "subscription")
		}
		return sub, err
	}
	all, err := subscriptions.where(ctx, st.q, `doc ->> '$.customer' = ?`, customerID)
	if err != nil {
		return nil, err
	}
	var next *subscription
	for _, sub := range all {
		_, end := sub.period()
		if sub.running() && (next == nil || end < next.Items.Data[0].CurrentPeriodEnd) {
			next = sub
		}
	}
	if next == nil {
		return nil, noUpcomingInvoice(customerID)
	}
	return next, nil
}

// nextBill is what will be billed next after a revision: at once, or when the
// period ends.
func (st *step) nextBill(ctx context.Context, sub *subscription, rev *revision) (bill, error) {
	cu, err := customers.get(ctx, st.q, sub.Customer, "customer")
	if err != nil {
		return bill{}, err
	}
	pending, err := st.pendingItems(ctx, sub)
	if err != nil {
		return bill{}, err
	}
	pending = append(pending, rev.prorations...)
	if rev.now {
		return rev.bill(sub, cu, pending, st.now), nil
	}
	if !sub.running() {
		return bill{}, noUpcomingInvoice(sub.Customer)
	}
	start, end := sub.period()
	usage, err := st.meteredLines(ctx, sub, start, end, rev.names)
	if err != nil {
		return bill{}, err
	}
	b := sub.renewal(cu, pending, usage, rev.names)
	if !b.needed() {
		return bill{}, noUpcomingInvoice(sub.Customer)
	}
	b.reason = reasonUpcoming
	return b, nil
}

// preview shows a draft under an id that cannot be retrieved.
func (in *invoice) preview() *invoice {
	in.ID = "upcoming_" + in.ID
	in.Lines.URL = strings.Replace(in.Lines.URL, "/in_", "/upcoming_in_", 1)
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		line.Invoice, line.ID = in.ID, strings.Replace(line.ID, "il_", "il_tmp_", 1)
	}
	return in
}

func noUpcomingInvoice(customerID string) *apiError {
	e := refuse("", "invoice_upcoming_none", "No upcoming invoices for customer: %s", customerID)
	e.status = http.StatusNotFound
	return e
}
