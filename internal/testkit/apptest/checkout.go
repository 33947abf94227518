package apptest

import (
	"net/url"
)

// PlanID finds the id of a plan on sale by its slug.
func (s *Server) PlanID(o Owner, slug string) string {
	s.T.Helper()
	list, _ := s.Call("GET", o.Path("/plans"), o.Token, nil).Want(200).At("data").([]any)
	for _, p := range list {
		if p := p.(map[string]any); p["slug"] == slug {
			return p["id"].(string)
		}
	}
	s.T.Fatalf("no plan %q", slug)
	return ""
}

// Checkout opens a hosted checkout in EUR and returns the URL of its page.
func (s *Server) Checkout(o Owner, slug string) string {
	s.T.Helper()
	return s.Call("POST", o.Path("/checkout"), o.Token, WithChanges(ReturnURLs, Object{
		"plan_id": s.PlanID(o, slug), "currency": "EUR", "quantity": 1,
	})).Want(200).Str("data.url")
}

// Pay submits the form of a hosted page with a card.
func (s *Server) Pay(page, card string) Reply {
	s.T.Helper()
	return s.Submit(page, Card(card))
}

// BuyPlan buys a plan by its slug with [CardPays] and waits until the subscription is active.
func (s *Server) BuyPlan(o Owner, slug string) {
	s.T.Helper()
	s.BuyPlanWith(o, slug, CardPays)
}

// BuyPlanWith is [Server.BuyPlan] with another card.
func (s *Server) BuyPlanWith(o Owner, slug, card string) {
	s.T.Helper()
	s.Pay(s.Checkout(o, slug), card).Want(303)
	Eventually(s.T, "the activation", func() bool {
		return s.Subscription(o).At("data.status") == "active"
	})
}

// The cards and bank accounts of tests, by what the provider makes of them.
const (
	CardPays           = "4242 4242 4242 4242"
	CardDeclined       = "4000 0000 0000 0002"
	CardFailsAtRenewal = "4000 0000 0000 0341" // pays at checkout, fails when its owner is away
	CardConfirms       = "4000 0027 6000 3184" // its owner has to confirm each payment
	DebitPays          = "DE89 3704 0044 0532 0130 00"
	DebitFails         = "DE62 3704 0044 0532 0130 01"
)

// ReturnURLs are the addresses that a checkout leads back to, as part of a body.
var ReturnURLs = Object{"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no"}

// Card is the form of a hosted page that is paid with a card.
func Card(number string) url.Values { return url.Values{"card_number": {number}} }

// Confirmation is the form that confirms a payment with 3-D Secure on the page of
// an invoice. At a checkout, where the bank asks before anything is stored, the
// card goes with it.
func Confirmation(card string) url.Values {
	form := url.Values{"authentication": {"confirmed"}}
	if card != "" {
		form.Set("card_number", card)
	}
	return form
}

// Debit is the form of a hosted page that is paid from a bank account.
func Debit(number string) url.Values { return url.Values{"iban": {number}} }
