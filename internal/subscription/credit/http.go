package credit

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handlers for credit.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// AdminCreditEntry is a change of the credit as admins see it.
type AdminCreditEntry struct {
	ID        uuid.UUID    `json:"id"`
	Amount    money.Money  `json:"amount" doc:"Amount. Negative for a deduction."`
	Reason    string       `json:"reason"`
	By        authz.Author `json:"by" doc:"The user or API key that changed the credit."`
	CreatedAt shape.Time   `json:"created_at"`
}

// AdminCredit is the credit of a tenant as admins see it.
type AdminCredit struct {
	Balance money.Money        `json:"balance" doc:"Remaining credit. Negative if the tenant owes an amount that was too small to charge."`
	Entries []AdminCreditEntry `json:"entries" doc:"Added and deducted amounts, newest first. Invoices also change the balance; see their balance_applied."`
}

// CreditEntry is a change of the credit as the tenant sees it.
type CreditEntry struct {
	ID        uuid.UUID   `json:"id"`
	Amount    money.Money `json:"amount" doc:"Amount. Negative for a deduction."`
	CreatedAt shape.Time  `json:"created_at"`
}

// CustomerCredit is the credit of a tenant, which is applied to its next invoices.
type CustomerCredit struct {
	Balance money.Money   `json:"balance" doc:"Remaining credit. Negative if the tenant owes an amount that was too small to charge."`
	Entries []CreditEntry `json:"entries" doc:"Amounts that the platform added or deducted, newest first. Invoices also change the balance; see their balance_applied."`
}

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// Show handles GET /credit. It leaves out the reasons.
func (h *HTTP) Show(ctx context.Context, _ *tenantInput) (*rest.Data[CustomerCredit], error) {
	st, err := h.svc.Statement(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	v := CustomerCredit{Balance: st.Balance, Entries: make([]CreditEntry, len(st.Entries))}
	for i, e := range st.Entries {
		v.Entries[i] = CreditEntry{ID: e.ID, Amount: e.Amount, CreatedAt: shape.T(e.CreatedAt)}
	}
	return rest.OK(v), nil
}

type adminInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminShow handles GET /admin/tenants/{tenant}/credit.
func (h *HTTP) AdminShow(ctx context.Context, in *adminInput) (*rest.Data[AdminCredit], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	st, err := h.svc.Statement(ctx, id)
	if err != nil {
		return nil, err
	}
	v := AdminCredit{Balance: st.Balance, Entries: make([]AdminCreditEntry, len(st.Entries))}
	for i, e := range st.Entries {
		v.Entries[i] = AdminCreditEntry{ID: e.ID, Amount: e.Amount, Reason: e.Reason, By: e.By, CreatedAt: shape.T(e.CreatedAt)}
	}
	return rest.OK(v), nil
}

type adjustInput struct {
	adminInput
	Body struct {
		AmountCents int64  `json:"amount_cents" minimum:"-999999999999999" maximum:"999999999999999" doc:"Amount in minor units of the currency, not 0. A negative amount is deducted, at most the balance."`
		Currency    string `json:"currency" minLength:"3" maxLength:"3"`
		Reason      string `json:"reason" format:"multiline" minLength:"1" maxLength:"500" doc:"Reason for the adjustment. Only admins see it."`
	}
}

func (in *adjustInput) amount() money.Money {
	return money.Money{AmountCents: in.Body.AmountCents, Currency: strings.ToUpper(in.Body.Currency)}
}

// CheckAdjust is the check that rest.Checks runs for Adjust.
func (h *HTTP) CheckAdjust(ctx context.Context, in *adjustInput) error {
	switch {
	case rest.IsBroken(ctx, "amount_cents") && rest.IsBroken(ctx, "currency"):
		return nil
	case rest.IsBroken(ctx, "currency"):
		return checkZero(in.amount())
	case rest.IsBroken(ctx, "amount_cents"):
		return h.svc.checkCurrency(ctx, in.amount().Currency)
	default:
		return h.svc.check(ctx, in.amount())
	}
}

// Adjust handles POST /admin/tenants/{tenant}/credit.
func (h *HTTP) Adjust(ctx context.Context, in *adjustInput) (*rest.Data[AdminCredit], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.svc.Adjust(ctx, id, in.amount(), in.Body.Reason); err != nil {
		return nil, err
	}
	return h.AdminShow(ctx, &in.adminInput)
}
