package stripe

import "context"

// checkCard refuses a card that is not the customer's; nil is none.
func (st *step) checkCard(ctx context.Context, id *string, customerID, param string) error {
	if id == nil {
		return nil
	}
	pm, err := paymentMethods.get(ctx, st.q, *id, param)
	if err == nil && pm.Customer != customerID {
		err = refuse(param, "", "The customer does not have a payment method with the ID %s. The payment method must be attached to the customer.", *id)
	}
	return err
}

// setDefaultCard makes a card the one that everything of the customer's is paid
// with from now on, as the billing portal does.
func (st *step) setDefaultCard(ctx context.Context, cu *customer, pm *paymentMethod) error {
	before := *cu
	cu.InvoiceSettings.DefaultPaymentMethod = &pm.ID
	if err := st.change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	all, err := subscriptions.where(ctx, st.q, `doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired')`, cu.ID)
	if err != nil {
		return err
	}
	for _, sub := range all {
		before := sub.clone()
		sub.DefaultPaymentMethod = &pm.ID
		if err := st.keep(ctx, before, sub); err != nil {
			return err
		}
	}
	return nil
}

// payOpenInvoices tries, oldest first, what a customer owes for subscriptions
// that have not ended, while the card's owner is there.
func (st *step) payOpenInvoices(ctx context.Context, customerID string) error {
	open, err := invoices.where(ctx, st.q, `doc ->> '$.customer' = ? AND doc ->> '$.status' = 'open'`, customerID)
	if err != nil {
		return err
	}
	for _, in := range open {
		sub, err := subscriptions.get(ctx, st.q, in.Parent.SubscriptionDetails.Subscription, "subscription")
		if err != nil {
			return err
		}
		if sub.ended() {
			continue
		}
		if err := st.demandDue(ctx, in, buyerPresent); err != nil {
			return err
		}
	}
	return nil
}

func getPaymentMethod(ctx context.Context, c *call) (any, error) {
	return retrieve(ctx, c, paymentMethods)
}

func listPaymentMethods(ctx context.Context, c *call) (any, error) {
	var f filter
	f.equals(c.params, "customer", "$.customer")
	f.equals(c.params, "type", "$.type")
	return paymentMethods.page(ctx, c, f)
}

// attachPaymentMethod gives a customer one of Stripe's test cards by its name.
func attachPaymentMethod(ctx context.Context, c *call) (any, error) {
	var customerID string
	c.params.require("customer")
	c.params.text("customer", &customerID)
	if err := c.params.done(); err != nil {
		return nil, err
	}
	number, known := map[string]string{
		"pm_card_visa":                "4242424242424242",
		"pm_card_visa_chargeDeclined": "4000000000000002",
		"pm_card_chargeCustomerFail":  "4000000000000341",
	}[c.id]
	if !known {
		pm, err := paymentMethods.get(ctx, c.q, c.id, "id")
		if err == nil && pm.Customer != customerID {
			return nil, refuse("", "", "The payment method you provided has already been attached to a customer.")
		}
		return pm, err
	}
	cu, err := c.liveCustomer(ctx, customerID, "customer")
	if err != nil {
		return nil, err
	}
	found, _ := readCard(number)
	if found.declines {
		return nil, declinedCard().answer()
	}
	return c.attach(ctx, found, cu)
}
