package portal

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Sessions is the collection of portal sessions.
var Sessions = kernel.Kind[Session]{Name: "billing_portal.session", Prefix: "bps", Label: "billing portal session", Path: "/v1/billing_portal/sessions"}

// sessionLife is the lifetime of a session's link.
const sessionLife = time.Hour

// Session gives anyone with its link access to a customer's subscriptions for a limited time.
type Session struct {
	kernel.Header
	Configuration   string    `json:"configuration"`
	Customer        string    `json:"customer"`
	CustomerAccount form.Null `json:"customer_account"`
	Flow            form.Null `json:"flow"`
	Locale          *string   `json:"locale"`
	OnBehalfOf      form.Null `json:"on_behalf_of"`
	ReturnURL       *string   `json:"return_url"`
	URL             string    `json:"url"`
}

// Path returns the path of a session's page.
func Path(id string) string { return "/sandbox/portal/" + id }

// isExpired reports whether the link has expired.
func (p *Session) isExpired(now int64) bool { return now >= p.Created+int64(sessionLife/time.Second) }

// Create handles POST /v1/billing_portal/sessions.
func Create(ctx context.Context, c *kernel.Call) (any, error) {
	session := Session{Header: Sessions.Start(c.Now), Configuration: defaultConfiguration}
	session.URL = c.Site + Path(session.ID)
	p := c.Params
	p.Require("customer")
	p.Text("customer", &session.Customer)
	p.URL("return_url", &session.ReturnURL)
	if p.Has("locale") {
		var locale string
		p.Choice("locale", &locale, "auto", "en", "es", "fr", "it")
		session.Locale = &locale
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	if _, err := customers.FindLive(ctx, c.Step, session.Customer, "customer"); err != nil {
		return nil, err
	}
	if err := requireSetup(ctx, c); err != nil {
		return nil, err
	}
	return session, c.Create(ctx, "billing_portal.session.created", session)
}
