package apptest

import (
	"net/url"
)

// Customer is a tenant whose subscription a test follows over time.
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

// OpenCheckout opens a checkout for a plan and returns the response. plan is an id.
func (c *Customer) OpenCheckout(plan, currency string) Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/checkout"), c.Token, WithChanges(ReturnURLs, Object{"plan_id": plan, "currency": currency}))
}

// Buy pays for a plan with a form such as [Card], and waits for the subscription. plan is an id.
func (c *Customer) Buy(plan, currency string, way url.Values) {
	c.T.Helper()
	c.Submit(c.OpenCheckout(plan, currency).Want(200).Str("data.url"), way).Want(303)
	Eventually(c.T, "the activation", func() bool { return c.Subscription(c.Owner).At("data") != nil })
	c.AwaitNotifications()
}

// ReplaceCard sets another card in the billing portal. It pays nothing.
func (c *Customer) ReplaceCard(number string) {
	c.T.Helper()
	page := c.Call("POST", c.Path("/docs/billing/portal"), c.Token, nil).Want(200).Str("data.url")
	c.Submit(page+"/card", Card(number)).Want(303)
	c.AwaitNotifications()
}

// PayOpenInvoices pays the tenant's open invoices on the provider's pages, with a form such as
// [Card].
func (c *Customer) PayOpenInvoices(way url.Values) {
	c.T.Helper()
	for _, in := range c.ProviderObjects(c.Owner, "invoice") {
		if in.Str("status") == "open" {
			c.Submit(in.Str("hosted_invoice_url"), way).Want(303)
		}
	}
	c.AwaitNotifications()
}

// LogInAgain gets a new token, because tokens expire when the clock advances.
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

// Subscriptions returns the tenant's subscriptions as admins see them, newest first, including
// ended ones.
func (c *Customer) Subscriptions() Reply {
	c.T.Helper()
	return c.Call("GET", "/api/v1/admin/tenants/"+c.Tenant+"/subscriptions", c.Admin(), nil).Want(200)
}

// WantStatus checks the status of the newest subscription, and that the tenant has access to the
// plan's features exactly if the status grants it.
func (c *Customer) WantStatus(status string) {
	c.T.Helper()
	c.LogInAgain()
	got := c.Subscriptions()
	access := status == "active" || status == "trialing"
	if got.At("data.0.status") != status || c.HasAccess() != access {
		c.T.Fatalf("%s is %v, access %v, want %s: %s", c.Email, got.At("data.0.status"), c.HasAccess(), status, got.Text)
	}
}
