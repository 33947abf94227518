package invoice

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/jobs"
)

// jobDocument is the job that makes the document of an invoice.
const jobDocument = "invoice.document"

type documentOf struct {
	TenantID  uuid.UUID `json:"tenant_id"`
	InvoiceID uuid.UUID `json:"invoice_id"`
}

// Statement is what the document of an invoice is made of.
type Statement struct {
	Invoice    Invoice
	Seller     Seller
	VATNumber  string // the tenant's; empty for none
	TaxRate    int64  // millionths
	MinorUnits int    // decimals of the currency: 0, 2 or 3
	Locale     string
}

// makeDocument makes the document of an invoice and keeps it. It is made once:
// what was sent to a customer stays what it was.
func (s *Service) makeDocument(ctx context.Context, job jobs.Job) error {
	var of documentOf
	if err := job.Decode(&of); err != nil {
		return jobs.Fatal(err)
	}
	inv, err := s.store.invoice(ctx, of.TenantID, of.InvoiceID)
	if errors.Is(err, errNotFound) {
		return jobs.Fatal(err)
	}
	if err != nil || inv.HasPDF {
		return err
	}
	details, err := s.store.q(ctx).IssuedDetails(ctx, invoicesql.IssuedDetailsParams{TenantID: of.TenantID, ID: of.InvoiceID})
	if err != nil {
		return err
	}
	units, err := s.store.q(ctx).MinorUnits(ctx, inv.Total.Currency)
	if err != nil {
		return err
	}
	statement := Statement{
		Invoice: inv, Seller: s.deps.Issuing.Seller, TaxRate: details.TaxRate, MinorUnits: int(units), Locale: details.Locale,
	}
	if details.VATNumber != nil {
		statement.VATNumber = *details.VATNumber
	}
	file, err := s.deps.Issuing.Render(statement)
	if err != nil {
		return fmt.Errorf("document of invoice %s: %w", inv.Number, err)
	}
	return s.store.q(ctx).InsertDocument(ctx, invoicesql.InsertDocumentParams{
		InvoiceID: inv.ID, Bytes: file, CreatedAt: s.deps.Clock.Now(),
	})
}
