package psp

import (
	"context"
	"errors"
	"strings"

	"github.com/stripe/stripe-go/v85"
)

// OtherCurrency returns a currency (ISO 4217, upper case) that differs from the given currency and
// in which a customer has credit, debt, pending items or unpaid invoices. Without such a currency
// it returns "". The provider allows the next subscription to have another currency, but applies a
// credit only to invoices in the same currency.
func (c *Client) OtherCurrency(ctx context.Context, customerID, currency string) (string, error) {
	customer, err := read(ctx, c, "get customer", customerID, func(ctx context.Context) (*stripe.Customer, error) {
		params := &stripe.CustomerRetrieveParams{}
		params.AddExpand("invoice_credit_balance")
		return c.api.V1Customers.Retrieve(ctx, customerID, params)
	})
	if err != nil || customer.Deleted {
		return "", err
	}
	for other, amount := range customer.InvoiceCreditBalance {
		if amount != 0 && !strings.EqualFold(other, currency) {
			return strings.ToUpper(other), nil
		}
	}
	own := string(customer.Currency)
	if own == "" || strings.EqualFold(own, currency) {
		return "", nil // the customer's currency is the currency of the last invoice
	}
	if customer.Balance != 0 {
		return strings.ToUpper(own), nil
	}
	return c.openIn(ctx, customerID, currency)
}

// CustomerCredit returns a customer's credit for invoices in a currency (ISO 4217, upper case). It
// is at least 0, and 0 for a deleted customer.
func (c *Client) CustomerCredit(ctx context.Context, customerID, currency string) (int64, error) {
	customer, err := read(ctx, c, "get customer", customerID, func(ctx context.Context) (*stripe.Customer, error) {
		params := &stripe.CustomerRetrieveParams{}
		params.AddExpand("invoice_credit_balance")
		return c.api.V1Customers.Retrieve(ctx, customerID, params)
	})
	if err != nil || customer.Deleted {
		return 0, err
	}
	units, err := c.UnitsRead(ctx, currency)
	if err != nil {
		return 0, err
	}
	return max(units.FromProvider(customer.InvoiceCreditBalance[strings.ToLower(currency)]), 0), nil
}

// openIn returns a currency, other than the given one, of an unpaid invoice or a pending item of
// the customer, or "".
func (c *Client) openIn(ctx context.Context, customerID, currency string) (string, error) {
	return call(ctx, c, "list open invoices", func(ctx context.Context) (string, error) {
		for _, status := range []stripe.InvoiceStatus{stripe.InvoiceStatusOpen, stripe.InvoiceStatusDraft} {
			list := c.api.V1Invoices.List(ctx, &stripe.InvoiceListParams{Customer: stripe.String(customerID), Status: stripe.String(status)})
			other, err := findOtherCurrency(list.All(ctx), func(in *stripe.Invoice) stripe.Currency { return in.Currency }, currency)
			if err != nil || other != "" {
				return other, err
			}
		}
		list := c.api.V1InvoiceItems.List(ctx, &stripe.InvoiceItemListParams{Customer: stripe.String(customerID), Pending: stripe.Bool(true)})
		return findOtherCurrency(list.All(ctx), func(item *stripe.InvoiceItem) stripe.Currency { return item.Currency }, currency)
	})
}

// findOtherCurrency returns the first currency in a list that differs from the given one.
func findOtherCurrency[T any](list stripe.Seq2[T, error], of func(T) stripe.Currency, currency string) (string, error) {
	for item, err := range list {
		if err != nil {
			return "", err
		}
		if other := string(of(item)); !strings.EqualFold(other, currency) {
			return strings.ToUpper(other), nil
		}
	}
	return "", nil
}

// metaCreditOf is the metadata key for the invoice whose credit a balance adjustment restores.
const metaCreditOf = "gives_back_credit_of"

// restoreCredit restores the credit that an invoice took from its customer's balance. If the
// invoice collected a debt, the debt is restored too, because its payment is refunded. For a day,
// the idempotency key prevents a second adjustment. After that, the adjustment is found by its
// metadata.
func (c *Client) restoreCredit(ctx context.Context, invoiceID, key string) error {
	if invoiceID == "" {
		return nil
	}
	in, err := read(ctx, c, "get invoice", invoiceID, func(ctx context.Context) (*stripe.Invoice, error) {
		return c.api.V1Invoices.Retrieve(ctx, invoiceID, nil)
	})
	if err != nil {
		return err
	}
	// A negative balance is credit. A draft has not used credit yet, and a void invoice has returned
	// it.
	taken := in.EndingBalance - in.StartingBalance
	if taken == 0 || in.Customer == nil || in.Status == stripe.InvoiceStatusDraft || in.Status == stripe.InvoiceStatusVoid {
		return nil
	}
	given, err := c.hasRestoredCredit(ctx, in.Customer.ID, invoiceID)
	if err != nil || given {
		return err
	}
	_, err = writeOnce(ctx, c, "give back credit", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1CustomerBalanceTransactions.Create(ctx, &stripe.CustomerBalanceTransactionCreateParams{
			Params: idempotencyParams(key), Customer: stripe.String(in.Customer.ID),
			Amount: stripe.Int64(-taken), Currency: stripe.String(string(in.Currency)),
			Metadata: map[string]string{metaCreditOf: invoiceID},
		})
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		given, err := c.hasRestoredCredit(ctx, in.Customer.ID, invoiceID)
		if err == nil && !given {
			err = ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

// hasRestoredCredit reports whether the credit that an invoice used was already restored.
func (c *Client) hasRestoredCredit(ctx context.Context, customerID, invoiceID string) (bool, error) {
	given, err := call(ctx, c, "list adjustments of the balance", func(ctx context.Context) (bool, error) {
		list := c.api.V1CustomerBalanceTransactions.List(ctx, &stripe.CustomerBalanceTransactionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(listPage)}, Customer: stripe.String(customerID),
		})
		for adjustment, err := range list.All(ctx) {
			if err != nil {
				return false, err
			}
			if adjustment.Metadata[metaCreditOf] == invoiceID {
				return true, nil
			}
		}
		return false, nil
	})
	if errors.Is(err, ErrNotFound) {
		return true, nil // the balance was deleted with the customer
	}
	return given, err
}
