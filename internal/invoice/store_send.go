package invoice

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// queueMail records that the mail of an invoice is enqueued. It reports false if it was enqueued
// before, or if the invoice is not sent by mail.
func (s store) queueMail(ctx context.Context, tenantID, id uuid.UUID) (bool, error) {
	n, err := s.q(ctx).QueueMail(ctx, invoicesql.QueueMailParams{TenantID: tenantID, ID: id})
	return n == 1, sqldb.Wrap(err, "record the mail of an invoice")
}

// dueAt returns when an invoice is due, or nil.
func (s store) dueAt(ctx context.Context, inv Invoice) (*time.Time, error) {
	at, err := s.q(ctx).DueInvoice(ctx, invoicesql.DueInvoiceParams{TenantID: inv.TenantID, ID: inv.ID})
	return at, sqldb.WrapAbsent(err, "read due time of invoice", errNotFound)
}

// noteMail records that an invoice is mailed, and the time of its next reminder. It reports false
// if it was mailed before.
func (s store) noteMail(ctx context.Context, inv Invoice, now time.Time, next *time.Time) (bool, error) {
	n, err := s.q(ctx).NoteMail(ctx, invoicesql.NoteMailParams{TenantID: inv.TenantID, ID: inv.ID, Now: &now, NextReminderAt: next})
	return n == 1, sqldb.Wrap(err, "record the mail of an invoice")
}

// listReminders lists the reminders that are due.
func (s store) listReminders(ctx context.Context, now time.Time) ([]reminder, error) {
	rows, err := s.q(ctx).ListReminders(ctx, invoicesql.ListRemindersParams{Now: &now, Most: remindersPerRun})
	list := make([]reminder, len(rows))
	for i, row := range rows {
		list[i] = reminder{tenantID: row.TenantID, id: row.ID, pspInvoiceID: row.PSPInvoiceID, due: *row.DueAt, at: *row.NextReminderAt}
	}
	return list, sqldb.Wrap(err, "list reminders of invoices")
}

// noteReminder records that a reminder is sent, and the time of the next reminder. It reports false
// if it was sent before, or if the invoice is not open.
func (s store) noteReminder(ctx context.Context, r reminder, next *time.Time) (bool, error) {
	n, err := s.q(ctx).NoteReminder(ctx, invoicesql.NoteReminderParams{TenantID: r.tenantID, PSPInvoiceID: r.pspInvoiceID, Due: &r.at, Next: next})
	return n == 1, sqldb.Wrap(err, "record the reminder of an invoice")
}

// isIncomplete reports whether a subscription waits for its first payment.
func (s store) isIncomplete(ctx context.Context, tenantID uuid.UUID, pspSubscriptionID string) (bool, error) {
	is, err := s.q(ctx).IsIncomplete(ctx, invoicesql.IsIncompleteParams{TenantID: tenantID, PSPSubscriptionID: pspSubscriptionID})
	return is, sqldb.Wrap(err, "read status of subscription")
}
