// Package check finds wrong settings of the account at the payment provider and suggests fixes. It
// is read-only (rules: psp#check).
package check

import (
	"context"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
)

// Status is the severity of a finding.
type Status string

// The severities.
const (
	StatusOK      Status = "ok"
	StatusWarning Status = "warning"
	StatusError   Status = "error"
)

// Finding is the result of one check.
type Finding struct {
	Name   string  `json:"name"`
	Status Status  `json:"status"`
	Detail string  `json:"detail"`
	Fix    *string `json:"fix"` // what to do; null if nothing is to be done
}

// Config is the input of the checks.
type Config struct {
	Client *psp.Client
	// WebhookURL is where this service receives notifications, or "" if it is unknown.
	WebhookURL string
	// Types are the event types that the service handles.
	Types []string
	// LastReceived is when the last notification was stored, or zero for never.
	LastReceived time.Time
	// Links are the prices of this service that are linked to prices of the provider.
	Links []Link
	// Now returns the machine's time.
	Now func() time.Time
}

// Link is a price of this service that is linked to a price of the provider.
type Link struct {
	Name          string // for display, such as "plan starter in EUR"
	PSPPriceID    string
	Currency      string // ISO 4217
	Amount        *int64 // in minor units; nil if it is not compared
	UnitPrice     string // price of a unit in the format of psp.Price; "" if it is not compared
	IntervalUnit  string // "" if it is not compared
	IntervalCount int
	Metered       bool
}

// checker collects findings.
type checker struct {
	Config
	findings []Finding
}

// Run runs all checks. If the key does not work, it skips the other checks.
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

// failed adds a finding for a check that the provider did not answer.
func (c *checker) failed(name string, status int, err error) {
	switch status {
	case http.StatusForbidden:
		c.note(name, StatusWarning, "not checked: the key does not have the permission",
			"Give the restricted key the permission to read it (docs/stripe.md), or check it in Stripe's dashboard.")
	default:
		c.note(name, StatusError, "not checked: "+err.Error(), "Try again. If the error persists, see https://status.stripe.com.")
	}
}
