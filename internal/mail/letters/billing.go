package letters

import (
	"cmp"
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/money"
)

// QuotaAlert is the content of the soft quota mail.
type QuotaAlert struct {
	Tenant    string // name
	Meter     string // name
	Unit      string // the meter's label, usually a unit; can be empty
	Current   money.Total
	Limit     int64     // in whole units
	Percent   int       // percentage of the limit reached: 80 or 100
	PeriodEnd time.Time // zero for a meter that is never reset
}

// QuotaAlert sends a mail that a meter has reached a.Percent of its soft quota. At 100 the mail
// says that the quota is used up (rules: mail#letters).
func (l *Letters) QuotaAlert(ctx context.Context, locale, to string, a QuotaAlert) error {
	in := l.locale(locale)
	unit := breakLinks(sanitizeLine(a.Unit, maxInBody))
	m := letter{
		key: "quota_near", to: to, link: l.pages().PageURL(frontend.Billing),
		ours: map[string]string{
			"current": i18n.UnitText(in.name, a.Current, unit), "limit": i18n.UnitText(in.name, money.Total{Units: a.Limit}, unit),
			"percent": in.Percent(a.Percent), "period_end": "",
		},
		admins: map[string]string{"meter": a.Meter},
		theirs: map[string]string{"tenant": a.Tenant},
	}
	if a.Percent >= 100 {
		m.key = "quota_reached"
	}
	if !a.PeriodEnd.IsZero() {
		m.ours["period_end"] = in.Instant(a.PeriodEnd)
	}
	return l.send(ctx, in, m)
}

// PaymentFailed is the content of the mail about a failed payment.
type PaymentFailed struct {
	Tenant     string // name
	Plan       string // name
	Amount     money.Money
	MinorUnits int // decimals of the amount's currency: 0, 2 or 3
	// PaymentURL is the page to confirm or make the payment; can be empty.
	PaymentURL string
	// IsUnconfirmed means that the payment only lacks the payer's confirmation.
	IsUnconfirmed bool
}

// PaymentFailed sends a mail that a payment for a subscription failed or has to be confirmed.
func (l *Letters) PaymentFailed(ctx context.Context, locale, to string, p PaymentFailed) error {
	in := l.locale(locale)
	m := letter{
		key: "payment_failed", to: to, link: cmp.Or(p.PaymentURL, l.pages().PageURL(frontend.Billing)), paying: p.PaymentURL != "",
		ours:   map[string]string{"amount": in.Money(p.Amount, p.MinorUnits)},
		admins: map[string]string{"plan": p.Plan},
		theirs: map[string]string{"tenant": p.Tenant},
	}
	if p.IsUnconfirmed {
		m.key, m.paying = "confirm_payment", false
	}
	return l.send(ctx, in, m)
}

// TrialEnds is the content of the mail about the end of a trial.
type TrialEnds struct {
	Tenant     string // name
	Plan       string // name
	EndsAt     time.Time
	Price      money.Money // per period after the trial; zero for a usage plan
	MinorUnits int         // decimals of the price's currency: 0, 2 or 3
}

// TrialEnds sends a mail that a trial is about to end, with the price after the trial.
func (l *Letters) TrialEnds(ctx context.Context, locale, to string, e TrialEnds) error {
	return l.trial(ctx, "trial_ends", locale, to, e)
}

// AddCard sends a mail that asks for a payment method before a trial ends.
func (l *Letters) AddCard(ctx context.Context, locale, to string, e TrialEnds) error {
	return l.trial(ctx, "add_card", locale, to, e)
}

// TrialMoved sends a mail that a trial has a new end.
func (l *Letters) TrialMoved(ctx context.Context, locale, to string, e TrialEnds) error {
	return l.trial(ctx, "trial_moved", locale, to, e)
}

// TrialEnded sends a mail that the platform has ended a trial.
func (l *Letters) TrialEnded(ctx context.Context, locale, to string, e TrialEnds) error {
	return l.trial(ctx, "trial_ended", locale, to, e)
}

func (l *Letters) trial(ctx context.Context, key, locale, to string, e TrialEnds) error {
	in := l.locale(locale)
	m := letter{
		key: key, to: to, link: l.pages().PageURL(frontend.Billing),
		ours:   map[string]string{"ends": in.Instant(e.EndsAt), "price": ""},
		admins: map[string]string{"plan": e.Plan},
		theirs: map[string]string{"tenant": e.Tenant},
	}
	if e.Price.AmountCents > 0 {
		m.ours["price"] = in.Money(e.Price, e.MinorUnits)
	}
	return l.send(ctx, in, m)
}

// WebhookDisabled is the content of the mail about a disabled webhook endpoint.
type WebhookDisabled struct {
	Tenant string // name
	URL    string // of the endpoint
	Since  time.Time
}

// WebhookDisabled sends a mail that a webhook endpoint was disabled because its deliveries failed.
func (l *Letters) WebhookDisabled(ctx context.Context, locale, to string, d WebhookDisabled) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "webhook_disabled", to: to, link: l.pages().PageURL(frontend.Webhooks),
		ours:   map[string]string{"since": in.Instant(d.Since)},
		theirs: map[string]string{"tenant": d.Tenant, "url": d.URL},
	})
}

// FirstPayment is the content of the mail about the first payment of a subscription.
type FirstPayment struct {
	Tenant     string // name
	Plan       string // name
	Amount     money.Money
	MinorUnits int    // decimals of the amount's currency: 0, 2 or 3
	PaymentURL string // the page to make the payment
}

// FirstPayment sends a mail to the owner that asks for the first payment of a subscription. The
// platform has created the subscription.
func (l *Letters) FirstPayment(ctx context.Context, locale, to string, p FirstPayment) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "first_payment", to: to, link: p.PaymentURL,
		ours:   map[string]string{"amount": in.Money(p.Amount, p.MinorUnits)},
		admins: map[string]string{"plan": p.Plan},
		theirs: map[string]string{"tenant": p.Tenant},
	})
}

// ChangeWaits is the content of the mail about a change of plan whose payment has to be confirmed.
type ChangeWaits struct {
	Tenant     string // name
	Plan       string // name of the plan after the change
	ExpiresAt  time.Time
	PaymentURL string // the page to confirm the payment
}

// ChangeWaits sends a mail to the owner that asks to confirm the payment of a change. The platform
// has made the change.
func (l *Letters) ChangeWaits(ctx context.Context, locale, to string, c ChangeWaits) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "change_waits", to: to, link: c.PaymentURL,
		ours:   map[string]string{"expires": in.Instant(c.ExpiresAt)},
		admins: map[string]string{"plan": c.Plan},
		theirs: map[string]string{"tenant": c.Tenant},
	})
}

// PlanChangeLapsed is the content of the mail about a scheduled change that was dropped.
type PlanChangeLapsed struct {
	Tenant string // name
	Plan   string // name of the plan that was scheduled
}

// PlanChangeLapsed sends a mail that a scheduled change was dropped because the usage exceeds the plan.
func (l *Letters) PlanChangeLapsed(ctx context.Context, locale, to string, p PlanChangeLapsed) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "plan_change_lapsed", to: to, link: l.pages().PageURL(frontend.Billing),
		admins: map[string]string{"plan": p.Plan}, theirs: map[string]string{"tenant": p.Tenant},
	})
}

// Invoice is the content of the mails about an invoice that the customer has to pay.
type Invoice struct {
	Tenant     string // name
	Number     string // invoice number
	Amount     money.Money
	MinorUnits int       // decimals of the amount's currency: 0, 2 or 3
	DueAt      time.Time // zero if it is already paid
	URL        string    // the page of the invoice; empty if nothing is left to pay
}

// Invoice sends an invoice with its document.
func (l *Letters) Invoice(ctx context.Context, locale, to string, i Invoice, files ...mail.Attachment) error {
	return l.invoice(ctx, "invoice", locale, to, i, files)
}

// InvoiceReminder sends a mail that reminds of an unpaid invoice.
func (l *Letters) InvoiceReminder(ctx context.Context, locale, to string, i Invoice) error {
	return l.invoice(ctx, "invoice_reminder", locale, to, i, nil)
}

func (l *Letters) invoice(ctx context.Context, key, locale, to string, i Invoice, files []mail.Attachment) error {
	in := l.locale(locale)
	m := letter{
		key: key, to: to, link: cmp.Or(i.URL, l.pages().PageURL(frontend.Billing)), files: files,
		ours:   map[string]string{"amount": in.Money(i.Amount, i.MinorUnits), "due": ""},
		admins: map[string]string{"number": i.Number},
		theirs: map[string]string{"tenant": i.Tenant},
	}
	if !i.DueAt.IsZero() {
		m.ours["due"] = in.Date(i.DueAt)
	}
	return l.send(ctx, in, m)
}
