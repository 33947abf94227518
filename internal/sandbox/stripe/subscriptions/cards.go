package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// SetDefaultCard makes a payment method the default of a customer and of all
// the customer's subscriptions, as the billing portal does.
func SetDefaultCard(ctx context.Context, st *kernel.Step, cu *customers.Customer, pm *customers.PaymentMethod) error {
	before := *cu
	cu.InvoiceSettings.DefaultPaymentMethod = &pm.ID
	if err := st.Change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	all, err := All.Where(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired')`, cu.ID)
	if err != nil {
		return err
	}
	for _, sub := range all {
		before := sub.Clone()
		sub.DefaultPaymentMethod = &pm.ID
		if err := Save(ctx, st, before, sub); err != nil {
			return err
		}
	}
	return nil
}

// PayOpenInvoices tries to pay a customer's open invoices, oldest first, while
// the buyer is present. Invoices of subscriptions that have ended are left out.
func PayOpenInvoices(ctx context.Context, st *kernel.Step, customerID string) error {
	open, err := invoices.All.Where(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.status' = 'open'`, customerID)
	if err != nil {
		return err
	}
	for _, in := range open {
		sub, err := All.Get(ctx, st.Q, in.Parent.SubscriptionDetails.Subscription, "subscription")
		if err != nil {
			return err
		}
		if sub.Ended() {
			continue
		}
		if err := settleInvoiceDue(ctx, st, in, customers.BuyerPresent); err != nil {
			return err
		}
	}
	return nil
}
