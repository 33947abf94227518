package letters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/money"
)

// Mails that are sent only if the operator enables them.
const (
	welcome  = "welcome"
	receipt  = "receipt"
	newLogin = "new_login"

	subscriptionStarted  = "subscription_started"
	planChanged          = "plan_changed"
	subscriptionCanceled = "subscription_canceled"
	subscriptionEnded    = "subscription_ended"

	MailCardExpires     = "card_expires"
	MailRenewalReminder = "renewal_reminder"
	MailLastAttempt     = "last_attempt"
)

// DefaultOptionalMails lists the optional mails that are sent by default: the mails that payment
// providers do not send themselves.
func DefaultOptionalMails() []string {
	return []string{newLogin, subscriptionStarted, planChanged, subscriptionCanceled, subscriptionEnded}
}

// OptionalMails lists the optional mails.
func OptionalMails() []string {
	return []string{
		welcome, receipt, newLogin, subscriptionStarted, planChanged, subscriptionCanceled, subscriptionEnded,
		MailCardExpires, MailRenewalReminder, MailLastAttempt,
	}
}

// CheckOptional returns an error if the name is not an optional mail.
func CheckOptional(name string) error {
	if slices.Contains(OptionalMails(), name) {
		return nil
	}
	return fmt.Errorf("%q is not an optional email; optional emails: %s", name, strings.Join(OptionalMails(), ", "))
}

// Sends reports whether an optional mail is enabled.
func (l *Letters) Sends(name string) bool { return slices.Contains(l.config.Optional, name) }

// SendsReceipts reports whether receipts are enabled.
func (l *Letters) SendsReceipts() bool { return l.Sends(receipt) }

// Welcome sends the welcome mail to a new user, if enabled.
func (l *Letters) Welcome(ctx context.Context, locale, to, name string) error {
	if !l.Sends(welcome) {
		return nil
	}
	return l.send(ctx, l.locale(locale), letter{
		key: welcome, to: to, link: l.config.FrontendURL + "/", theirs: map[string]string{"name": name},
	})
}

// NewLogin notifies a user of a login from a new browser or network, if enabled.
func (l *Letters) NewLogin(ctx context.Context, locale, to, name, browser, ip string) error {
	if !l.Sends(newLogin) {
		return nil
	}
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: newLogin, to: to, link: l.passwordURL(frontend.ForgotPassword),
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now()), "ip": ip},
		theirs: map[string]string{"name": name, "browser": browser},
	})
}

// Receipt is the content of the receipt mail.
type Receipt struct {
	Tenant     string // name
	Number     string // invoice number
	What       string // the item paid for, such as a plan name; can be empty
	Amount     money.Money
	MinorUnits int // decimals of the amount's currency: 0, 2 or 3
	PaidAt     time.Time
}

// Receipt sends a receipt for the payment of an invoice, if enabled.
func (l *Letters) Receipt(ctx context.Context, locale, to string, r Receipt) error {
	if !l.SendsReceipts() {
		return nil
	}
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: receipt, to: to, link: l.pages().PageURL(frontend.Billing),
		ours:   map[string]string{"amount": in.Money(r.Amount, r.MinorUnits), "paid": in.Date(r.PaidAt)},
		admins: map[string]string{"number": r.Number, "what": r.What},
		theirs: map[string]string{"tenant": r.Tenant},
	})
}

// CardExpires is the content of the mail about a card that expires soon.
type CardExpires struct {
	Tenant  string    // name
	Last4   string    // last four digits of the card
	Expires time.Time // in the last month in which the card is valid
}

// CardExpires sends a mail that the card of a subscription expires soon, if enabled.
func (l *Letters) CardExpires(ctx context.Context, locale, to string, c CardExpires) error {
	if !l.Sends(MailCardExpires) {
		return nil
	}
	return l.send(ctx, l.locale(locale), letter{
		key: MailCardExpires, to: to, link: l.pages().PageURL(frontend.Billing),
		ours:   map[string]string{"last4": c.Last4, "expires": c.Expires.Format("01/2006")}, // as on the card
		theirs: map[string]string{"tenant": c.Tenant},
	})
}

// RenewalReminder is the content of the mail about a renewal.
type RenewalReminder struct {
	Tenant     string // name
	Plan       string // name
	RenewsAt   time.Time
	Amount     money.Money
	MinorUnits int // decimals of the amount's currency: 0, 2 or 3
}

// RenewalReminder sends a mail that a subscription renews soon, if enabled.
func (l *Letters) RenewalReminder(ctx context.Context, locale, to string, r RenewalReminder) error {
	if !l.Sends(MailRenewalReminder) {
		return nil
	}
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: MailRenewalReminder, to: to, link: l.pages().PageURL(frontend.Billing),
		ours:   map[string]string{"amount": in.Money(r.Amount, r.MinorUnits), "renews": in.Date(r.RenewsAt)},
		admins: map[string]string{"plan": r.Plan},
		theirs: map[string]string{"tenant": r.Tenant},
	})
}

// LastAttempt is the content of the mail before the last attempt to collect an invoice.
type LastAttempt struct {
	Tenant     string // name
	Plan       string // name
	Amount     money.Money
	MinorUnits int // decimals of the amount's currency: 0, 2 or 3
	AttemptAt  time.Time
	PaymentURL string // the page to make the payment
}

// LastAttempt sends a mail that an invoice is about to be collected for the last time, if enabled.
func (l *Letters) LastAttempt(ctx context.Context, locale, to string, a LastAttempt) error {
	if !l.Sends(MailLastAttempt) {
		return nil
	}
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: MailLastAttempt, to: to, link: a.PaymentURL,
		ours:   map[string]string{"amount": in.Money(a.Amount, a.MinorUnits), "attempt": in.Instant(a.AttemptAt)},
		admins: map[string]string{"plan": a.Plan},
		theirs: map[string]string{"tenant": a.Tenant},
	})
}
