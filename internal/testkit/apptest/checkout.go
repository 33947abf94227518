package apptest

import (
	"net/url"
)

// PlanID returns the id of the available plan with a slug.
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

// BuyPlan buys the plan with a slug with [CardPays] and waits until the subscription is active.
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

// Test cards and bank accounts, by their result at the provider.
const (
	CardPays           = "4242 4242 4242 4242"
	CardDeclined       = "4000 0000 0000 0002"
	CardFailsAtRenewal = "4000 0000 0000 0341" // succeeds at checkout, fails at renewals
	CardRefundsFail    = "4000 0000 0000 5126" // refunds succeed, then fail
	CardRefundsWait    = "4000 0000 0000 7726" // refunds are pending, then succeed
	CardConfirms       = "4000 0027 6000 3184" // each payment needs the owner's confirmation
	DebitPays          = "DE89 3704 0044 0532 0130 00"
	DebitFails         = "DE62 3704 0044 0532 0130 01"
)

// ReturnURLs are the return URLs of a checkout, as part of a body.
var ReturnURLs = Object{"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no"}

// Card returns the form of a hosted page for a card payment.
func Card(number string) url.Values { return url.Values{"card_number": {number}} }

// Confirmation returns the form that confirms a payment with 3-D Secure on the page of an invoice.
// At a checkout the form also needs the card, because the bank asks for the confirmation before
// anything is stored.
func Confirmation(card string) url.Values {
	form := url.Values{"authentication": {"confirmed"}}
	if card != "" {
		form.Set("card_number", card)
	}
	return form
}

// Debit returns the form of a hosted page for a bank debit.
func Debit(number string) url.Values { return url.Values{"iban": {number}} }
