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
	Flow            *flow     `json:"flow"`
	Locale          *string   `json:"locale"`
	OnBehalfOf      form.Null `json:"on_behalf_of"`
	ReturnURL       *string   `json:"return_url"`
	URL             string    `json:"url"`
}

// flowPaymentMethod is the flow in which the customer only sets a payment method.
const flowPaymentMethod = "payment_method_update"

// flow is one task that the session's page guides the customer through.
type flow struct {
	Type                      string          `json:"type"`
	AfterCompletion           afterCompletion `json:"after_completion"`
	SubscriptionCancel        form.Null       `json:"subscription_cancel"`
	SubscriptionUpdate        form.Null       `json:"subscription_update"`
	SubscriptionUpdateConfirm form.Null       `json:"subscription_update_confirm"`
}

// The types of after_completion: where the customer goes after the flow.
const (
	completesOnPortal   = "portal_homepage"
	completesOnRedirect = "redirect"
)

type afterCompletion struct {
	HostedConfirmation form.Null `json:"hosted_confirmation"`
	Redirect           *redirect `json:"redirect"`
	Type               string    `json:"type"`
}

type redirect struct {
	ReturnURL *string `json:"return_url"`
}

// readFlow reads the parameter flow_data.
func readFlow(p *form.Params) *flow {
	p = p.Hash("flow_data")
	if p == nil {
		return nil
	}
	f := &flow{AfterCompletion: afterCompletion{Type: completesOnPortal}}
	p.Require("type")
	p.Choice("type", &f.Type, flowPaymentMethod)
	after := p.Hash("after_completion")
	if after == nil {
		return f
	}
	after.Require("type")
	after.Choice("type", &f.AfterCompletion.Type, completesOnPortal, completesOnRedirect)
	if f.AfterCompletion.Type != completesOnRedirect {
		return f
	}
	after.Require("redirect")
	if to := after.Hash("redirect"); to != nil {
		f.AfterCompletion.Redirect = &redirect{}
		to.Require("return_url")
		to.URL("return_url", &f.AfterCompletion.Redirect.ReturnURL)
	}
	return f
}

// destination returns the URL that the customer is redirected to after a flow, or "" for the portal.
func (p *Session) destination() string {
	if p.Flow == nil || p.Flow.AfterCompletion.Redirect == nil {
		return ""
	}
	return *p.Flow.AfterCompletion.Redirect.ReturnURL
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
	session.Flow = readFlow(p)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	if _, err := customers.FindLive(ctx, c.Step, session.Customer, "customer"); err != nil {
		return nil, err
	}
	if err := requireSetup(ctx, c, session.Flow); err != nil {
		return nil, err
	}
	return session, c.Create(ctx, "billing_portal.session.created", session)
}
