// Package check finds what is not as it has to be in the account at the payment provider,
// and says what to do. It only reads (rules: psp#check).
package check

import (
	"context"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
)

// Status says how bad a finding is.
type Status string

// The statuses.
const (
	StatusOK      Status = "ok"
	StatusWarning Status = "warning"
	StatusError   Status = "error"
)

// Finding is what one check found.
type Finding struct {
	Name   string  `json:"name"`
	Status Status  `json:"status"`
	Detail string  `json:"detail"`
	Fix    *string `json:"fix"` // what to do; null where there is nothing to do
}

// Config is what is checked.
type Config struct {
	Client *psp.Client
	// WebhookURL is where this service takes notifications; "" where it is not known.
	WebhookURL string
	// Types are the types of events that the service handles.
	Types []string
	// LastReceived is when the last notification was stored; zero for never.
	LastReceived time.Time
	// Links are the prices here that are linked to one of the provider.
	Links []Link
	// Now is the machine's time.
	Now func() time.Time
}

// Link is a price here that is linked to one of the provider.
type Link struct {
	Name          string // for people, such as "plan starter in EUR"
	PSPPriceID    string
	Currency      string // ISO 4217
	Amount        *int64 // in minor units; nil where it is not compared
	UnitPrice     string // what a unit costs, as psp.Price has it; "" where it is not compared
	IntervalUnit  string // "" where it is not compared
	IntervalCount int
	Metered       bool
}

// checker collects findings.
type checker struct {
	Config
	findings []Finding
}

// Run makes all checks. Where the key does not work at all the others are left out.
func Run(ctx context.Context, cfg Config) []Finding {
	c := &checker{Config: cfg}
	if c.key(ctx) {
		c.permissions(ctx)
		c.webhook(ctx)
		c.checkUndelivered(ctx)
		c.portal(ctx)
		c.links(ctx)
	}
	return c.findings
}

func (c *checker) note(name string, s Status, detail, fix string) {
	f := Finding{Name: name, Status: s, Detail: detail}
	if fix != "" {
		f.Fix = &fix
	}
	c.findings = append(c.findings, f)
}

func (c *checker) ok(name, detail string) { c.note(name, StatusOK, detail, "") }

// failed notes that the provider did not answer what a check needs.
func (c *checker) failed(name string, status int, err error) {
	switch status {
	case http.StatusForbidden:
		c.note(name, StatusWarning, "could not be checked: the key may not read it",
			"Give the restricted key the permission to read it (docs/stripe.md), or check it in Stripe's dashboard.")
	default:
		c.note(name, StatusError, "could not be checked: "+err.Error(), "Try again; if it stays, see https://status.stripe.com.")
	}
}
