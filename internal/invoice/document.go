package invoice

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/jobs"
)

// JobDocument is the kind of job that renders the document (PDF) of an invoice. It is used only if
// this service issues the invoices.
const JobDocument = "invoice.document"

type documentPayload struct {
	TenantID  uuid.UUID `json:"tenant_id"`
	InvoiceID uuid.UUID `json:"invoice_id"`
}

// Statement is the data that an invoice document shows.
type Statement struct {
	Invoice   Invoice
	Seller    Seller
	VATNumber string // the tenant's; empty if unset
	TaxRate   int64  // millionths
	// ReverseCharge reports whether the payer owes the tax.
	ReverseCharge bool
	MinorUnits    int // decimals of the currency: 0, 2 or 3
	Locale        string
	// CreditOf is the invoice's number if the document is a credit note, with an optional Memo. Invoice
	// then has the number, the date, the amounts and the lines of the credit note.
	CreditOf, Memo string
}

// statement returns the statement of an invoice, or of its credit note. id is the ID of the invoice.
func (s *Service) statement(ctx context.Context, inv Invoice, id uuid.UUID) (Statement, error) {
	details, err := s.store.documentDetails(ctx, inv.TenantID, id)
	if err != nil {
		return Statement{}, err
	}
	units, err := s.store.minorUnits(ctx, inv.Total.Currency)
	return Statement{
		Invoice: inv, Seller: s.deps.Issuing.Seller, VATNumber: details.vatNumber, TaxRate: details.taxRate, MinorUnits: units,
		Locale: details.locale, ReverseCharge: details.reverseCharge,
	}, err
}

// HandleDocument handles JobDocument: it renders and stores the document of an invoice. A document
// is rendered only once, so the copy that a customer received never changes. If characters had to
// be replaced, an audit entry lists them so that an admin can correct the texts for the next
// invoice.
func (s *Service) HandleDocument(ctx context.Context, job jobs.Job) error {
	var of documentPayload
	if err := job.Decode(&of); err != nil {
		return jobs.MarkFatal(err)
	}
	inv, err := s.store.invoice(ctx, of.TenantID, of.InvoiceID)
	if errors.Is(err, errNotFound) {
		return jobs.MarkFatal(err)
	}
	if err != nil || inv.HasPDF {
		return err
	}
	statement, err := s.statement(ctx, inv, inv.ID)
	if err != nil {
		return err
	}
	file, replaced, err := s.deps.Issuing.Render(statement)
	if err != nil {
		return fmt.Errorf("document of invoice %s: %w", inv.Number, err)
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.insertDocument(ctx, of.TenantID, inv.ID, file, s.deps.Clock.Now()); err != nil {
			return err
		}
		if err := s.enqueueMail(ctx, of.TenantID, inv.ID); err != nil || replaced == "" {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "invoice.characters_replaced", TenantID: &of.TenantID, Resource: "invoice", ResourceID: inv.ID.String(),
			After: map[string]any{"number": inv.Number, "characters": replaced},
		})
	})
}
