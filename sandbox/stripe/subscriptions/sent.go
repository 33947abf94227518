package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// A subscription with the collection method send_invoice is active from the start, whatever the
// state of its first invoice. Its invoices are drafts for an hour and are never charged
// automatically. It becomes past_due when an invoice is not paid by its due date
// (https://docs.stripe.com/api/subscriptions/object, collection_method and status).

const secondsOfDay = 24 * 60 * 60

// maxDaysUntilDue is the limit of days_until_due.
const maxDaysUntilDue = 36_500

// readCollection reads the parameters collection_method and days_until_due.
func readCollection(p *form.Params, method *string, days **int64) {
	p.Choice("collection_method", method, billing.ChargeAutomatically, billing.SendInvoice)
	if p.Has("days_until_due") {
		var n int64
		p.Integer("days_until_due", 0, maxDaysUntilDue, &n)
		*days = &n
	}
}

// checkCollection requires days_until_due and a customer with an email for invoices that are sent.
// For other invoices, it refuses days_until_due.
func checkCollection(method string, days *int64, cu *customers.Customer) error {
	switch isSent := method == billing.SendInvoice; {
	case isSent && days == nil:
		return form.Refuse("days_until_due", "parameter_missing", "Missing required param: days_until_due.")
	case !isSent && days != nil:
		return form.Refuse("days_until_due", "", "`days_until_due` can only be set when `collection_method` is `send_invoice`.")
	case isSent && (cu.Email == nil || *cu.Email == ""):
		return form.Refuse("", "", "Missing email. In order to create invoices that are sent to the customer, the customer must have a valid email.")
	}
	return nil
}

// updateCollection reads the collection method of an update. A subscription that is charged
// automatically loses its days until due.
func (sub *Subscription) updateCollection(ctx context.Context, c *kernel.Call) error {
	p := c.Params
	days := sub.DaysUntilDue
	readCollection(p, &sub.CollectionMethod, &days)
	if !p.Has("collection_method") && !p.Has("days_until_due") {
		return nil
	}
	if sub.CollectionMethod == billing.ChargeAutomatically && !p.Has("days_until_due") {
		days = nil
	}
	cu, err := customers.All.Get(ctx, c.Q, sub.Customer, "customer")
	if err != nil {
		return err
	}
	sub.DaysUntilDue = days
	return checkCollection(sub.CollectionMethod, days, cu)
}

// finalizeSent finalizes the draft of an invoice that is sent.
func finalizeSent(ctx context.Context, st *kernel.Step, in *invoices.Invoice) error {
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if err := invoices.Finalize(ctx, st, in); err != nil {
		return err
	}
	if in.Status == invoices.StatusPaid {
		if err := paymentSucceeded(ctx, st, sub); err != nil {
			return err
		}
	}
	return Save(ctx, st, before, sub)
}

// invoiceDue makes a subscription past due when a sent invoice is not paid by its due date.
func invoiceDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.StatusOpen {
		return err
	}
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
	if err != nil || sub.Status != StatusActive {
		return err
	}
	before := sub.Clone()
	sub.Status = StatusPastDue
	return Save(ctx, st, before, sub)
}
