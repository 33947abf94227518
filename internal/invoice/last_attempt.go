package invoice

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

const (
	// DefaultAttempts is the default number of attempts to collect an invoice.
	DefaultAttempts = 4
	// attemptNotice is how long before the last attempt the tenant is notified.
	attemptNotice = 24 * time.Hour
	// attemptsPerRun is the maximum number of invoices that one run of RemindOfAttempts handles.
	attemptsPerRun = 100
)

// lastAttempt is an open invoice that is about to be collected for the last time.
type lastAttempt struct {
	tenantID                        uuid.UUID
	pspInvoiceID, pspSubscriptionID string
}

// RemindOfAttempts mails the tenants of invoices that are about to be collected for the last time.
// It is a periodic job. The provider does not announce which attempt is the last, so a setting
// defines the number of attempts.
func (s *Service) RemindOfAttempts(ctx context.Context) error {
	if !s.deps.Letters.Sends(letters.MailLastAttempt) {
		return nil
	}
	due, err := s.store.listLastAttempts(ctx, s.deps.Attempts-1, s.deps.Clock.Now())
	for _, a := range due {
		err = errors.Join(err, s.remindOfAttempt(ctx, a))
	}
	return err
}

// remindOfAttempt reads an invoice again and mails its tenant.
//
// Invariant: the reminder is recorded under the tenant's lock, in the transaction that enqueues the
// mail, so the mail is sent once, and never after a stored cancellation.
func (s *Service) remindOfAttempt(ctx context.Context, a lastAttempt) error {
	in, err := s.deps.Provider.GetInvoice(ctx, a.pspInvoiceID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	if in.SubscriptionID != a.pspSubscriptionID || in.NextAttemptAt == nil || !in.NextAttemptAt.After(now) ||
		in.NextAttemptAt.Sub(now) > attemptNotice || in.Attempts != int64(s.deps.Attempts)-1 {
		return s.storeRead(ctx, a.tenantID, in) // the stored state was out of date
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, a.tenantID)
		if err != nil {
			return err
		}
		isNew, err := s.store.noteLastAttempt(ctx, a)
		if err != nil || !isNew || in.Action.URL == "" { // a debit in progress pays it
			return err
		}
		to, err := s.deps.Tenants.BillingEmail(ctx, t)
		if err != nil || to == nil {
			return err
		}
		plan, err := s.store.billedPlan(ctx, a.tenantID, in.SubscriptionID)
		if err != nil && !errors.Is(err, errNoPlan) {
			return err
		}
		units, err := s.store.minorUnits(ctx, in.Currency)
		if err != nil {
			return err
		}
		locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
		if err != nil {
			return err
		}
		return s.deps.Letters.LastAttempt(ctx, locale, *to, letters.LastAttempt{
			Tenant: t.Name, Plan: i18n.Pick(plan, locale), MinorUnits: units, AttemptAt: *in.NextAttemptAt,
			Amount: money.Money{AmountCents: in.AmountDue, Currency: in.Currency}, PaymentURL: in.Action.URL,
		})
	})
}
