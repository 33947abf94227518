package invoice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/tenant"
)

// JobMail is the kind of job that mails an invoice of a subscription that is paid by invoice.
const JobMail = "invoice.mail"

const (
	// maxAttachment limits the document that a mail contains. A larger document is left out.
	maxAttachment = 4 << 20
	// remindersPerRun is the maximum number of invoices that one run of RemindOfInvoices handles.
	remindersPerRun = 100

	oneDay = 24 * time.Hour
)

// DefaultReminders returns the default of the setting for reminders: the days, relative to the due
// date, on which an unpaid invoice is mailed again.
func DefaultReminders() []int { return []int{-3, 1, 7, 14} }

// enqueueMail enqueues the mail of an invoice once, if the invoice is sent by mail. Call it in the
// transaction that stores the invoice, when its document exists.
func (s *Service) enqueueMail(ctx context.Context, tenantID, id uuid.UUID) error {
	isNew, err := s.store.queueMail(ctx, tenantID, id)
	if err != nil || !isNew {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, JobMail, documentPayload{TenantID: tenantID, InvoiceID: id})
}

// HandleMail handles JobMail: it mails an invoice with its document, once, to the billing address,
// otherwise to the owner.
//
// Invariant: the mail is recorded under the tenant's lock, in the transaction that enqueues it.
func (s *Service) HandleMail(ctx context.Context, job jobs.Job) error {
	var of documentPayload
	if err := job.Decode(&of); err != nil {
		return jobs.MarkFatal(err)
	}
	inv, err := s.source.get(ctx, of.TenantID, of.InvoiceID)
	if errors.Is(err, errNotFound) {
		return jobs.MarkFatal(err)
	}
	if err != nil || inv.Status == StatusVoid || inv.Status == StatusUncollectible {
		return err
	}
	files, err := s.attachments(ctx, inv)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, inv.TenantID)
		if err != nil {
			return err
		}
		due, err := s.store.dueAt(ctx, inv)
		if err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		isNew, err := s.store.noteMail(ctx, inv, now, s.nextReminder(due, now))
		if err != nil || !isNew {
			return err
		}
		return s.mailInvoice(ctx, t, inv, func(ctx context.Context, locale, to string, l letters.Invoice) error {
			return s.deps.Letters.Invoice(ctx, locale, to, l, files...)
		})
	})
}

// attachments returns the document of an invoice as the attachment of a mail.
func (s *Service) attachments(ctx context.Context, inv Invoice) ([]mail.Attachment, error) {
	file, err := s.source.document(ctx, inv.TenantID, inv.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Body.Close() }() // it was read
	content, err := io.ReadAll(io.LimitReader(file.Body, maxAttachment+1))
	if err != nil {
		return nil, fmt.Errorf("read document of invoice: %w", err)
	}
	if len(content) > maxAttachment {
		s.deps.Log.WarnContext(ctx, "invoice document is too large for a mail", "invoice_id", inv.ID)
		return nil, nil
	}
	return []mail.Attachment{{Name: "invoice-" + file.Number + ".pdf", ContentType: "application/pdf", Content: content}}, nil
}

// mailInvoice writes a mail about an invoice to the tenant's billing contact, if there is one.
func (s *Service) mailInvoice(
	ctx context.Context, t tenant.Tenant, inv Invoice, write func(ctx context.Context, locale, to string, l letters.Invoice) error,
) error {
	to, err := s.deps.Tenants.BillingEmail(ctx, t)
	if err != nil || to == nil {
		return err
	}
	units, err := s.store.minorUnits(ctx, inv.Total.Currency)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return err
	}
	l := letters.Invoice{Tenant: t.Name, Number: inv.Number, Amount: inv.amountDue(), MinorUnits: units, URL: inv.Action.URL}
	if inv.DueDate != nil {
		l.DueAt = *inv.DueDate
	}
	return write(ctx, locale, *to, l)
}

// nextReminder returns the time of the first reminder after the given time, for an invoice that is
// due at due. It returns nil after the last reminder.
func (s *Service) nextReminder(due *time.Time, after time.Time) *time.Time {
	if due == nil {
		return nil
	}
	for _, days := range slices.Sorted(slices.Values(s.deps.Reminders)) {
		if at := due.Add(time.Duration(days) * oneDay); at.After(after) {
			return &at
		}
	}
	return nil
}

// reminder is a due reminder of an unpaid invoice.
type reminder struct {
	tenantID, id uuid.UUID
	pspInvoiceID string
	due          time.Time // of the invoice
	at           time.Time // of the reminder
}

// RemindOfInvoices mails unpaid invoices again on the days that the settings define. It is a
// periodic job. After an outage, the missed reminders of an invoice are sent as one.
func (s *Service) RemindOfInvoices(ctx context.Context) error {
	due, err := s.store.listReminders(ctx, s.deps.Clock.Now())
	for _, r := range due {
		err = errors.Join(err, s.remindOfInvoice(ctx, r))
	}
	return err
}

// remindOfInvoice reads an invoice again and mails its tenant if it is still unpaid.
//
// Invariant: the reminder is recorded under the tenant's lock, in the transaction that enqueues its
// mail, and only for an open invoice.
func (s *Service) remindOfInvoice(ctx context.Context, r reminder) error {
	in, err := s.deps.Provider.GetInvoice(ctx, r.pspInvoiceID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if Status(in.Status) != StatusOpen {
		return s.storeRead(ctx, r.tenantID, in)
	}
	inv, err := s.source.get(ctx, r.tenantID, r.id)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, r.tenantID)
		if err != nil {
			return err
		}
		isNew, err := s.store.noteReminder(ctx, r, s.nextReminder(&r.due, s.deps.Clock.Now()))
		if err != nil || !isNew || inv.Action.URL == "" { // a debit in progress pays it
			return err
		}
		return s.mailInvoice(ctx, t, inv, s.deps.Letters.InvoiceReminder)
	})
}
