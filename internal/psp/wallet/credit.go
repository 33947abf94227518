package wallet

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
)

// maxEntries is the maximum number of balance changes that are read.
const maxEntries = 100

// Credit is a customer's balance and its newest changes. Amounts are in the minor units used here.
// Credit is positive, whereas it is negative at the provider.
type Credit struct {
	Currency string // ISO 4217, upper case; empty for a customer that never had a balance
	Balance  int64
	Entries  []CreditEntry // newest first
}

// CreditEntry is an amount that the operator granted, or withdrew if it is negative.
type CreditEntry struct {
	ID       string
	Amount   int64
	Currency string // ISO 4217, upper case
	At       time.Time
}

// Credit returns the credit of a customer, or zero for a deleted customer.
func (w Wallet) Credit(ctx context.Context, customerID string) (Credit, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	customer, _, err := psp.Call(ctx, w.Client, "get balance", func(ctx context.Context, api *stripe.Client) (*stripe.Customer, error) {
		return api.V1Customers.Retrieve(ctx, customerID, nil)
	})
	if errors.Is(err, psp.ErrNotFound) || err == nil && customer.Deleted {
		return Credit{}, nil
	}
	if err != nil || customer.Currency == "" {
		return Credit{}, err
	}
	changes, _, err := psp.Call(ctx, w.Client, "list changes of the balance", func(ctx context.Context, api *stripe.Client) ([]*stripe.CustomerBalanceTransaction, error) {
		list := api.V1CustomerBalanceTransactions.List(ctx, &stripe.CustomerBalanceTransactionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(maxEntries)}, Customer: stripe.String(customerID),
		})
		return list.Data(), list.Err()
	})
	if err != nil {
		return Credit{}, err
	}
	units, err := w.Client.UnitsRead(ctx, string(customer.Currency))
	if err != nil {
		return Credit{}, err
	}
	credit := Credit{Currency: strings.ToUpper(string(customer.Currency)), Balance: -units.FromProvider(customer.Balance)}
	for _, change := range changes {
		if change.Type != stripe.CustomerBalanceTransactionTypeAdjustment || psp.RestoresCredit(change) {
			continue // skip changes by invoices
		}
		units, err := w.Client.UnitsRead(ctx, string(change.Currency))
		if err != nil {
			return Credit{}, err
		}
		credit.Entries = append(credit.Entries, CreditEntry{
			ID: change.ID, Amount: -units.FromProvider(change.Amount), Currency: strings.ToUpper(string(change.Currency)), At: time.Unix(change.Created, 0).UTC(),
		})
	}
	return credit, nil
}
