package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// SetDefaultCard makes a payment method the default of a customer and of all the customer's
// subscriptions, as the billing portal does.
func SetDefaultCard(ctx context.Context, st *kernel.Step, cu *customers.Customer, pm *customers.PaymentMethod) error {
	before := *cu
	cu.InvoiceSettings.DefaultPaymentMethod = &pm.ID
	if err := st.Change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	all, err := All.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired')`, cu.ID)
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
