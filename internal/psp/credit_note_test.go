package psp_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/invoices"
)

// creditNotesWork makes every call about credit notes and refunds.
func creditNotesWork(ctx context.Context, p counterpart, invoice string, is func(what string, ok bool)) error {
	notes := invoices.CreditNotes{Client: p.Client}
	params := invoices.CreditNoteParams{ID: "note", InvoiceID: invoice, Currency: "EUR", Total: 200, Refund: 100, Outside: 100, Reason: "duplicate", Memo: "Twice"}
	made, err := notes.Create(ctx, params)
	if err != nil {
		return err
	}
	again, err := notes.Create(ctx, params)
	if err != nil {
		return err
	}
	is("a repeated credit note", again.ID == made.ID && made.Refund == 100 && made.Outside == 100 && made.Total == 200 && made.OwnID == "note")
	found, err := notes.Find(ctx, invoice, "note")
	if err != nil && p.remembers {
		return err
	}
	is("the credit note is not found", found.ID == made.ID && found.RefundStatus == invoices.RefundSucceeded)
	if _, err := notes.Find(ctx, invoice, "other"); !errors.Is(err, psp.ErrNotDone) {
		return fmt.Errorf("a credit note that was not made: %w", err)
	}
	all, err := notes.List(ctx, invoice)
	is("the list of credit notes", len(all) == 1)
	if err != nil {
		return err
	}
	of, err := notes.InvoiceOf(ctx, made.ID)
	is("the invoice of a credit note", of == invoice)
	if err != nil {
		return err
	}
	payments, err := notes.Payments(ctx, invoice)
	is("the payments", len(payments) == 1)
	if err != nil || len(payments) == 0 {
		return err
	}
	is("the rest of the payment", payments[0].RefundableAmount() == payments[0].Amount-100)
	first, err := notes.Refund(ctx, payments[0], 50, "note/retry")
	if err != nil {
		return err
	}
	second, err := notes.Refund(ctx, payments[0], 50, "note/retry")
	is("a repeated refund", first.ID == second.ID && first.Key == "note/retry")
	if err != nil {
		return err
	}
	charge, err := notes.ChargeOf(ctx, first.ID)
	if err != nil {
		return err
	}
	invoices, err := notes.InvoicesOf(ctx, charge)
	is("the invoice of a charge", len(invoices) == 1 && invoices[0] == invoice)
	return err
}
