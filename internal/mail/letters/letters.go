// Package letters writes the service's mails, as text and as HTML, in the
// reader's language.
//
// A letter consists of texts for each locale (locales/*.json) in one layout. What people
// have typed, such as their names, appears as plain text: it is cleaned and shortened,
// so that it can neither add a line nor become a link (rules: mail#letters).
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

// Outbox queues the finished messages; mail.Outbox is one. It is called with the context
// of whoever writes a letter, and so in their transaction.
type Outbox interface {
	Enqueue(ctx context.Context, m mail.Message) error
}

// Config is what Letters needs.
type Config struct {
	FrontendURL string         // absolute, without a slash at its end; all links begin with it
	Paths       frontend.Paths // of the frontend's pages, where they are others than by default
	PublicURL   string         // likewise; where the service serves the logo
	Brand       brand.Brand
	Templates   *Templates // the operator's own texts; nil for none
	Locales     []string   // the languages of mails; nil for all
	Optional    []string   // the optional mails that are sent; see Optional
	Outbox      Outbox
	Clock       clock.Clock  // for the time at which something happened
	Log         *slog.Logger // nil drops what it would say
}

// Letters writes mails. It is safe for concurrent use.
//
// Its methods return the errors of the outbox. For a locale that is not offered they use the
// default.
type Letters struct {
	config  Config
	locales map[string]*locale
	layout  forms
	strict  bool // a template of the operator that fails is an error
}

// New returns Letters. It fails when the embedded texts cannot be read.
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

// letter is one mail to be written.
type letter struct {
	key    string // of its texts
	to     string
	link   string            // where its button leads
	paying bool              // whether it can be paid there
	ours   map[string]string // variables that the service fills
	admins map[string]string // variables that a platform administrator has typed
	theirs map[string]string // variables that anybody may have typed; no subject has them
	// addresses are email addresses, which are shown exactly as they are; no subject has them.
	addresses map[string]string
}

// send writes a letter and queues it. A mail has to arrive: where a template of the operator
// fails, which the samples at the start did not show, the program's own text takes its place.
func (l *Letters) send(ctx context.Context, in *locale, m letter) error {
	own := l.config.Templates.templatesOf(in.name, m.key)
	message, err := l.compose(in, m, own)
	if err != nil && l.strict {
		return err
	}
	if err != nil && own != (forms{}) {
		l.config.Log.WarnContext(ctx, "a mail's own template failed, the program's is sent", "mail", m.key, "locale", in.name, "error", err)
		message, err = l.compose(in, m, forms{})
	}
	if err != nil {
		return fmt.Errorf("letters: %s: %w", m.key, err)
	}
	return l.config.Outbox.Enqueue(ctx, message)
}

// pages are where the links lead.
func (l *Letters) pages() frontend.Addresses {
	return frontend.Addresses{URL: l.config.FrontendURL, Paths: l.config.Paths}
}
