package customers

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// readTime limits a read that a user waits for.
const readTime = 8 * time.Second

// Wallet reads a customer's payment method, credit and failed payments. It is read-only.
type Wallet struct {
	Client *psp.Client
	// Dashboard is the base URL of the provider's account pages, without a trailing slash. Empty
	// means Stripe's own.
	Dashboard string
}

// CustomerPage returns the URL of the provider's page about a customer, for the operator.
func (w Wallet) CustomerPage(customerID string) string {
	base := w.Dashboard
	if base == "" {
		base = "https://dashboard.stripe.com"
		if w.Client.Mode() == psp.TestMode {
			base += "/test"
		}
	}
	return base + "/customers/" + customerID
}

// PaymentMethod is a card, a bank account or another payment method. Fields that a type does not have are
// empty.
type PaymentMethod struct {
	Type     string // the provider's name for it, such as card or sepa_debit
	Brand    string // card brand, such as visa
	Last4    string
	ExpMonth int64
	ExpYear  int64
	Holder   string
}

// Default returns the payment method for the customer's next invoice. It is the payment method of
// the subscription, or else of the customer. subscriptionID can be "". ok is false without a
// payment method.
func (w Wallet) Default(ctx context.Context, customerID, subscriptionID string) (m PaymentMethod, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	if subscriptionID != "" {
		sub, _, err := psp.Call(ctx, w.Client, "get payment method", func(ctx context.Context, api *calls.API) (*stripe.Subscription, error) {
			params := &stripe.SubscriptionRetrieveParams{}
			params.AddExpand("default_payment_method")
			return api.V1Subscriptions.Retrieve(ctx, subscriptionID, params)
		})
		switch {
		case errors.Is(err, psp.ErrNotFound): // deleted at the provider, but the customer may exist
		case err != nil:
			return PaymentMethod{}, false, err
		case sub.DefaultPaymentMethod != nil:
			return newPaymentMethod(sub.DefaultPaymentMethod), true, nil
		}
	}
	customer, _, err := psp.Call(ctx, w.Client, "get payment method", func(ctx context.Context, api *calls.API) (*stripe.Customer, error) {
		params := &stripe.CustomerRetrieveParams{}
		params.AddExpand("invoice_settings.default_payment_method")
		return api.V1Customers.Retrieve(ctx, customerID, params)
	})
	if errors.Is(err, psp.ErrNotFound) {
		return PaymentMethod{}, false, nil
	}
	if err != nil || customer.InvoiceSettings == nil || customer.InvoiceSettings.DefaultPaymentMethod == nil {
		return PaymentMethod{}, false, err
	}
	return newPaymentMethod(customer.InvoiceSettings.DefaultPaymentMethod), true, nil
}

func newPaymentMethod(pm *stripe.PaymentMethod) PaymentMethod {
	m := PaymentMethod{Type: string(pm.Type)}
	if pm.BillingDetails != nil {
		m.Holder = pm.BillingDetails.Name
	}
	switch {
	case pm.Card != nil:
		m.Brand, m.Last4, m.ExpMonth, m.ExpYear = string(pm.Card.Brand), pm.Card.Last4, pm.Card.ExpMonth, pm.Card.ExpYear
	case pm.SEPADebit != nil:
		m.Last4 = pm.SEPADebit.Last4
	case pm.USBankAccount != nil:
		m.Last4 = pm.USBankAccount.Last4
	case pm.BACSDebit != nil:
		m.Last4 = pm.BACSDebit.Last4
	case pm.AUBECSDebit != nil:
		m.Last4 = pm.AUBECSDebit.Last4
	case pm.ACSSDebit != nil:
		m.Last4 = pm.ACSSDebit.Last4
	}
	return m
}
