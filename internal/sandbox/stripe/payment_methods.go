package stripe

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
)

// checkCard refuses a card that is not the customer's; nil is none.
func checkCard(ctx context.Context, st *step, id *string, customerID, param string) error {
	if id == nil {
		return nil
	}
	pm, err := paymentMethods.get(ctx, st.q, *id, param)
	if err == nil && pm.Customer != customerID {
		err = form.Refuse(param, "", "The customer does not have a payment method with the ID %s. The payment method must be attached to the customer.", *id)
	}
	return err
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
	c.params.Require("customer")
	c.params.Text("customer", &customerID)
	if err := c.params.Done(); err != nil {
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
			return nil, form.Refuse("", "", "The payment method you provided has already been attached to a customer.")
		}
		return pm, err
	}
	cu, err := liveCustomer(ctx, c.step, customerID, "customer")
	if err != nil {
		return nil, err
	}
	found, _ := readCard(number)
	if found.declines {
		return nil, declinedCard().answer()
	}
	return attachCard(ctx, c.step, found, cu)
}
