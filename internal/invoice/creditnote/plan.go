package creditnote

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/vat"
)

// state is an invoice with its credit notes and payments.
type state struct {
	invoice.Creditable

	notes    []Note              // that are not void
	lines    map[uuid.UUID]int64 // the credited amounts of lines
	payments []invoices.Payment
}

// plan has the amounts of a credit note.
type plan struct {
	subtotal, tax, total int64
	refundable           int64
	lines                []Line
}

// isOpen reports whether the invoice is finalized and not paid.
func (st state) isOpen() bool {
	return st.Invoice.Status == invoice.StatusOpen || st.Invoice.Status == invoice.StatusUncollectible
}

// refundable returns the amount that cards paid and that was not refunded.
func (st state) refundable() (sum int64) {
	for _, p := range st.payments {
		sum += p.RefundableAmount()
	}
	return sum
}

// uncreditedTotal returns the part of the total, and of its tax, that was not credited.
func (st state) uncreditedTotal() (total, tax int64) {
	total, tax = st.Invoice.Total.AmountCents, st.Invoice.Tax.AmountCents
	for _, n := range st.notes {
		total, tax = total-n.Total.AmountCents, tax-n.Tax.AmountCents
	}
	return max(total, 0), tax
}

// creditable returns the amount that a credit note can have. A credit note of an open invoice only
// lowers the amount due.
func (st state) creditable(s Settlement) int64 {
	left, _ := st.uncreditedTotal()
	if st.isOpen() {
		left = min(left, st.Remote.Open)
	}
	if s == SettleRefund {
		left = min(left, st.refundable())
	}
	return left
}

func (st state) money(cents int64) money.Money {
	return money.Money{AmountCents: cents, Currency: st.Invoice.Total.Currency}
}

// plan returns the amounts of a requested credit note, or the reason to refuse it.
func (s *Service) plan(ctx context.Context, st state, r request) (plan, error) {
	switch {
	case st.Invoice.Status == invoice.StatusDraft || st.Invoice.Status == invoice.StatusVoid || st.Remote.InProgress:
		return plan{}, errNotCreditable
	case st.isOpen() && r.Settlement != SettleNone:
		return plan{}, errSettlement
	}
	p := plan{total: r.AmountCents, refundable: st.refundable()}
	if len(r.Lines) > 0 {
		if err := p.addLines(st, r.Lines); err != nil {
			return plan{}, err
		}
	}
	if left := st.creditable(r.Settlement); p.total > left {
		return plan{}, errTooLarge.With("amount_left", st.money(left))
	}
	if err := s.checkUnits(ctx, st.money(p.total)); err != nil {
		return plan{}, err
	}
	p.tax = st.taxOf(p.total)
	p.subtotal = p.total - p.tax
	if len(p.lines) == 0 {
		p.lines = []Line{{Description: invoice.CreditText(st.Locale, st.Invoice.Number), Amount: st.money(p.total)}}
	}
	return p, nil
}

// addLines adds the requested lines and their total. A line can be credited up to its amount minus
// its discount and earlier credit notes.
func (p *plan) addLines(st state, lines []requestLine) error {
	for i, asked := range lines {
		line, err := st.findLine(asked.LineID)
		if err != nil {
			return fault.OnField(fmt.Sprintf("lines.%d.line_id", i), "validation.exists")
		}
		remote, _ := st.RemoteLine(asked.LineID)
		if left := max(remote.Amount-remote.Discount-st.lines[asked.LineID], 0); asked.AmountCents > left {
			return errTooLarge.With("amount_left", st.money(left))
		}
		p.lines = append(p.lines, Line{LineID: &line.ID, Description: line.Description, Amount: st.money(asked.AmountCents), pspLineID: remote.ID})
		if remote.Discount != 0 {
			p.lines[i].pspLineID = "" // the provider would credit a share of the discount too
		}
		p.total += asked.AmountCents
	}
	if st.excludesTax() {
		total, tax := st.Invoice.Total.AmountCents, st.Invoice.Tax.AmountCents
		p.total += vat.Share(p.total, tax, total-tax)
		left, _ := st.uncreditedTotal()
		if p.total == left+1 { // rounding
			p.total = left
		}
	}
	return nil
}

// findLine returns a line of the invoice that can be credited. An adjustment cannot.
func (st state) findLine(id uuid.UUID) (invoice.Line, error) {
	for _, line := range st.Invoice.Lines {
		if line.ID == id && line.Type != invoice.AdjustmentLine {
			return line, nil
		}
	}
	return invoice.Line{}, errNotFound
}

// excludesTax reports whether the lines of the invoice exclude the tax, which is possible if the
// provider computes the tax.
func (st state) excludesTax() bool {
	net := st.Invoice.Total.AmountCents
	for _, line := range st.Remote.Lines {
		net -= line.Amount - line.Discount
	}
	return st.TaxRate == 0 && st.Invoice.Tax.AmountCents > 0 && net == st.Invoice.Tax.AmountCents
}

// taxOf returns the tax that a credited amount includes.
//
// Invariant: if an invoice is credited in full, the taxes of its credit notes add up to the tax of
// the invoice. So the last credit note has the rest of the tax, and no other credit note has more
// than the rest.
func (st state) taxOf(total int64) int64 {
	rest, restTax := st.uncreditedTotal()
	if total >= rest {
		return restTax
	}
	tax := vat.Share(total, st.Invoice.Tax.AmountCents, st.Invoice.Total.AmountCents)
	if st.TaxRate > 0 {
		tax = vat.IncludedTax(total, st.TaxRate)
	}
	return min(max(tax, total-(rest-restTax)), restTax)
}

// checkUnits rejects an amount that the provider cannot refund.
func (s *Service) checkUnits(ctx context.Context, amount money.Money) error {
	units, err := s.deps.Notes.Client.UnitsRead(ctx, amount.Currency)
	if err != nil {
		return err
	}
	possible := units.NearestChargeable(amount.AmountCents)
	if len(possible) == 0 {
		return nil
	}
	texts := make([]string, len(possible))
	for i, n := range possible {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "amount_cents", Message: "validation.refund_amount", Args: map[string]any{"possible": strings.Join(texts, ", ")},
	}}}
}

// params returns the credit note for the provider. Lines are sent as one amount if the provider
// cannot refund their amounts, or would add its own tax to them.
func (s *Service) params(ctx context.Context, n Note, st state) (invoices.CreditNoteParams, error) {
	p := invoices.CreditNoteParams{
		ID: n.ID.String(), InvoiceID: n.pspInvoiceID, Currency: n.Total.Currency, Total: n.Total.AmountCents, Memo: n.Memo, Silent: s.deps.Invoices.IsIssuing(),
	}
	if n.Reason != ReasonOther {
		p.Reason = string(n.Reason)
	}
	if !st.isOpen() {
		switch n.Settlement {
		case SettleRefund:
			p.Refund = p.Total
		case SettleCredit:
			p.Credit = p.Total
		case SettleNone:
			p.Outside = p.Total
		}
	}
	units, err := s.deps.Notes.Client.UnitsRead(ctx, p.Currency)
	if err != nil || st.Remote.Tax != 0 || n.request == nil || len(n.request.Lines) == 0 {
		return p, err
	}
	isRefundable := func(line Line) bool { return units.Check(line.Amount.AmountCents) == nil }
	for _, line := range n.Lines {
		if !isRefundable(line) {
			p.Lines = nil
			break
		}
		p.Lines = append(p.Lines, invoices.CreditNoteLine{InvoiceLineID: line.pspLineID, Description: line.Description, Amount: line.Amount.AmountCents})
	}
	return p, nil
}
