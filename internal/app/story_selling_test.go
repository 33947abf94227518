package app_test

import (
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// trials plays a customer who tries a plan without a card.
func trials(s *apptest.Server) {
	k := s.CatalogAdmin()
	product := k.CreateProduct("music")
	free := k.CreatePricedPlan(product, "music-free", map[string]int{"EUR": 0})
	k.AdminCall("PATCH", "/plans/"+free, object{"is_default": true}).Want(200)
	plan := k.CreatePricedPlan(product, "music-s", map[string]int{"EUR": 1900}, object{"trial_days": 14, "trial_requires_card": false})
	s.Call("POST", "/api/v1/onboarding/preview", "", object{"plan_slug": "music-s", "currency": "EUR", "country": "FR"}).Want(200)
	c := s.NewCustomer("mary")
	s.VerifyEmail(c.Token, c.Email)
	wanted := object{"plan_id": plan, "currency": "EUR"}
	s.Call("POST", c.Path("/checkout/preview"), c.Token, wanted).Want(200)
	id := s.Call("POST", c.Path("/subscription/trial"), c.Token, wanted).Want(201).Str("data.id")
	end := s.Now().AddDate(0, 0, 30).Format(time.RFC3339)
	k.AdminCall("PATCH", "/tenants/"+c.Tenant+"/subscriptions/"+id, object{"trial_ends_at": end}).Want(200)
}

// contracts plays a customer who pays by invoice.
func contracts(s *apptest.Server) {
	k := s.CatalogAdmin()
	plan := k.CreatePricedPlan(k.CreateProduct("print"), "print-s", map[string]int{"EUR": 9900})
	c := s.NewCustomer("ruth")
	path := "/tenants/" + c.Tenant
	id := k.AdminCall("POST", path+"/subscriptions", object{
		"plan_id": plan, "currency": "EUR", "price_cents": 7900, "collection": "invoice", "days_until_due": 14, "purchase_order": "PO-2026-17",
	}).Want(201).Str("data.id")
	k.AdminCall("PATCH", path+"/subscriptions/"+id, object{"days_until_due": 30}).Want(200)
	s.AwaitNotifications()
	invoice := s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).Str("data.0.id")
	k.AdminCall("GET", path+"/invoices/"+invoice, nil).Want(200)
	k.AdminCall("GET", path+"/invoices/"+invoice+"/pdf", nil).Want(200)
	k.AdminCall("POST", path+"/invoices/"+invoice+"/mark-paid", object{"reference": "Transfer 4711"}).Want(200)
}

// packs sells prepaid units.
func packs(s *apptest.Server, o apptest.Owner) {
	k := s.CatalogAdmin()
	pack := "/packs/" + k.AdminCall("POST", "/packs", object{
		"slug": "calls-10k", "name": object{"en": "10,000 API calls"}, "feature_code": "api-calls", "amount": 10000, "expires_after_days": 365,
		"prices": []any{apptest.Price("EUR", 4900)},
	}).Want(201).Str("data.id")
	k.AdminCall("PATCH", pack, object{"description": object{"en": "Valid for a year"}}).Want(200)
	k.AdminCall("GET", pack, nil).Want(200)
	k.AdminCall("GET", "/packs", nil).Want(200)
	page := s.Call("POST", o.Path("/packs/calls-10k/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, object{"currency": "EUR", "quantity": 2})).Want(200)
	s.Pay(page.Str("data.url"), apptest.CardPays).Want(303)
	s.AwaitNotifications()
	s.Call("GET", o.Path("/grants"), o.Token, nil).Want(200)
	k.AdminCall("DELETE", pack, nil).Want(204)
}

// promotionCodes gives a subscription a discount.
func promotionCodes(s *apptest.Server, o apptest.Owner) {
	k := s.CatalogAdmin()
	discount := "/discounts/" + k.AdminCall("POST", "/discounts", object{
		"code": "SPRING-26", "name": object{"en": "Spring sale"}, "percent_off": 20, "duration": "repeating", "months": 3, "max_per_tenant": nil,
	}).Want(201).Str("data.id")
	k.AdminCall("PATCH", discount, object{"name": object{"fr": "Soldes de printemps"}}).Want(200)
	k.AdminCall("GET", discount, nil).Want(200)
	k.AdminCall("GET", "/discounts?filter[code]=spring-26", nil).Want(200)
	code := object{"promotion_code": "spring-26"}
	s.Call("POST", o.Path("/subscription/promotion-code"), o.Token, object{"promotion_code": "autumn"}).WantInvalid("promotion_code")
	s.Call("POST", o.Path("/subscription/promotion-code"), o.Token, code).Want(200)
	s.Call("DELETE", o.Path("/subscription/promotion-code"), o.Token, nil).Want(204)
	admin := "/tenants/" + o.Tenant + "/subscriptions/" + s.Subscription(o).Str("data.id") + "/promotion-code"
	k.AdminCall("POST", admin, code).Want(200)
	k.AdminCall("DELETE", admin, nil).Want(204)
	k.AdminCall("DELETE", discount, nil).Want(204)
}

// acting plays an admin who changes a customer's plan on the phone.
func acting(s *apptest.Server) {
	k := s.CatalogAdmin()
	product := k.CreateProduct("phone")
	small, large := k.CreatePricedPlan(product, "phone-s", map[string]int{"EUR": 1900}), k.CreatePricedPlan(product, "phone-l", map[string]int{"EUR": 4900})
	c := s.NewCustomer("joan")
	path := "/tenants/" + c.Tenant
	k.AdminCall("POST", path+"/subscriptions/preview", object{"plan_id": small, "currency": "EUR", "trial_days": 14}).Want(200)
	c.Buy(small, "EUR", apptest.Card(apptest.CardPays))
	one := path + "/subscriptions/" + c.Subscriptions().Str("data.0.id")
	k.AdminCall("GET", one+"/preview-change?new_plan_id="+large+"&when=period_end", nil).Want(200)
	k.AdminCall("POST", one+"/change-plan", object{"new_plan_id": large, "when": "period_end"}).Want(200)
	k.AdminCall("DELETE", one+"/pending-change", nil).Want(204)
	k.AdminCall("POST", one+"/cancel", object{}).Want(200)
	k.AdminCall("POST", one+"/resume", nil).Want(200)
	k.AdminCall("PUT", path+"/usage/api-calls/cap", object{"limit": 5000}).Want(200)
	invoice := s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).Str("data.0.id")
	k.AdminCall("POST", path+"/invoices/"+invoice+"/pay", nil).WantRefused(409, "invoice_not_payable")
	k.AdminCall("GET", path+"/webhook-endpoints", nil).Want(200)
	k.AdminCall("GET", path+"/api-keys", nil).Want(200)
}
