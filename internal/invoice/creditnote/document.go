package creditnote

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/jobs"
)

// JobDocument is the kind of job that renders the document (PDF) of a credit note. It is used only if
// this service issues the documents.
const JobDocument = "credit_note.document"

type documentPayload struct {
	TenantID uuid.UUID `json:"tenant_id"`
	ID       uuid.UUID `json:"id"`
}

// HandleDocument handles JobDocument. A document is rendered only once, so the copy that a customer
// received never changes.
func (s *Service) HandleDocument(ctx context.Context, job jobs.Job) error {
	var of documentPayload
	if err := job.Decode(&of); err != nil {
		return jobs.MarkFatal(err)
	}
	n, err := s.get(ctx, of.TenantID, of.ID)
	if errors.Is(err, errNotFound) {
		return jobs.MarkFatal(err)
	}
	if err != nil || n.HasPDF {
		return err
	}
	inv, err := s.deps.Invoices.Get(ctx, n.TenantID, n.InvoiceID)
	if err != nil {
		return err
	}
	file, replaced, err := s.deps.Invoices.RenderCreditNote(ctx, statementOf(n, inv))
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.insertDocument(ctx, n, file, s.deps.Clock.Now()); err != nil || replaced == "" {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "credit_note.characters_replaced", TenantID: &n.TenantID, Resource: "credit_note", ResourceID: n.ID.String(),
			After: map[string]any{"number": n.Number, "characters": replaced},
		})
	})
}

// statementOf returns a credit note as its document shows it, with the recipient of its invoice.
func statementOf(n Note, inv invoice.Invoice) invoice.CreditNote {
	shown := invoice.Invoice{
		ID: n.ID, TenantID: n.TenantID, Number: n.Number, Status: invoice.StatusOpen, Subtotal: n.Subtotal, Tax: n.Tax, Total: n.Total,
		IssueDate: n.IssueDate, Billed: inv.Billed, PurchaseOrder: inv.PurchaseOrder,
	}
	for _, l := range n.Lines {
		line := invoice.Line{Description: l.Description, Type: invoice.AdjustmentLine, Quantity: 1, UnitPrice: l.Amount, Amount: l.Amount}
		for _, of := range inv.Lines {
			if l.LineID != nil && of.ID == *l.LineID {
				line.PeriodStart, line.PeriodEnd = of.PeriodStart, of.PeriodEnd
			}
		}
		shown.Lines = append(shown.Lines, line)
	}
	return invoice.CreditNote{Invoice: shown, InvoiceID: n.InvoiceID, Of: inv.Number, Memo: n.Memo}
}

// document returns the PDF of a credit note, or a 404 error if it does not exist yet. The caller must
// close its body.
func (s *Service) document(ctx context.Context, tenantID, id uuid.UUID) (invoice.Document, error) {
	n, err := s.get(ctx, tenantID, id)
	if err != nil {
		return invoice.Document{}, err
	}
	if !n.HasPDF {
		return invoice.Document{}, errNotFound
	}
	if n.pspPDF != "" {
		file, err := s.deps.Documents.Fetch(ctx, n.pspPDF)
		return invoice.Document{Number: n.Number, Body: file.Body, Length: file.Length}, err
	}
	file, err := s.store.document(ctx, n)
	return invoice.Document{Number: n.Number, Body: io.NopCloser(bytes.NewReader(file)), Length: int64(len(file))}, err
}
