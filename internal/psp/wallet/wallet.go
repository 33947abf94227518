// Package wallet reads how a customer pays at the payment provider: with which payment
// method, why a payment failed, and what was given back. It only reads.
package wallet

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
)

// readTime bounds a read for which a person waits.
const readTime = 8 * time.Second

// Wallet reads from the provider.
type Wallet struct {
	Client *psp.Client
	// Dashboard is where the provider's pages about the account are, without a slash at its
	// end; empty for Stripe's own.
	Dashboard string
}

// CustomerPage returns the address of the provider's page about a customer, for the
// operator.
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

// Method is a card, a bank account or another means of payment. What a type does not have is
// empty.
type Method struct {
	Type     string // the provider's name, such as card or sepa_debit
	Brand    string // of a card, such as visa
	Last4    string
	ExpMonth int64
	ExpYear  int64
	Holder   string
}

// Default returns what the next invoice of a customer is paid with: the payment method of
// the subscription, "" for none, else that of the customer. ok is false where there is none.
func (w Wallet) Default(ctx context.Context, customerID, subscriptionID string) (m Method, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	if subscriptionID != "" {
		sub, _, err := psp.Call(ctx, w.Client, "get payment method", func(ctx context.Context, api *stripe.Client) (*stripe.Subscription, error) {
			params := &stripe.SubscriptionRetrieveParams{}
			params.AddExpand("default_payment_method")
			return api.V1Subscriptions.Retrieve(ctx, subscriptionID, params)
		})
		switch {
		case errors.Is(err, psp.ErrNotFound): // deleted there; the customer may still be
		case err != nil:
			return Method{}, false, err
		case sub.DefaultPaymentMethod != nil:
			return newMethod(sub.DefaultPaymentMethod), true, nil
		}
	}
	customer, _, err := psp.Call(ctx, w.Client, "get payment method", func(ctx context.Context, api *stripe.Client) (*stripe.Customer, error) {
		params := &stripe.CustomerRetrieveParams{}
		params.AddExpand("invoice_settings.default_payment_method")
		return api.V1Customers.Retrieve(ctx, customerID, params)
	})
	if errors.Is(err, psp.ErrNotFound) {
		return Method{}, false, nil
	}
	if err != nil || customer.InvoiceSettings == nil || customer.InvoiceSettings.DefaultPaymentMethod == nil {
		return Method{}, false, err
	}
	return newMethod(customer.InvoiceSettings.DefaultPaymentMethod), true, nil
}

func newMethod(pm *stripe.PaymentMethod) Method {
	m := Method{Type: string(pm.Type)}
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
