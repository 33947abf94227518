package apptest

import (
	"net/url"
)

// Customer is a tenant whose subscription is followed through time.
type Customer struct {
	*Server
	Owner
	Email string
}

// NewCustomer registers an onboarded tenant whose owner is name@example.com.
func (s *Server) NewCustomer(name string) *Customer {
	s.T.Helper()
	email := name + "@example.com"
	return &Customer{Server: s, Owner: s.Register(email, true), Email: email}
}

// OpenCheckout opens a checkout for a plan, by its id, and returns the answer.
func (c *Customer) OpenCheckout(plan, currency string) Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/checkout"), c.Token, WithChanges(ReturnURLs, Object{"plan_id": plan, "currency": currency}))
}

// Buy pays for a plan, by its id, with a form such as [Card], and waits for the
// subscription.
func (c *Customer) Buy(plan, currency string, way url.Values) {
	c.T.Helper()
	c.Submit(c.OpenCheckout(plan, currency).Want(200).Str("data.url"), way).Want(303)
	Eventually(c.T, "the activation", func() bool { return c.Subscription(c.Owner).At("data") != nil })
	c.AwaitNotifications()
}

// ReplaceCard gives another card in the billing portal. It pays nothing by itself.
func (c *Customer) ReplaceCard(number string) {
	c.T.Helper()
	page := c.Call("POST", c.Path("/docs/billing/portal"), c.Token, nil).Want(200).Str("data.url")
	c.Submit(page+"/card", Card(number)).Want(303)
	c.AwaitNotifications()
}

// PayOpenInvoices pays what the tenant owes on the provider's pages, with a form
// such as [Card].
func (c *Customer) PayOpenInvoices(way url.Values) {
	c.T.Helper()
	for _, in := range c.ProviderObjects(c.Owner, "invoice") {
		if in.Str("status") == "open" {
			c.Submit(in.Str("hosted_invoice_url"), way).Want(303)
		}
	}
	c.AwaitNotifications()
}

// LogInAgain renews the token: tokens expire as time goes by.
func (c *Customer) LogInAgain() {
	c.T.Helper()
	c.Token = c.LogIn(c.Email)
}

// HasAccess reports whether the tenant has the features of its plan.
func (c *Customer) HasAccess() bool {
	c.T.Helper()
	list := c.Call("GET", c.Path("/entitlements"), c.Token, nil).Want(200).At("data").([]any)
	return len(list) > 0
}

// Subscriptions returns the tenant's subscriptions as the administration sees them:
// the newest first, also those that are over.
func (c *Customer) Subscriptions() Reply {
	c.T.Helper()
	return c.Call("GET", "/api/v1/admin/tenants/"+c.Tenant+"/subscriptions", c.Admin(), nil).Want(200)
}

// WantStatus wants the newest subscription in a status, and access to the plan's
// features if that status gives it.
func (c *Customer) WantStatus(status string) {
	c.T.Helper()
	c.LogInAgain()
	got := c.Subscriptions()
	access := status == "active" || status == "trialing"
	if got.At("data.0.status") != status || c.HasAccess() != access {
		c.T.Fatalf("%s is %v, access %v, want %s: %s", c.Email, got.At("data.0.status"), c.HasAccess(), status, got.Text)
	}
}
