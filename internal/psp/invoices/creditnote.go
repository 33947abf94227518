package invoices

import (
	"context"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// Types of the provider's notifications. A type that ends with a dot is a prefix. The object of
// EventCharge is the refunded charge.
const (
	EventCharge  = "charge.refunded"
	EventNotes   = "credit_note."
	EventRefunds = "refund."
)

// metaID is the metadata key for this service's ID of a credit note, and for the key of a refund.
const metaID = "credit_note_id"

// notesPerPage is the provider's maximum.
const notesPerPage = 100

// StatusVoid is the status of a credit note that was voided at the provider.
const StatusVoid = string(stripe.CreditNoteStatusVoid)

// CreditNotes gives access to the credit notes and refunds of the provider
// (https://docs.stripe.com/api/credit_notes). Amounts are in minor units of the currency.
type CreditNotes struct{ Client *psp.Client }

// CreditNoteParams describes a credit note. Refund, Credit and Outside are the parts of the total that
// are refunded, become credit of the customer, or are returned outside of the provider. All are 0 for
// an unpaid invoice.
type CreditNoteParams struct {
	ID                      string // of the credit note in this service, and the idempotency key
	InvoiceID               string
	Currency                string // ISO 4217
	Total                   int64
	Refund, Credit, Outside int64
	Lines                   []CreditNoteLine // empty for an amount without lines
	Reason                  string           // one of the provider's reasons, or empty
	Memo                    string
	Silent                  bool // the provider sends no mail
}

// CreditNoteLine is a line of a credit note.
type CreditNoteLine struct {
	InvoiceLineID string // of the provider; empty for a line without one
	Description   string
	Amount        int64
}

// CreditNote is a credit note of the provider.
type CreditNote struct {
	ID        string
	OwnID     string // the ID of Params; empty if the note was made at the provider
	InvoiceID string
	Number    string
	Status    string
	PDFURL    string
	Currency  string // ISO 4217, upper case
	Reason    string // can be empty
	Memo      string
	// Total includes Tax. Refund, Credit and Outside are parts of it.
	Total, Tax              int64
	Refund, Credit, Outside int64
	RefundID                string // empty without a refund
	RefundStatus            string
	CreatedAt               time.Time
	Lines                   []CreditNoteLine
}

// Create creates a credit note. It returns psp.ErrRefused if the provider rejects it. If the outcome
// of an earlier attempt is unknown, use Find first, because the provider remembers the key for only
// a day.
func (n CreditNotes) Create(ctx context.Context, p CreditNoteParams) (CreditNote, error) {
	params, err := n.createParams(ctx, p)
	if err != nil {
		return CreditNote{}, err
	}
	note, err := psp.Write(ctx, n.Client, "create credit note", "credit-note-"+p.ID, func(ctx context.Context, api *calls.API) (*stripe.CreditNote, error) {
		return api.V1CreditNotes.Create(ctx, params)
	}, func(ctx context.Context) (*stripe.CreditNote, error) { return n.find(ctx, p.InvoiceID, p.ID) })
	if err != nil {
		return CreditNote{}, err
	}
	return n.convert(ctx, note)
}

func (n CreditNotes) createParams(ctx context.Context, p CreditNoteParams) (*stripe.CreditNoteCreateParams, error) {
	units, err := n.Client.UnitsRead(ctx, p.Currency)
	if err != nil {
		return nil, err
	}
	params := &stripe.CreditNoteCreateParams{
		Params: stripe.Params{IdempotencyKey: stripe.String("credit-note-" + p.ID)}, Invoice: stripe.String(p.InvoiceID),
		Reason: orNil(p.Reason), Memo: orNil(p.Memo), Metadata: map[string]string{metaID: p.ID},
	}
	params.AddExpand("refunds.refund")
	if p.Silent {
		params.EmailType = stripe.String("none")
	}
	for _, part := range []struct {
		amount int64
		into   **int64
	}{{p.Refund, &params.RefundAmount}, {p.Credit, &params.CreditAmount}, {p.Outside, &params.OutOfBandAmount}} {
		if part.amount == 0 {
			continue
		}
		amount, err := units.ToProvider(part.amount)
		if err != nil {
			return nil, err
		}
		*part.into = &amount
	}
	for _, line := range p.Lines {
		amount, err := units.ToProvider(line.Amount)
		if err != nil {
			return nil, err
		}
		params.Lines = append(params.Lines, lineParams(line, amount))
	}
	if len(p.Lines) > 0 {
		return params, nil
	}
	total, err := units.ToProvider(p.Total)
	params.Amount = &total
	return params, err
}

func lineParams(line CreditNoteLine, amount int64) *stripe.CreditNoteCreateLineParams {
	if line.InvoiceLineID != "" {
		return &stripe.CreditNoteCreateLineParams{
			Type: stripe.String("invoice_line_item"), InvoiceLineItem: stripe.String(line.InvoiceLineID), Amount: &amount,
		}
	}
	return &stripe.CreditNoteCreateLineParams{
		Type: stripe.String("custom_line_item"), Description: stripe.String(line.Description), Quantity: stripe.Int64(1), UnitAmount: &amount,
	}
}

// Find returns the credit note of an invoice that Create has made with the ID, or psp.ErrNotDone.
func (n CreditNotes) Find(ctx context.Context, invoiceID, id string) (CreditNote, error) {
	note, err := n.find(ctx, invoiceID, id)
	if err != nil {
		return CreditNote{}, err
	}
	return n.convert(ctx, note)
}

func (n CreditNotes) find(ctx context.Context, invoiceID, id string) (*stripe.CreditNote, error) {
	notes, err := n.list(ctx, stripe.CreditNoteListParams{Invoice: stripe.String(invoiceID)})
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		if note.Metadata[metaID] == id {
			return note, nil
		}
	}
	return nil, psp.ErrNotDone
}

// List returns the credit notes of an invoice, oldest first.
func (n CreditNotes) List(ctx context.Context, invoiceID string) ([]CreditNote, error) {
	return n.listNotes(ctx, stripe.CreditNoteListParams{Invoice: stripe.String(invoiceID)})
}

// ListOfCustomer returns the credit notes of a customer, oldest first.
func (n CreditNotes) ListOfCustomer(ctx context.Context, customerID string) ([]CreditNote, error) {
	return n.listNotes(ctx, stripe.CreditNoteListParams{Customer: stripe.String(customerID)})
}

func (n CreditNotes) listNotes(ctx context.Context, of stripe.CreditNoteListParams) ([]CreditNote, error) {
	notes, err := n.list(ctx, of)
	if err != nil {
		return nil, err
	}
	all := make([]CreditNote, len(notes))
	for i, note := range notes {
		if all[len(notes)-1-i], err = n.convert(ctx, note); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// list returns the credit notes of an invoice or a customer, newest first.
func (n CreditNotes) list(ctx context.Context, of stripe.CreditNoteListParams) ([]*stripe.CreditNote, error) {
	notes, _, err := psp.Call(ctx, n.Client, "list credit notes", func(ctx context.Context, api *calls.API) (all []*stripe.CreditNote, _ error) {
		params := &stripe.CreditNoteListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(notesPerPage)}, Invoice: of.Invoice, Customer: of.Customer,
		}
		params.AddExpand("data.refunds.refund")
		for note, err := range api.V1CreditNotes.List(ctx, params).All(ctx) {
			if err != nil {
				return nil, err
			}
			all = append(all, note)
		}
		return all, nil
	})
	return notes, err
}

// InvoiceOf returns the provider's invoice of a credit note.
func (n CreditNotes) InvoiceOf(ctx context.Context, noteID string) (string, error) {
	note, _, err := psp.Call(ctx, n.Client, "get credit note", func(ctx context.Context, api *calls.API) (*stripe.CreditNote, error) {
		return api.V1CreditNotes.Retrieve(ctx, noteID, nil)
	})
	if err != nil || note.Invoice == nil {
		return "", err
	}
	return note.Invoice.ID, nil
}

func (n CreditNotes) convert(ctx context.Context, raw *stripe.CreditNote) (CreditNote, error) {
	units, err := n.Client.UnitsRead(ctx, string(raw.Currency))
	if err != nil {
		return CreditNote{}, err
	}
	note := CreditNote{
		ID: raw.ID, OwnID: raw.Metadata[metaID], Number: raw.Number, Status: string(raw.Status), PDFURL: raw.PDF,
		Currency: strings.ToUpper(string(raw.Currency)), Reason: string(raw.Reason), Memo: raw.Memo,
		Total: units.FromProvider(raw.Total), Outside: units.FromProvider(raw.OutOfBandAmount), CreatedAt: time.Unix(raw.Created, 0).UTC(),
	}
	if raw.Invoice != nil {
		note.InvoiceID = raw.Invoice.ID
	}
	for _, tax := range raw.TotalTaxes {
		note.Tax += units.FromProvider(tax.Amount)
	}
	for _, r := range raw.Refunds {
		note.Refund += units.FromProvider(r.AmountRefunded)
		if r.Refund != nil {
			note.RefundID, note.RefundStatus = r.Refund.ID, statusOf(r.Refund)
		}
	}
	if raw.CustomerBalanceTransaction != nil {
		note.Credit = units.FromProvider(raw.PostPaymentAmount) - note.Refund - note.Outside
	}
	if raw.Lines != nil {
		for _, l := range raw.Lines.Data {
			note.Lines = append(note.Lines, CreditNoteLine{InvoiceLineID: l.InvoiceLineItem, Description: l.Description, Amount: units.FromProvider(l.Amount - l.DiscountAmount)})
		}
	}
	return note, nil
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
