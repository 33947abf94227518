package payments

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// CustomerCredit is the credit of a tenant, which is applied to its next invoices.
type CustomerCredit struct {
	Balance money.Money   `json:"balance" doc:"Remaining credit. Negative if the tenant owes an amount that was too small to charge."`
	Entries []CreditEntry `json:"entries" doc:"Amounts that the platform added or removed, newest first. At most 100. Invoices also change the balance; see their balance_applied."`
}

// CreditEntry is an amount that the platform granted or took back.
type CreditEntry struct {
	ID        string      `json:"id"`
	Amount    money.Money `json:"amount" doc:"Amount. Negative if credit was removed."`
	CreatedAt shape.Time  `json:"created_at"`
}

// Credit handles GET /credit. It reads the balance from the provider.
func (h *HTTP) Credit(ctx context.Context, _ *tenantInput) (*rest.Data[CustomerCredit], error) {
	of, err := h.book.store.creditor(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	v := CustomerCredit{Balance: money.Money{Currency: of.currency}, Entries: []CreditEntry{}}
	if of.customer == "" {
		return rest.OK(v), nil
	}
	credit, err := h.book.wallet.Credit(ctx, of.customer)
	if err != nil {
		return nil, err
	}
	if credit.Balance != 0 {
		v.Balance = money.Money{AmountCents: credit.Balance, Currency: credit.Currency}
	}
	for _, e := range credit.Entries {
		v.Entries = append(v.Entries, CreditEntry{ID: e.ID, Amount: money.Money{AmountCents: e.Amount, Currency: e.Currency}, CreatedAt: shape.T(e.At)})
	}
	return rest.OK(v), nil
}
