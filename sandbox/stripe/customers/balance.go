package customers

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// adjustments are the balance changes that were not made by an invoice.
var adjustments = kernel.Kind[adjustment]{Name: "customer_balance_transaction", Prefix: "cbtxn", Label: "customer balance transaction"}

// adjustment is a change of a customer's balance. A negative amount is a credit.
type adjustment struct {
	kernel.Header
	Amount          int64             `json:"amount"`
	CheckoutSession form.Null         `json:"checkout_session"`
	CreditNote      *string           `json:"credit_note"`
	Currency        string            `json:"currency"`
	Customer        string            `json:"customer"`
	Description     *string           `json:"description"`
	EndingBalance   int64             `json:"ending_balance"`
	Invoice         form.Null         `json:"invoice"`
	Metadata        map[string]string `json:"metadata"`
	Type            string            `json:"type"`
}

// createAdjustment handles POST /v1/customers/{id}/balance_transactions.
func createAdjustment(ctx context.Context, c *kernel.Call) (any, error) {
	a := adjustment{Header: adjustments.Start(c.Now), Customer: c.ID, Metadata: map[string]string{}, Type: "adjustment"}
	p := c.Params
	p.Require("amount", "currency")
	form.ReadCurrency(p, "currency", &a.Currency)
	most := billing.MaxAmount(a.Currency)
	p.Integer("amount", -most, most, &a.Amount)
	p.ReadClearable("description", &a.Description)
	p.Metadata(&a.Metadata)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	cu, err := FindLive(ctx, c.Step, c.ID, "id")
	if err != nil {
		return nil, err
	}
	if cu.Balance != 0 && *cu.Currency != a.Currency {
		return nil, form.Refuse("currency", "", "In the sandbox, a customer has a balance in one currency; this balance is in %s.", *cu.Currency)
	}
	before := *cu
	cu.Balance += a.Amount
	if cu.Currency == nil || before.Balance == 0 {
		cu.Currency = &a.Currency
	}
	a.EndingBalance = cu.Balance
	if err := kernel.Put(ctx, c.Q, a); err != nil {
		return nil, err
	}
	return a, c.Change(ctx, "customer.updated", before, cu)
}

// GiveCredit gives the customer credit from a credit note and returns the ID of the transaction.
func (cu *Customer) GiveCredit(ctx context.Context, st *kernel.Step, note, currency string, amount int64) (string, error) {
	before := *cu
	cu.Balance -= amount
	if cu.Currency == nil || before.Balance == 0 {
		cu.Currency = &currency
	}
	a := adjustment{
		Header: adjustments.Start(st.Now), Amount: -amount, CreditNote: &note, Currency: currency, Customer: cu.ID,
		EndingBalance: cu.Balance, Metadata: map[string]string{}, Type: "credit_note",
	}
	if err := kernel.Put(ctx, st.Q, a); err != nil {
		return "", err
	}
	return a.ID, st.Change(ctx, "customer.updated", before, cu)
}

// listAdjustments handles GET /v1/customers/{id}/balance_transactions.
func listAdjustments(ctx context.Context, c *kernel.Call) (any, error) {
	if _, err := FindLive(ctx, c.Step, c.ID, "id"); err != nil {
		return nil, err
	}
	var f kernel.Filter
	f.AddCondition(`doc ->> '$.customer' = ?`, c.ID)
	k := adjustments
	k.Path = All.Path + "/" + c.ID + "/balance_transactions"
	return k.Page(ctx, c, f)
}

// CreditOf returns the credit of a customer by currency, as in customer.invoice_credit_balance. The
// amount is positive if the balance is negative.
func CreditOf(ctx context.Context, q kernel.Querier, customerID string) (any, error) {
	cu, err := All.Get(ctx, q, customerID, "customer")
	if err != nil || cu.Balance == 0 {
		return map[string]int64{}, err
	}
	return map[string]int64{*cu.Currency: -cu.Balance}, nil
}
