package payments

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the payment handlers.
type HTTP struct {
	book     *Book
	messages *i18n.Catalog
}

// NewHTTP returns the handlers. messages has the texts of decline codes.
func NewHTTP(book *Book, messages *i18n.Catalog) *HTTP { return &HTTP{book, messages} }

// PaymentMethod is the payment method for the next invoice.
type PaymentMethod struct {
	Type     string  `json:"type" doc:"Type of the payment method at the payment provider, such as card or sepa_debit."`
	Brand    *string `json:"brand" doc:"Brand of the card, such as visa. Null for other types."`
	Last4    *string `json:"last4" doc:"Last four characters of the card or account number. Null if not available."`
	ExpMonth *int64  `json:"exp_month" doc:"Month in which the card expires. Null for other types."`
	ExpYear  *int64  `json:"exp_year" doc:"Year in which the card expires. Null for other types."`
	Holder   *string `json:"holder" doc:"Name of the holder. Null if unknown."`
}

// FailedPayment is the last attempt to collect an open invoice, if it failed.
type FailedPayment struct {
	Invoice        *uuid.UUID  `json:"invoice" doc:"ID of the invoice. Null if it no longer exists."`
	Number         *string     `json:"number" doc:"Invoice number. Null if unknown."`
	Amount         int64       `json:"amount" doc:"Amount due on the invoice, in minor units of the currency."`
	Currency       string      `json:"currency"`
	At             shape.Time  `json:"at" doc:"Time of the failure, in UTC."`
	Attempts       int32       `json:"attempts" doc:"Number of attempts to collect the invoice."`
	DeclineCode    *string     `json:"decline_code" doc:"Decline code of the payment provider, such as insufficient_funds. Null if not given. New codes can be added. Tenants get generic_decline instead of codes that only the bank should explain."`
	DeclineMessage *string     `json:"decline_message" doc:"Explanation of the decline code with a recommended action, in the caller's language. Null without a decline code."`
	NextAttemptAt  *shape.Time `json:"next_attempt_at" doc:"Time of the next attempt, in UTC. Null if no attempt is scheduled."`
}

// CurrencySum is a sum in one currency.
type CurrencySum struct {
	Currency string `json:"currency"`
	Amount   int64  `json:"amount" doc:"Sum, in minor units of the currency."`
}

// TenantBilling is the billing overview of a tenant in the admin API.
type TenantBilling struct {
	PaymentMethod *PaymentMethod `json:"payment_method" doc:"Payment method for the next invoice. Null if not set."`
	Customer      *string        `json:"customer" doc:"ID of the customer at the payment provider. Null before the first purchase."`
	ProviderURL   *string        `json:"provider_url" format:"uri" doc:"URL of the customer in the payment provider's dashboard. Null without a customer."`
	FailedPayment *FailedPayment `json:"failed_payment" doc:"Most recent failed payment of an open invoice. Null without a failed payment."`
	PaidInAll     []CurrencySum  `json:"paid_in_all" doc:"Total amount paid, by currency. Refunds are not subtracted."`
	Open          []CurrencySum  `json:"open" doc:"Amount due on open invoices, by currency. Excludes invoices with a bank debit in progress."`
}

// InvoiceTotals are the totals of a year's invoices in one currency.
type InvoiceTotals struct {
	Currency string `json:"currency"`
	Paid     int64  `json:"paid" doc:"Paid amount, in minor units of the currency. Excludes payments with credit."`
	Open     int64  `json:"open" doc:"Amount due, in minor units of the currency. Excludes invoices with a bank debit in progress."`
	Refunded int64  `json:"refunded" doc:"Refunded amount, in minor units of the currency."`
	Count    int64  `json:"count" doc:"Number of invoices, without drafts."`
}

// InvoiceSummary has the totals of a year's invoices.
type InvoiceSummary struct {
	Year   int32           `json:"year" doc:"Year of the issue dates, in UTC."`
	Years  []int32         `json:"years" doc:"Years with invoices, newest first."`
	Totals []InvoiceTotals `json:"totals" doc:"Totals by currency. Empty for a year without invoices."`
}

type tenantInput struct {
	TenantID string `path:"tenantId" format:"uuid"`
}

// Method handles GET /billing/payment-method.
func (h *HTTP) Method(ctx context.Context, _ *tenantInput) (*rest.Data[*PaymentMethod], error) {
	customer, subscription, err := h.book.store.payer(ctx, authz.TenantID(ctx))
	if errors.Is(err, errNotFound) {
		return rest.OK[*PaymentMethod](nil), nil
	}
	if err != nil {
		return nil, err
	}
	method, err := h.method(ctx, customer, subscription)
	if err != nil {
		return nil, err
	}
	return rest.OK(method), nil
}

func (h *HTTP) method(ctx context.Context, customer, subscription string) (*PaymentMethod, error) {
	m, ok, err := h.book.wallet.Default(ctx, customer, subscription)
	if err != nil || !ok {
		return nil, err
	}
	v := &PaymentMethod{Type: m.Type, Brand: orNil(m.Brand), Last4: orNil(m.Last4), Holder: orNil(m.Holder)}
	if m.ExpYear != 0 {
		v.ExpMonth, v.ExpYear = &m.ExpMonth, &m.ExpYear
	}
	return v, nil
}

// FailedPayment handles GET /billing/failed-payment.
func (h *HTTP) FailedPayment(ctx context.Context, _ *tenantInput) (*rest.Data[*FailedPayment], error) {
	failed, err := h.lastFailedPayment(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	if failed != nil {
		failed.DeclineCode = ForTenant(failed.DeclineCode)
	}
	return rest.OK(failed), nil
}

// lastFailedPayment returns the last failed payment of a tenant, or nil.
func (h *HTTP) lastFailedPayment(ctx context.Context, tenantID uuid.UUID) (*FailedPayment, error) {
	row, err := h.book.store.lastFailed(ctx, tenantID)
	if errors.Is(err, errNotFound) {
		return nil, nil //nolint:nilnil // null is the answer
	}
	if err != nil {
		return nil, err
	}
	return &FailedPayment{
		Invoice: &row.ID, Number: row.Number, Amount: row.OpenCents, Currency: row.Currency, At: shape.T(*row.FailedAt), Attempts: row.Attempts,
		DeclineCode: row.DeclineCode, DeclineMessage: h.message(ctx, row.DeclineCode), NextAttemptAt: shape.TP(row.NextAttemptAt),
	}, nil
}

// message explains a decline code in the caller's language. Confidential codes have the same text
// as the generic code that replaces them.
func (h *HTTP) message(ctx context.Context, code *string) *string {
	key := MessageKey("")
	if code != nil {
		key = MessageKey(*code)
	}
	text := h.messages.Text(i18n.Locale(ctx), key, nil)
	return &text
}

type adminInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminBilling handles GET /admin/tenants/{tenant}/billing.
func (h *HTTP) AdminBilling(ctx context.Context, in *adminInput) (*rest.Data[TenantBilling], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.book.store.exists(ctx, id); err != nil {
		return nil, err
	}
	sums, err := h.book.store.sums(ctx, id)
	if err != nil {
		return nil, err
	}
	v := TenantBilling{PaidInAll: []CurrencySum{}, Open: []CurrencySum{}}
	for _, row := range sums {
		v.PaidInAll, v.Open = add(v.PaidInAll, row.Currency, row.Paid), add(v.Open, row.Currency, row.Open)
	}
	if v.FailedPayment, err = h.lastFailedPayment(ctx, id); err != nil {
		return nil, err
	}
	customer, subscription, err := h.book.store.payer(ctx, id)
	if errors.Is(err, errNotFound) {
		return rest.OK(v), nil
	}
	if err != nil {
		return nil, err
	}
	page := h.book.wallet.CustomerPage(customer)
	v.Customer, v.ProviderURL = &customer, &page
	if v.PaymentMethod, err = h.method(ctx, customer, subscription); err != nil {
		return nil, err
	}
	return rest.OK(v), nil
}

// add adds an amount to the sum of its currency. It does not add zero amounts.
func add(sums []CurrencySum, currency string, amount int64) []CurrencySum {
	if amount == 0 {
		return sums
	}
	i := slices.IndexFunc(sums, func(s CurrencySum) bool { return s.Currency == currency })
	if i < 0 {
		return append(sums, CurrencySum{currency, amount})
	}
	sums[i].Amount += amount
	return sums
}

type summaryInput struct {
	TenantID string `path:"tenantId" format:"uuid"`
	Year     int32  `query:"year" minimum:"2000" maximum:"9999" doc:"Year of the issue dates, in UTC. Default: the current year."`
}

// Summary handles GET /invoices/summary.
func (h *HTTP) Summary(ctx context.Context, in *summaryInput) (*rest.Data[InvoiceSummary], error) {
	sums, err := h.book.store.sums(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	v := InvoiceSummary{Year: in.Year, Years: []int32{}, Totals: []InvoiceTotals{}}
	if v.Year == 0 {
		v.Year = int32(h.book.clock.Now().UTC().Year())
	}
	for _, row := range sums {
		if !slices.Contains(v.Years, row.Year) {
			v.Years = append(v.Years, row.Year)
		}
		if row.Year == v.Year {
			v.Totals = append(v.Totals, InvoiceTotals{Currency: row.Currency, Paid: row.Paid, Open: row.Open, Refunded: row.Refunded, Count: row.Count})
		}
	}
	return rest.OK(v), nil
}
