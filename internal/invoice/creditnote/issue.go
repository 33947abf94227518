package creditnote

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Numbers is the format of the numbers that this service gives to credit notes.
const Numbers invoice.NumberFormat = "CN-{year}-{number:6}"

// adopt records the provider's credit notes of an invoice: new credit notes, the outcomes of
// pending requests, and voided credit notes. It then adds the recorded credit notes to the state.
// The caller must hold the tenant's lock in a transaction.
func (s *Service) adopt(ctx context.Context, st *state, remote []invoices.CreditNote) error {
	known, err := s.store.ofInvoice(ctx, st.Invoice.TenantID, st.Invoice.ID)
	if err != nil {
		return err
	}
	st.notes = onlyIssued(known)
	isChanged := false
	for _, made := range remote {
		changed, err := s.adoptOne(ctx, st, known, made)
		if err != nil {
			return err
		}
		isChanged = isChanged || changed
	}
	if isChanged {
		if known, err = s.store.ofInvoice(ctx, st.Invoice.TenantID, st.Invoice.ID); err != nil {
			return err
		}
	}
	st.notes = onlyIssued(known)
	st.lines, err = s.store.creditedLines(ctx, st.Invoice.TenantID, st.Invoice.ID)
	return err
}

func onlyIssued(notes []Note) (issued []Note) {
	for _, n := range notes {
		if n.Status == statusIssued {
			issued = append(issued, n)
		}
	}
	return issued
}

// adoptOne records a credit note of the provider. It reports whether anything changed.
func (s *Service) adoptOne(ctx context.Context, st *state, known []Note, made invoices.CreditNote) (bool, error) {
	for _, n := range known {
		switch {
		case n.pspID == made.ID:
			if n.RefundStatus != made.RefundStatus && n.pspRefundID == made.RefundID {
				if err := s.store.setRefundStatus(ctx, n.TenantID, made.RefundID, made.RefundStatus); err != nil {
					return false, err
				}
			}
			if made.Status != invoices.StatusVoid || n.Status != statusIssued {
				return false, nil
			}
			return true, s.store.void(ctx, n)
		case n.Status == statusPending && n.ID.String() == made.OwnID:
			return true, s.issue(ctx, n, st.Creditable, made)
		}
	}
	if made.Status == invoices.StatusVoid && s.deps.Invoices.IsIssuing() {
		return false, nil // a void credit note takes no number
	}
	return true, s.insertMade(ctx, st, made)
}

// insertMade records a credit note that was made at the provider.
func (s *Service) insertMade(ctx context.Context, st *state, made invoices.CreditNote) error {
	n := Note{
		ID: sqldb.NewID(), TenantID: st.Invoice.TenantID, InvoiceID: st.Invoice.ID, Status: statusIssued, Settlement: SettleNone, Reason: Reason(made.Reason),
		Memo: made.Memo, pspInvoiceID: st.Remote.ID, leasedUntil: s.deps.Lease.Now(), createdAt: s.deps.Clock.Now(),
	}
	if made.Reason == "" {
		n.Reason = ReasonOther
	}
	switch {
	case made.Refund > 0:
		n.Settlement = SettleRefund
	case made.Credit > 0:
		n.Settlement = SettleCredit
	}
	tax := made.Tax
	if st.TaxRate > 0 {
		tax = st.taxOf(made.Total)
	}
	n.Subtotal, n.Tax, n.Total = st.money(made.Total-tax), st.money(tax), st.money(made.Total)
	for _, l := range made.Lines {
		line := Line{Description: l.Description, Amount: st.money(l.Amount)}
		if id, ok := st.LineOf(l.InvoiceLineID); ok {
			line.LineID = &id
		}
		if line.Description == "" {
			line.Description = invoice.CreditText(st.Locale, st.Invoice.Number)
		}
		n.Lines = append(n.Lines, line)
	}
	if err := s.complete(ctx, &n, st.Creditable, made); err != nil {
		return err
	}
	if made.Status == invoices.StatusVoid {
		n.Status = statusVoid
	}
	if err := s.store.insert(ctx, n); err != nil {
		return err
	}
	st.notes = append(st.notes, n)
	if n.Status == statusVoid {
		return nil
	}
	return s.announce(ctx, n)
}

// issue records that the provider has made the credit note of a pending request.
//
// Invariant: a number is taken in the transaction that issues its credit note, so a refusal takes no
// number and the series is gapless.
func (s *Service) issue(ctx context.Context, n Note, c invoice.Creditable, made invoices.CreditNote) error {
	current, err := s.store.get(ctx, n.TenantID, n.ID)
	if errors.Is(err, errNotFound) || err == nil && current.Status != statusPending {
		return nil // another transaction has recorded it
	}
	if err != nil {
		return err
	}
	n = current
	if err := s.complete(ctx, &n, c, made); err != nil {
		return err
	}
	if err := s.store.issue(ctx, n); err != nil {
		return err
	}
	n.Status = statusIssued
	if made.Status == invoices.StatusVoid {
		if err := s.store.void(ctx, n); err != nil {
			return err
		}
		n.Status = statusVoid
	}
	return s.announce(ctx, n)
}

// complete sets the fields that a credit note has once the provider has made it.
func (s *Service) complete(ctx context.Context, n *Note, c invoice.Creditable, made invoices.CreditNote) error {
	n.pspID, n.pspRefundID, n.RefundStatus = made.ID, made.RefundID, made.RefundStatus
	n.setCurrency(c.Invoice.Total.Currency)
	if !s.deps.Invoices.IsIssuing() {
		n.Number, n.pspPDF, n.IssueDate, n.HasPDF = made.Number, made.PDFURL, made.CreatedAt, made.PDFURL != ""
		return nil
	}
	n.IssueDate = s.deps.Invoices.WallTime(s.deps.Clock.Now())
	n.year = n.IssueDate.UTC().Year()
	var err error
	if n.sequence, err = s.store.nextNumber(ctx, n.year); err != nil {
		return err
	}
	n.Number = Numbers.Format(n.year, n.sequence)
	return s.deps.Jobs.Enqueue(ctx, JobDocument, documentPayload{TenantID: n.TenantID, ID: n.ID})
}

// announce publishes and audits a new credit note.
func (s *Service) announce(ctx context.Context, n Note) error {
	if err := hook.Publish(ctx, s.deps.Events, hook.CreditNoteIssued, n.TenantID, hook.StaticData(view(n))); err != nil {
		return err
	}
	entry := audit.Entry{
		Action: "credit_note.issued", TenantID: &n.TenantID, Resource: "credit_note", ResourceID: n.ID.String(),
		After: map[string]any{
			"number": n.Number, "invoice_id": n.InvoiceID, "total_cents": n.Total.AmountCents, "currency": n.Total.Currency,
			"settlement": n.Settlement, "reason": n.Reason, "memo": orNil(n.Memo),
		},
	}
	by := ctx
	if n.request != nil {
		by = n.request.By.NewContext(ctx)
	}
	if err := s.deps.Audit.Record(by, entry); err != nil {
		return err
	}
	return s.deps.Returned(ctx, n.TenantID)
}

// get returns a credit note of a tenant that is not pending, or a 404 error.
func (s *Service) get(ctx context.Context, tenantID, id uuid.UUID) (Note, error) {
	n, err := s.store.get(ctx, tenantID, id)
	if err == nil && n.Status == statusPending {
		err = errNotFound
	}
	return n, err
}
