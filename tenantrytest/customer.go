package tenantrytest

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/oapi-codegen/nullable"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/sandbox"
)

// Customer is the owner of a tenant.
type Customer struct {
	*client.Client // logs in again after the session has expired

	Email, Password string
	Tenant          string // the tenant's id
}

// Test cards and their behavior at the payment provider.
const (
	CardPays           = "4242 4242 4242 4242"
	CardDeclined       = "4000 0000 0000 0002"
	CardFailsAtRenewal = "4000 0000 0000 0341" // pays at checkout, is declined at renewals
	CardConfirms       = "4000 0027 6000 3184" // requires confirmation of each payment
)

// Owner returns the owner of the demo tenant Acme, which has a subscription to starter.
func (s *Server) Owner() *Customer {
	s.t.Helper()
	return s.customer(sandbox.OwnerEmail, sandbox.OwnerPassword)
}

// Register creates an account with its own tenant. Onboarding is complete. Without a subscription,
// the default plan free applies.
func (s *Server) Register(email string) *Customer {
	s.t.Helper()
	const password = "correct horse battery"
	_, err := s.Client().Register(s.context(), api.RegisterRequest{
		Name: strings.Split(email, "@")[0], Email: email, Password: new(password), PasswordConfirmation: new(password),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.customer(email, password)
	text := nullable.NewNullableWithValue[string]
	_, err = c.CompleteOnboarding(s.context(), api.CompleteOnboardingRequest{
		LegalName: text("Analytical Engines Ltd"), Address: text("12 St James Square"), City: text("London"),
		PostalCode: text("SW1Y 4JH"), Country: text("GB"), BillingEmail: text(email),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *Server) customer(email, password string) *Customer {
	s.t.Helper()
	c := &Customer{Client: s.Client(client.WithLogin(email, password)), Email: email, Password: password}
	profile, err := c.ShowProfile(s.context())
	if err != nil {
		s.t.Fatal(err)
	}
	current, err := profile.CurrentTenant.Get()
	if err != nil {
		s.t.Fatalf("tenantrytest: %s is not a member of a tenant", email)
	}
	c.Tenant = current.ID
	return c
}

// APIKey creates an API key for a customer's tenant with scopes, such as
// [api.APIKeyScopeUsageWrite], and returns its secret.
func (s *Server) APIKey(c *Customer, scopes ...api.APIKeyScope) string {
	s.t.Helper()
	answer, err := c.CreateAPIKey(s.context(), c.Tenant, api.CreateAPIKeyRequest{Name: "Test", Scopes: scopes})
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Secret
}

// PlatformKey creates an API key of the platform, whose scopes apply to all tenants.
func (s *Server) PlatformKey(scopes ...api.APIKeyScope) string {
	s.t.Helper()
	answer, err := s.Admin().CreatePlatformAPIKey(s.context(), api.CreatePlatformAPIKeyRequest{Name: "Test", Scopes: scopes})
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Secret
}

// Subscribe buys the plan with the slug in EUR with [CardPays], and waits for the subscription. The
// default plan free needs no purchase: it applies without a subscription.
func (s *Server) Subscribe(c *Customer, plan string) {
	s.t.Helper()
	s.SubscribeWith(c, plan, CardPays)
}

// SubscribeWith is like [Server.Subscribe] but uses another card.
func (s *Server) SubscribeWith(c *Customer, plan, card string) {
	s.t.Helper()
	plans, err := c.ListPlans(s.context(), &api.ListPlansParams{Currency: new("EUR")})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range plans.Data {
		if p.Slug != plan {
			continue
		}
		if p.IsDefault && !s.isSubscribed(c) {
			return
		}
		checkout, err := c.CreateCheckout(s.context(), c.Tenant, api.CreateCheckoutRequest{
			PlanID: p.ID, Currency: "EUR", SuccessURL: s.URL + "/paid", CancelURL: s.URL + "/not-paid",
		})
		if err != nil {
			s.t.Fatal(err)
		}
		s.Pay(checkout.Data.URL, card)
		s.eventually("the subscription of "+c.Email, func() bool { return s.isSubscribed(c) })
		s.settle()
		return
	}
	s.t.Fatalf("tenantrytest: plan %q does not exist", plan)
}

func (s *Server) isSubscribed(c *Customer) bool {
	s.t.Helper()
	answer, err := c.ShowSubscription(s.context(), c.Tenant)
	if err != nil {
		s.t.Fatal(err)
	}
	return !answer.Data.IsNull()
}

// Pay submits a page of the payment provider (a checkout, or an invoice's hosted page) with a card,
// as a customer does in a browser.
func (s *Server) Pay(page, card string) {
	s.t.Helper()
	s.submit(page, card)
	s.settle()
}

// ReplaceCard replaces the card in the billing portal. With [CardFailsAtRenewal] or [CardConfirms],
// all later payments fail.
func (s *Server) ReplaceCard(c *Customer, card string) {
	s.t.Helper()
	portal, err := c.OpenBillingPortal(s.context(), c.Tenant, api.OpenBillingPortalRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.submit(portal.Data.URL+"/card", card)
	s.settle()
}

// FailPayments makes all later payments of a customer fail or succeed.
func (s *Server) FailPayments(c *Customer, fail bool) {
	s.t.Helper()
	card := CardPays
	if fail {
		card = CardFailsAtRenewal
	}
	s.ReplaceCard(c, card)
}

var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (s *Server) submit(page, card string) {
	s.t.Helper()
	form := url.Values{"card_number": {card}}
	r, err := http.NewRequestWithContext(s.context(), http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := noRedirects.Do(r)
	s.want(resp, err, http.StatusSeeOther)
}

// context outlives the test's context, which ends before the cleanups run.
func (s *Server) context() context.Context { return context.WithoutCancel(s.t.Context()) }
