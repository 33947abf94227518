package stripe

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

var portals = kernel.Kind[portal]{Name: "billing_portal.session", Prefix: "bps", Label: "billing portal session", Path: "/v1/billing_portal/sessions"}

// portalLife is how long the link to the portal works.
const portalLife = time.Hour

// portalConfiguration names the one configuration there is, which cannot be
// changed.
const portalConfiguration = "bpc_sandbox"

// portal is a visit of a customer to the hosted page on which subscriptions are
// looked after. Whoever has its link may.
type portal struct {
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

func portalPath(id string) string { return "/sandbox/portal/" + id }

// expired tells that the link works no more.
func (p *portal) expired(now int64) bool { return now >= p.Created+int64(portalLife/time.Second) }

func createPortal(ctx context.Context, c *kernel.Call) (any, error) {
	session := portal{Header: portals.Start(c.Now), Configuration: portalConfiguration}
	session.URL = c.Site + portalPath(session.ID)
	p := c.Params
	p.Require("customer")
	p.Text("customer", &session.Customer)
	p.URL("return_url", &session.ReturnURL)
	if p.Has("locale") {
		var locale string
		p.Choice("locale", &locale, "auto", "en", "es", "fr", "it")
		session.Locale = &locale
	}
	if err := p.Done(); err != nil {
		return nil, err
	}
	if _, err := customers.Live(ctx, c.Step, session.Customer, "customer"); err != nil {
		return nil, err
	}
	return session, c.Create(ctx, "billing_portal.session.created", session)
}
