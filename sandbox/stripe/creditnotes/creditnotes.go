package creditnotes

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// All is the collection of credit notes, and Lines of their lines.
var (
	All   = kernel.Kind[CreditNote]{Name: "credit_note", Prefix: "cn", Label: "credit note", Path: "/v1/credit_notes"}
	Lines = kernel.Kind[Line]{Name: "credit_note_line_item", Prefix: "cnli", Label: "credit note line item"}
)

// The statuses of a credit note.
const (
	statusIssued = "issued"
	statusVoid   = "void"
)

// CreditNote reduces the amount of a finalized invoice.
type CreditNote struct {
	kernel.Header
	Amount               int64             `json:"amount"`
	AmountShipping       int64             `json:"amount_shipping"`
	Currency             string            `json:"currency"`
	Customer             string            `json:"customer"`
	CustomerAccount      form.Null         `json:"customer_account"`
	BalanceTransaction   *string           `json:"customer_balance_transaction"`
	DiscountAmount       int64             `json:"discount_amount"`
	DiscountAmounts      discounts.Amounts `json:"discount_amounts"`
	EffectiveAt          int64             `json:"effective_at"`
	Invoice              string            `json:"invoice"`
	Lines                form.List[Line]   `json:"lines"`
	Memo                 *string           `json:"memo"`
	Metadata             map[string]string `json:"metadata"`
	Number               string            `json:"number"`
	OutOfBandAmount      *int64            `json:"out_of_band_amount"`
	PDF                  string            `json:"pdf"`
	PostPaymentAmount    int64             `json:"post_payment_amount"`
	PrePaymentAmount     int64             `json:"pre_payment_amount"`
	PretaxCreditAmounts  form.None         `json:"pretax_credit_amounts"`
	Reason               *string           `json:"reason"`
	Refunds              []noteRefund      `json:"refunds"`
	ShippingCost         form.Null         `json:"shipping_cost"`
	Status               string            `json:"status"`
	Subtotal             int64             `json:"subtotal"`
	SubtotalExcludingTax int64             `json:"subtotal_excluding_tax"`
	Total                int64             `json:"total"`
	TotalExcludingTax    int64             `json:"total_excluding_tax"`
	TotalTaxes           form.None         `json:"total_taxes"`
	Type                 string            `json:"type"`
	VoidedAt             *int64            `json:"voided_at,omitempty"`
}

// noteRefund is a refund that belongs to a credit note.
type noteRefund struct {
	AmountRefunded      int64     `json:"amount_refunded"`
	PaymentRecordRefund form.Null `json:"payment_record_refund"`
	Refund              string    `json:"refund"`
	Type                string    `json:"type"`
}

// Line is a line of a credit note: a part of an invoice line, or an amount with a description.
type Line struct {
	ID                  string            `json:"id"`
	Object              string            `json:"object"`
	Amount              int64             `json:"amount"`
	Description         *string           `json:"description"`
	DiscountAmount      int64             `json:"discount_amount"`
	DiscountAmounts     discounts.Amounts `json:"discount_amounts"`
	InvoiceLineItem     string            `json:"invoice_line_item,omitempty"`
	Livemode            bool              `json:"livemode"`
	Metadata            map[string]string `json:"metadata"`
	PretaxCreditAmounts form.None         `json:"pretax_credit_amounts"`
	Quantity            *int64            `json:"quantity"`
	TaxRates            form.None         `json:"tax_rates"`
	Taxes               form.None         `json:"taxes"`
	Type                string            `json:"type"`
	UnitAmount          *int64            `json:"unit_amount"`
	UnitAmountDecimal   *string           `json:"unit_amount_decimal"`
}

// Head implements kernel.Object.
func (l Line) Head() kernel.Header { return kernel.Header{ID: l.ID, Object: l.Object} }

// Get handles GET /v1/credit_notes/{id}.
func Get(ctx context.Context, c *kernel.Call) (any, error) { return kernel.Retrieve(ctx, c, All) }

// List handles GET /v1/credit_notes.
func List(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.AddEqual(c.Params, "invoice", "$.invoice")
	return All.Page(ctx, c, f)
}

// ListLines handles GET /v1/credit_notes/{id}/lines.
func ListLines(ctx context.Context, c *kernel.Call) (any, error) {
	note, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	return kernel.SlicePage(c, note.Lines.URL, Lines.Label, note.Lines.Data)
}

// Update handles POST /v1/credit_notes/{id}: the memo and the metadata.
func Update(ctx context.Context, c *kernel.Call) (any, error) {
	note, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *note
	c.Params.ReadClearable("memo", &note.Memo)
	c.Params.Metadata(&note.Metadata)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return note, c.Change(ctx, "credit_note.updated", before, note)
}

// Void handles POST /v1/credit_notes/{id}/void. Only credit notes of open invoices can be voided, which
// increases the amount due again (https://docs.stripe.com/invoicing/dashboard/credit-notes).
func Void(ctx context.Context, c *kernel.Call) (any, error) {
	note, err := All.Get(ctx, c.Q, c.ID, "id")
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err != nil {
		return nil, err
	}
	in, err := invoices.All.Get(ctx, c.Q, note.Invoice, "invoice")
	if err != nil {
		return nil, err
	}
	switch {
	case note.Status == statusVoid:
		return nil, form.Refuse("", "", "This credit note is already void.")
	case in.Status != invoices.StatusOpen:
		return nil, form.Refuse("", "", "You can only void a credit note of an open invoice. This credit note's invoice is %s.", in.Status)
	}
	before, billed, now := *note, *in, c.Now
	if err := in.Lower(ctx, c.Step, -note.PrePaymentAmount); err != nil {
		return nil, err
	}
	if err := c.Change(ctx, "invoice.updated", billed, in); err != nil {
		return nil, err
	}
	note.Status, note.VoidedAt = statusVoid, &now
	if err := c.Change(ctx, "credit_note.updated", before, note); err != nil {
		return nil, err
	}
	return note, c.Emit(ctx, "credit_note.voided", note, nil)
}
