package creditnotes

import (
	"context"
	"fmt"
	"math"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// request is a requested credit note and the invoice that it credits.
type request struct {
	note    CreditNote
	invoice *invoices.Invoice
	charge  *payments.Charge // that paid the invoice, or nil

	refund, credit int64
}

// Preview handles GET /v1/credit_notes/preview.
func Preview(ctx context.Context, c *kernel.Call) (any, error) {
	r, err := read(ctx, c)
	if err != nil {
		return nil, err
	}
	return r.note, nil
}

// Create handles POST /v1/credit_notes. A credit note first lowers the amount due of the invoice. The
// rest is refunded, becomes credit of the customer, or is returned outside of Stripe
// (https://docs.stripe.com/api/credit_notes/create).
func Create(ctx context.Context, c *kernel.Call) (any, error) {
	r, err := read(ctx, c)
	if err != nil {
		return nil, err
	}
	note, in := &r.note, r.invoice
	before := *in
	if note.PrePaymentAmount > 0 {
		if err := in.Lower(ctx, c.Step, note.PrePaymentAmount); err != nil {
			return nil, err
		}
	}
	in.PostPaymentCreditNotes += note.PostPaymentAmount
	if err := c.Change(ctx, "invoice.updated", before, in); err != nil {
		return nil, err
	}
	if r.refund > 0 {
		re, err := payments.RefundCharge(ctx, c.Step, r.charge, r.refund)
		if err != nil {
			return nil, err
		}
		note.Refunds = []noteRefund{{AmountRefunded: r.refund, Refund: re.ID, Type: "refund"}}
	}
	if r.credit > 0 {
		cu, err := customers.FindLive(ctx, c.Step, in.Customer, "customer")
		if err != nil {
			return nil, err
		}
		id, err := cu.GiveCredit(ctx, c.Step, note.ID, in.Currency, r.credit)
		if err != nil {
			return nil, err
		}
		note.BalanceTransaction = &id
	}
	if err := c.Create(ctx, "credit_note.created", note); err != nil {
		return nil, err
	}
	if note.PrePaymentAmount > 0 && in.AmountRemaining == 0 {
		return note, subscriptions.CompleteCredited(ctx, c.Step, in)
	}
	return note, nil
}

// read reads the parameters of a credit note. It refuses the same requests as Stripe and stores
// nothing.
func read(ctx context.Context, c *kernel.Call) (*request, error) {
	p := c.Params
	r := &request{note: CreditNote{
		Header: All.Start(c.Now), EffectiveAt: c.Now, Status: statusIssued, Metadata: map[string]string{}, Refunds: []noteRefund{},
	}}
	note := &r.note
	p.Require("invoice")
	p.Text("invoice", &note.Invoice)
	if p.Has("amount") == p.Has("lines") {
		p.Fail("amount", "", "You must provide exactly one of `amount` and `lines` (the sandbox does not support `shipping_cost`).")
	}
	p.Integer("amount", 1, math.MaxInt64, &note.Amount)
	lines := p.List("lines")
	p.ReadClearable("memo", &note.Memo)
	p.Metadata(&note.Metadata)
	p.Choice("email_type", new(string), "credit_note", "none")
	p.Integer("effective_at", 0, 1<<40, &note.EffectiveAt)
	if p.Has("reason") {
		reason := ""
		p.Choice("reason", &reason, "duplicate", "fraudulent", "order_change", "product_unsatisfactory")
		note.Reason = &reason
	}
	var outside int64
	p.Integer("refund_amount", 0, math.MaxInt64, &r.refund)
	p.Integer("credit_amount", 0, math.MaxInt64, &r.credit)
	p.Integer("out_of_band_amount", 0, math.MaxInt64, &outside)
	if !p.Has("lines") || p.HasFailed() { // lines are read with the invoice
		if err := p.CheckUnread(); err != nil {
			return nil, err
		}
	}
	in, err := invoices.All.Get(ctx, c.Q, note.Invoice, "invoice")
	if err != nil {
		return nil, err
	}
	r.invoice = in
	r.readLines(lines)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	if outside > 0 {
		note.OutOfBandAmount = &outside
	}
	err = r.settle(ctx, c.Step, outside)
	return r, err
}

// readLines reads the given lines. If no lines are given, it creates one line with the amount.
func (r *request) readLines(given []*form.Params) {
	note := &r.note
	note.Lines = form.NewList[Line](All.Path+"/"+note.ID+"/lines", nil)
	for _, p := range given {
		note.Lines.Data = append(note.Lines.Data, r.readLine(p))
	}
	if len(given) == 0 {
		one := int64(1)
		note.Lines.Data = append(note.Lines.Data, Line{
			ID: form.NewID(Lines.Prefix), Object: Lines.Name, Type: "custom_line_item", Amount: note.Amount, Metadata: map[string]string{},
			Quantity: &one, UnitAmount: &note.Amount,
		})
	}
	for _, line := range note.Lines.Data {
		note.Subtotal, note.DiscountAmount = note.Subtotal+line.Amount, note.DiscountAmount+line.DiscountAmount
		note.DiscountAmounts = append(note.DiscountAmounts, line.DiscountAmounts...)
	}
	note.Total = note.Subtotal - note.DiscountAmount
	note.Amount, note.SubtotalExcludingTax, note.TotalExcludingTax = note.Total, note.Subtotal, note.Total
}

func (r *request) readLine(p *form.Params) Line {
	line := Line{ID: form.NewID(Lines.Prefix), Object: Lines.Name, Metadata: map[string]string{}}
	p.Require("type")
	p.Choice("type", &line.Type, "invoice_line_item", "custom_line_item")
	p.Metadata(&line.Metadata)
	if line.Type == "invoice_line_item" {
		r.readInvoiceLine(p, &line)
		return line
	}
	quantity, unit := int64(1), int64(0)
	p.Require("description", "quantity", "unit_amount")
	p.ReadClearable("description", &line.Description)
	p.Integer("quantity", 1, math.MaxInt32, &quantity)
	p.Integer("unit_amount", 1, billing.MaxAmount(r.invoice.Currency), &unit)
	line.Amount, line.Quantity, line.UnitAmount = quantity*unit, &quantity, &unit
	return line
}

// readInvoiceLine reads a line that credits an amount or a quantity of an invoice line. The discount
// of the invoice line is credited in proportion.
func (r *request) readInvoiceLine(p *form.Params, line *Line) {
	p.Require("invoice_line_item")
	p.Text("invoice_line_item", &line.InvoiceLineItem)
	var of *invoices.Line
	for i := range r.invoice.Lines.Data {
		if r.invoice.Lines.Data[i].ID == line.InvoiceLineItem {
			of = &r.invoice.Lines.Data[i]
		}
	}
	if of == nil {
		p.Fail("invoice_line_item", "resource_missing", "No such invoice line item: '%s'", line.InvoiceLineItem)
		return
	}
	line.Description = &of.Description
	if p.Has("amount") == p.Has("quantity") {
		p.Fail("amount", "", "You must provide exactly one of `amount` and `quantity` for an invoice line item.")
	}
	if p.Has("quantity") {
		var quantity int64
		p.Integer("quantity", 1, max(of.Quantity, 1), &quantity)
		line.Quantity, line.Amount = &quantity, of.Amount*quantity/max(of.Quantity, 1)
	}
	p.Integer("amount", 1, math.MaxInt64, &line.Amount)
	if line.Amount > of.Amount {
		p.Fail("amount", "", "The amount is greater than the amount of the invoice line item (%s).", form.FormatAmount(of.Amount, r.invoice.Currency))
		return
	}
	for _, off := range of.DiscountAmounts {
		share := discounts.Amount{Amount: (off.Amount*line.Amount*2 + of.Amount) / (2 * of.Amount), Discount: off.Discount}
		line.DiscountAmounts = append(line.DiscountAmounts, share)
		line.DiscountAmount += share.Amount
	}
}

// settle divides the total into the part before and the part after the payment. It refuses a total
// that exceeds the invoice, and amounts that do not add up.
func (r *request) settle(ctx context.Context, st *kernel.Step, outside int64) error {
	note, in := &r.note, r.invoice
	note.Currency, note.Customer = in.Currency, in.Customer
	if in.Status == invoices.StatusDraft || in.Status == invoices.StatusVoid {
		return form.Refuse("invoice", "", "You can only create a credit note for a finalized invoice that is not void. This invoice is %s.", in.Status)
	}
	if left := in.Total - in.PrePaymentCreditNotes - in.PostPaymentCreditNotes; note.Total > left {
		return form.Refuse("amount", "", "The credit note amount (%s) is greater than the amount of the invoice that can be credited (%s).",
			form.FormatAmount(note.Total, in.Currency), form.FormatAmount(max(left, 0), in.Currency))
	}
	if note.Total%billing.Step(in.Currency) != 0 {
		return form.Refuse("amount", "", "Amounts in %s must be divisible by %d.", in.Currency, billing.Step(in.Currency))
	}
	note.PrePaymentAmount = min(note.Total, in.AmountRemaining)
	note.PostPaymentAmount = note.Total - note.PrePaymentAmount
	switch {
	case note.PostPaymentAmount == 0:
		note.Type = "pre_payment"
	case note.PrePaymentAmount == 0:
		note.Type = "post_payment"
	default:
		note.Type = "mixed"
	}
	if sum := r.refund + r.credit + outside; sum != note.PostPaymentAmount {
		return form.Refuse("", "", "The sum of credit amount, refund amount and out of band amount (%s) must equal the post payment amount of the credit note (%s).",
			form.FormatAmount(sum, in.Currency), form.FormatAmount(note.PostPaymentAmount, in.Currency))
	}
	if err := r.checkRefund(ctx, st); err != nil {
		return err
	}
	return r.number(ctx, st)
}

// checkRefund refuses a refund that exceeds the payment.
func (r *request) checkRefund(ctx context.Context, st *kernel.Step) (err error) {
	if r.charge, err = paidCharge(ctx, st, r.invoice); err != nil || r.refund == 0 {
		return err
	}
	if r.charge == nil {
		return form.Refuse("refund_amount", "", "This invoice was not paid by a charge, so it cannot be refunded.")
	}
	if r.refund > r.charge.RefundableAmount() {
		return form.Refuse("refund_amount", "", "Refund amount (%s) is greater than unrefunded amount on charge (%s)",
			form.FormatAmount(r.refund, r.invoice.Currency), form.FormatAmount(r.charge.RefundableAmount(), r.invoice.Currency))
	}
	return nil
}

// number numbers the credit note of an invoice, as in ABCD1234-0001-CN-01.
func (r *request) number(ctx context.Context, st *kernel.Step) error {
	others, err := All.FindWhere(ctx, st.Q, `doc ->> '$.invoice' = ?`, r.invoice.ID)
	r.note.Number = fmt.Sprintf("%s-CN-%02d", *r.invoice.Number, len(others)+1)
	r.note.PDF = st.Site + PDFPath(r.note.ID)
	return err
}

// paidCharge returns the charge that paid an invoice, or nil if it was not paid by a charge.
func paidCharge(ctx context.Context, st *kernel.Step, in *invoices.Invoice) (*payments.Charge, error) {
	paid, err := invoices.Payments.FindWhere(ctx, st.Q, `doc ->> '$.invoice' = ? AND doc ->> '$.status' = 'paid'`, in.ID)
	if err != nil || len(paid) == 0 {
		return nil, err
	}
	pi, err := payments.Intents.Get(ctx, st.Q, paid[0].Payment.PaymentIntent, "payment_intent")
	if err != nil || pi.LatestCharge == nil {
		return nil, err
	}
	return payments.Charges.Get(ctx, st.Q, *pi.LatestCharge, "charge")
}
