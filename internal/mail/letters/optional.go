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
	welcome = "welcome"
	receipt = "receipt"
)

// OptionalMails lists the optional mails.
func OptionalMails() []string { return []string{welcome, receipt} }

// CheckOptional returns an error if the name is not an optional mail.
func CheckOptional(name string) error {
	if slices.Contains(OptionalMails(), name) {
		return nil
	}
	return fmt.Errorf("%q is not an optional email; optional emails: %s", name, strings.Join(OptionalMails(), " and "))
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
		key: welcome, to: to, link: l.pages().PageURL(frontend.Billing), theirs: map[string]string{"name": name},
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
