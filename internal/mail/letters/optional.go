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

// The mails that are sent only where the operator asks for them.
const (
	welcome = "welcome"
	receipt = "receipt"
)

// OptionalMails lists them.
func OptionalMails() []string { return []string{welcome, receipt} }

// CheckOptional refuses the name of a mail that is not optional.
func CheckOptional(name string) error {
	if slices.Contains(OptionalMails(), name) {
		return nil
	}
	return fmt.Errorf("%q is no optional mail; those are %s", name, strings.Join(OptionalMails(), " and "))
}

// Sends reports whether an optional mail is sent.
func (l *Letters) Sends(name string) bool { return slices.Contains(l.config.Optional, name) }

// SendsReceipts reports whether Receipt sends anything.
func (l *Letters) SendsReceipts() bool { return l.Sends(receipt) }

// Welcome greets a new user, where the operator asks for it.
func (l *Letters) Welcome(ctx context.Context, locale, to, name string) error {
	if !l.Sends(welcome) {
		return nil
	}
	return l.send(ctx, l.locale(locale), letter{
		key: welcome, to: to, link: l.pages().PageURL(frontend.Billing), theirs: map[string]string{"name": name},
	})
}

// Receipt is the content of the mail about a payment.
type Receipt struct {
	Tenant     string // its name
	Number     string // of the invoice
	What       string // what was paid for, such as the name of a plan; may be empty
	Amount     money.Money
	MinorUnits int // decimals of the amount's currency: 0, 2 or 3
	PaidAt     time.Time
}

// Receipt thanks for the payment of an invoice, where the operator asks for it.
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
