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
	*client.Client // logged in, and again when the login has ended

	Email, Password string
	Tenant          string // the tenant's id
}

// Cards by what the payment provider makes of them.
const (
	CardPays           = "4242 4242 4242 4242"
	CardDeclined       = "4000 0000 0000 0002"
	CardFailsAtRenewal = "4000 0000 0000 0341" // pays at checkout, fails when its owner is away
	CardConfirms       = "4000 0027 6000 3184" // its owner has to confirm each payment
)

// Owner returns the owner of the demo tenant Acme, which has a subscription to starter.
func (s *Server) Owner() *Customer {
	s.t.Helper()
	return s.customer(sandbox.OwnerEmail, sandbox.OwnerPassword)
}

// Register makes an account with a tenant of its own that is set up, and has no subscription.
func (s *Server) Register(email string) *Customer {
	s.t.Helper()
	const password = "correct horse battery"
	_, err := s.Client().Register(s.context(), api.RegisterRequest{
		Name: strings.Split(email, "@")[0], Email: email, Password: password, PasswordConfirmation: password,
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
		s.t.Fatalf("tenantrytest: %s has no tenant", email)
	}
	c.Tenant = current.ID
	return c
}

// APIKey makes an API key of a customer's tenant with scopes, such as
// [api.APIKeyScopeUsageWrite], and returns its secret.
func (s *Server) APIKey(c *Customer, scopes ...api.APIKeyScope) string {
	s.t.Helper()
	answer, err := c.CreateAPIKey(s.context(), c.Tenant, api.CreateAPIKeyRequest{Name: "Test", Scopes: scopes})
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Secret
}

// PlatformKey makes an API key of the platform, which has its scopes in every tenant.
func (s *Server) PlatformKey(scopes ...api.APIKeyScope) string {
	s.t.Helper()
	answer, err := s.Admin().CreatePlatformAPIKey(s.context(), api.CreatePlatformAPIKeyRequest{Name: "Test", Scopes: scopes})
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.Data.Secret
}

// Subscribe buys a plan by its slug in EUR with [CardPays], and waits for the subscription.
func (s *Server) Subscribe(c *Customer, plan string) {
	s.t.Helper()
	s.SubscribeWith(c, plan, CardPays)
}

// SubscribeWith is [Server.Subscribe] with another card.
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
		checkout, err := c.CreateCheckout(s.context(), c.Tenant, api.CreateCheckoutRequest{
			PlanID: p.ID, Currency: "EUR", SuccessURL: s.URL + "/paid", CancelURL: s.URL + "/not-paid",
		})
		if err != nil {
			s.t.Fatal(err)
		}
		s.Pay(checkout.Data.URL, card)
		s.eventually("the subscription of "+c.Email, func() bool {
			answer, err := c.ShowSubscription(s.context(), c.Tenant)
			if err != nil {
				s.t.Fatal(err)
			}
			return !answer.Data.IsNull()
		})
		s.settle()
		return
	}
	s.t.Fatalf("tenantrytest: there is no plan %q", plan)
}

// Pay submits a page of the payment provider (a checkout, or an invoice's hosted page) with a
// card, as a customer does in a browser.
func (s *Server) Pay(page, card string) {
	s.t.Helper()
	s.submit(page, card)
	s.settle()
}

// ReplaceCard gives another card in the billing portal. With [CardFailsAtRenewal] or
// [CardConfirms] the payments from now on fail.
func (s *Server) ReplaceCard(c *Customer, card string) {
	s.t.Helper()
	portal, err := c.OpenBillingPortal(s.context(), c.Tenant, api.OpenBillingPortalRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.submit(portal.Data.URL+"/card", card)
	s.settle()
}

// FailPayments has the payments of a customer fail from now on, or succeed again.
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

// context outlives the test's own, which ends before its cleanups run.
func (s *Server) context() context.Context { return context.WithoutCancel(s.t.Context()) }
