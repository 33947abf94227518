package customers

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// CheckCard refuses a payment method that does not belong to the customer. It accepts a nil id.
func CheckCard(ctx context.Context, st *kernel.Step, id *string, customerID, param string) error {
	if id == nil {
		return nil
	}
	pm, err := PaymentMethods.Get(ctx, st.Q, *id, param)
	if err == nil && (pm.Customer == nil || *pm.Customer != customerID) {
		err = form.Refuse(param, "", "The customer does not have a payment method with the ID %s. The payment method must be attached to the customer.", *id)
	}
	return err
}

// getPaymentMethod handles GET /v1/payment_methods/{id}.
func getPaymentMethod(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, PaymentMethods)
}

// listPaymentMethods handles GET /v1/payment_methods.
func listPaymentMethods(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.AddEqual(c.Params, "type", "$.type")
	return PaymentMethods.Page(ctx, c, f)
}

// attachPaymentMethod handles POST /v1/payment_methods/{id}/attach. It accepts the names of some of
// Stripe's test cards.
func attachPaymentMethod(ctx context.Context, c *kernel.Call) (any, error) {
	var customerID string
	c.Params.Require("customer")
	c.Params.Text("customer", &customerID)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	number, known := map[string]string{
		"pm_card_visa":                   "4242424242424242",
		"pm_card_visa_chargeDeclined":    "4000000000000002",
		"pm_card_chargeCustomerFail":     "4000000000000341",
		"pm_card_authenticationRequired": "4000002760003184",
		"pm_card_refundFail":             "4000000000005126",
		"pm_card_pendingRefund":          "4000000000007726",
	}[c.ID]
	if !known {
		pm, err := PaymentMethods.Get(ctx, c.Q, c.ID, "id")
		if err == nil && pm.Customer == nil {
			return nil, form.Refuse("", "", "The provided PaymentMethod was previously used with a PaymentIntent without Customer attachment and may not be used again. To use a PaymentMethod multiple times, you must attach it to a Customer first.")
		}
		if err == nil && *pm.Customer != customerID {
			return nil, form.Refuse("", "", "The payment method you provided has already been attached to a customer.")
		}
		return pm, err
	}
	cu, err := FindLive(ctx, c.Step, customerID, "customer")
	if err != nil {
		return nil, err
	}
	found, _ := ReadCard(number)
	if found.Declines {
		return nil, NewDeclinedError().Answer("")
	}
	pm := NewCard(c.Step, found, cu)
	if err := pm.Attach(ctx, c.Step); err != nil {
		return nil, err
	}
	return pm, nil
}

// updatePaymentMethod handles POST /v1/payment_methods/{id}: the metadata, and the expiry of a card.
func updatePaymentMethod(ctx context.Context, c *kernel.Call) (any, error) {
	pm, err := PaymentMethods.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *pm
	if pm.Card != nil {
		before.Card = new(card)
		*before.Card = *pm.Card
	}
	before.Metadata = maps.Clone(pm.Metadata)
	c.Params.Metadata(&pm.Metadata)
	if given := c.Params.Hash("card"); given != nil {
		if pm.Card == nil {
			return nil, form.Refuse("card", "", "You passed 'card' for a PaymentMethod of another type.")
		}
		month, year := int64(pm.Card.ExpMonth), int64(pm.Card.ExpYear)
		given.Integer("exp_month", 1, 12, &month)
		given.Integer("exp_year", 1, 9999, &year)
		if time.Date(int(year), time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC).Unix() <= c.Now {
			return nil, &form.Error{
				Type: "card_error", Code: "invalid_expiry_year", Param: "exp_year",
				Message: "Your card's expiration year is invalid.", Status: http.StatusPaymentRequired,
			}
		}
		pm.Card.ExpMonth, pm.Card.ExpYear = int(month), int(year)
	}
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return pm, c.Change(ctx, "payment_method.updated", before, pm)
}
