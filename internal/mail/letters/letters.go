// Package letters writes the service's mails, as text and HTML, in the recipient's language.
//
// A letter consists of texts for each locale (locales/*.json) in a common layout. User input, such
// as names, appears as plain text: it is sanitized and shortened, so that it can neither add lines
// nor become a link (rules: mail#letters).
package letters

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/mail"
)

// Outbox queues finished messages, in the caller's transaction. *mail.Outbox implements it.
type Outbox interface {
	Enqueue(ctx context.Context, m mail.Message) error
}

// Config has the dependencies and settings of Letters.
type Config struct {
	FrontendURL  string         // absolute, without a trailing slash; base of all links
	Paths        frontend.Paths // paths of frontend pages that differ from the defaults
	PublicURL    string         // same form; serves the logo
	Brand        brand.Brand
	Templates    *Templates // the operator's templates; can be nil
	Locales      []string   // languages of mails; nil for all
	Optional     []string   // enabled optional mails; see OptionalMails
	Practice     bool       // mark all subjects: a sandbox simulates the payments
	Passwordless bool       // users cannot log in with a password, so mails lead to the sign-in page
	Outbox       Outbox
	Clock        clock.Clock  // for event times in mails
	Log          *slog.Logger // nil discards logs
}

// Letters sends mails. It is safe for concurrent use.
//
// Its methods return errors of the outbox. They use the default locale if the given one is not
// offered.
type Letters struct {
	config  Config
	locales map[string]*locale
	layout  forms
	strict  bool // return the error of a failing custom template
	long    bool // replace names by long ones, for samples
}

// New returns a Letters. It fails if the embedded texts cannot be loaded.
func New(c Config) (*Letters, error) {
	locales, err := loadLocales()
	if err != nil {
		return nil, fmt.Errorf("letters: %w", err)
	}
	if c.Locales != nil {
		maps.DeleteFunc(locales, func(name string, _ *locale) bool { return !slices.Contains(c.Locales, name) })
	}
	layout, err := loadLayout()
	if err != nil {
		return nil, fmt.Errorf("letters: %w", err)
	}
	c.FrontendURL, c.PublicURL = strings.TrimRight(c.FrontendURL, "/"), strings.TrimRight(c.PublicURL, "/")
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Letters{config: c, locales: locales, layout: layout}, nil
}

// letter is the content of a mail.
type letter struct {
	key    string // key of its texts
	to     string
	link   string            // target of the button
	paying bool              // link leads to a payment page
	ours   map[string]string // variables set by the service
	admins map[string]string // variables entered by a platform admin
	theirs map[string]string // variables that any user can have entered; never in a subject
	// addresses are email addresses, which are shown unchanged; never in a subject.
	addresses map[string]string
	files     []mail.Attachment
}

// send builds a letter and queues it. If a custom template fails, send uses the built-in template
// instead, because the mail must arrive. This happens if a template passes the check with samples
// at startup but fails with real values.
func (l *Letters) send(ctx context.Context, in *locale, m letter) error {
	if l.long {
		m.lengthen()
	}
	own := l.config.Templates.templatesOf(in.name, m.key)
	message, err := l.compose(in, m, own)
	if err != nil && l.strict {
		return err
	}
	if err != nil && own != (forms{}) {
		l.config.Log.WarnContext(ctx, "custom email template failed; using built-in template", "mail", m.key, "locale", in.name, "error", err)
		message, err = l.compose(in, m, forms{})
	}
	if err != nil {
		return fmt.Errorf("letters: %s: %w", m.key, err)
	}
	return l.config.Outbox.Enqueue(ctx, message)
}

// passwordURL returns the URL of a page to set a password. Without password logins it returns the
// URL of the frontend, where users sign in.
func (l *Letters) passwordURL(page frontend.Page, query ...string) string {
	if l.config.Passwordless {
		return l.config.FrontendURL + "/"
	}
	return l.pages().PageURL(page, query...)
}

// pages returns the addresses of the frontend's pages.
func (l *Letters) pages() frontend.Addresses {
	return frontend.Addresses{URL: l.config.FrontendURL, Paths: l.config.Paths}
}
