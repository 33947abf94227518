// Package customers reads and changes the credit, tax IDs and payment methods of customers at the
// provider.
package customers

import (
	"context"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// metaEntry is the metadata key for the key of an adjustment.
const metaEntry = "credit_entry"

// Balances reads and changes the credit of customers, which the provider applies to their next
// invoices (https://docs.stripe.com/billing/customer/balance).
type Balances struct{ Client *psp.Client }

// Adjustment is a change of a customer's credit. A positive Amount adds credit. The provider uses
// the opposite sign.
type Adjustment struct {
	Key        string // idempotency key
	CustomerID string
	Amount     int64  // minor units
	Currency   string // ISO 4217, upper case
}

// Read returns the credit of a customer by currency (ISO 4217, upper case), without balances of 0.
// A debt is negative. The result is empty for a deleted customer.
func (b Balances) Read(ctx context.Context, customerID string) (map[string]int64, error) {
	customer, _, err := psp.Call(ctx, b.Client, "get balance", func(ctx context.Context, api *calls.API) (*stripe.Customer, error) {
		params := &stripe.CustomerRetrieveParams{}
		params.AddExpand("invoice_credit_balance")
		return api.V1Customers.Retrieve(ctx, customerID, params)
	})
	if err != nil || customer.Deleted {
		return nil, err
	}
	credit := map[string]int64{}
	for currency, amount := range customer.InvoiceCreditBalance {
		units, err := b.Client.UnitsRead(ctx, currency)
		if err != nil {
			return nil, err
		}
		if amount != 0 {
			credit[strings.ToUpper(currency)] = units.FromProvider(amount)
		}
	}
	return credit, nil
}

// Units returns the units of a currency, which limit the amounts of adjustments.
func (b Balances) Units(ctx context.Context, currency string) (charge.Units, error) {
	return b.Client.UnitsRead(ctx, currency)
}

// Adjust changes the credit of a customer. Repeating it with the same key changes nothing. The
// provider remembers the key for a day; after that, use IsDone before a retry.
func (b Balances) Adjust(ctx context.Context, a Adjustment) error {
	units, err := b.Client.UnitsRead(ctx, a.Currency)
	if err != nil {
		return err
	}
	amount, err := units.ToProvider(max(a.Amount, -a.Amount))
	if err != nil {
		return err
	}
	if a.Amount > 0 {
		amount = -amount
	}
	_, err = psp.Write(ctx, b.Client, "adjust balance", a.Key, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1CustomerBalanceTransactions.Create(ctx, &stripe.CustomerBalanceTransactionCreateParams{
			Params: stripe.Params{IdempotencyKey: stripe.String(a.Key)}, Customer: stripe.String(a.CustomerID),
			Amount: stripe.Int64(amount), Currency: stripe.String(strings.ToLower(a.Currency)),
			Metadata: map[string]string{metaEntry: a.Key},
		})
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		done, err := b.IsDone(ctx, a)
		if err == nil && !done {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

// IsDone reports whether the provider has made an adjustment.
func (b Balances) IsDone(ctx context.Context, a Adjustment) (bool, error) {
	done, _, err := psp.Call(ctx, b.Client, "list adjustments of the balance", func(ctx context.Context, api *calls.API) (bool, error) {
		list := api.V1CustomerBalanceTransactions.List(ctx, &stripe.CustomerBalanceTransactionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(100)}, Customer: stripe.String(a.CustomerID),
		})
		for made, err := range list.All(ctx) {
			if err != nil {
				return false, err
			}
			if made.Metadata[metaEntry] == a.Key {
				return true, nil
			}
		}
		return false, nil
	})
	return done, err
}
