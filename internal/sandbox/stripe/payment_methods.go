package stripe

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// checkCard refuses a card that is not the customer's; nil is none.
func checkCard(ctx context.Context, st *kernel.Step, id *string, customerID, param string) error {
	if id == nil {
		return nil
	}
	pm, err := paymentMethods.Get(ctx, st.Q, *id, param)
	if err == nil && pm.Customer != customerID {
		err = form.Refuse(param, "", "The customer does not have a payment method with the ID %s. The payment method must be attached to the customer.", *id)
	}
	return err
}

func getPaymentMethod(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, paymentMethods)
}

func listPaymentMethods(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.Equals(c.Params, "customer", "$.customer")
	f.Equals(c.Params, "type", "$.type")
	return paymentMethods.Page(ctx, c, f)
}

// attachPaymentMethod gives a customer one of Stripe's test cards by its name.
func attachPaymentMethod(ctx context.Context, c *kernel.Call) (any, error) {
	var customerID string
	c.Params.Require("customer")
	c.Params.Text("customer", &customerID)
	if err := c.Params.Done(); err != nil {
		return nil, err
	}
	number, known := map[string]string{
		"pm_card_visa":                "4242424242424242",
		"pm_card_visa_chargeDeclined": "4000000000000002",
		"pm_card_chargeCustomerFail":  "4000000000000341",
	}[c.Id]
	if !known {
		pm, err := paymentMethods.Get(ctx, c.Q, c.Id, "id")
		if err == nil && pm.Customer != customerID {
			return nil, form.Refuse("", "", "The payment method you provided has already been attached to a customer.")
		}
		return pm, err
	}
	cu, err := liveCustomer(ctx, c.Step, customerID, "customer")
	if err != nil {
		return nil, err
	}
	found, _ := readCard(number)
	if found.declines {
		return nil, declinedCard().answer()
	}
	return attachCard(ctx, c.Step, found, cu)
}
