package letters

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/mail"
)

// find returns a mail by name.
func find(name string) (Mail, error) {
	var names []string
	for _, m := range Mails() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mail{}, fmt.Errorf("unknown email %q; emails: %s", name, strings.Join(names, ", "))
}

// CheckName returns an error that lists all mails if the name is unknown.
func CheckName(name string) error {
	_, err := find(name)
	return err
}

// Preview builds a mail with sample data without sending it. It returns the error of a failing
// template.
func (l *Letters) Preview(ctx context.Context, name, locale string) (mail.Message, error) {
	return l.sample(ctx, name, locale, false)
}

// longName is as long as a name in a subject can be, and contains a long word without spaces.
const longName = "Gesellschaft für Softwareentwicklung-und-Datenverarbeitung 7"

// Sample is Preview with a choice of values: typical, sparse (without optional values), or long
// (names of 60 characters).
func (l *Letters) Sample(ctx context.Context, name, locale, values string) (mail.Message, error) {
	own := *l
	own.long = values == "long"
	return own.sample(ctx, name, locale, values == "sparse")
}

// lengthen replaces all names by a long one.
func (m *letter) lengthen() {
	for _, names := range []map[string]string{m.admins, m.theirs} {
		for key, name := range names {
			if name != "" && !slices.Contains([]string{"code", "url", "number", "browser"}, key) { // not names
				names[key] = longName
			}
		}
	}
}

func (l *Letters) sample(ctx context.Context, name, locale string, sparse bool) (mail.Message, error) {
	m, err := find(name)
	if err != nil {
		return mail.Message{}, err
	}
	own, kept := *l, &keeper{}
	own.config.Outbox, own.config.Clock, own.config.Optional, own.strict = kept, clock.NewFixed(sampleTime), OptionalMails(), true
	err = m.sample(ctx, &own, locale, sparse)
	return kept.message, err
}

// keeper is an outbox that stores the last message.
type keeper struct{ message mail.Message }

// Enqueue implements Outbox.
func (k *keeper) Enqueue(_ context.Context, m mail.Message) error {
	k.message = m
	return m.Validate()
}
