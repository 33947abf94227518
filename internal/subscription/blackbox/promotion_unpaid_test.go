package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// unpaidCode is a change of a subscription with a promotion code whose period is not paid in full.
type unpaidCode struct {
	name  string
	start string // the first plan
	seats int
	code  string // of the purchase
	// later is a code that is applied after the purchase. It counts from the next invoice.
	later string
	// sent means that the first invoice is sent. It stays open.
	sent bool
	// note is the amount of a credit note for the first invoice, and settlement its settlement.
	note       int
	settlement string

	change apptest.Object // the plan is given by its name
	net    float64        // at the start of the period
}

// unpaidCodes lists changes with their price at the start of the period. A code takes half, except
// FIXED, which takes 5.00.
func unpaidCodes() []unpaidCode {
	to := func(plan string) apptest.Object { return apptest.Object{"new_plan_id": plan} }
	return []unpaidCode{
		{name: "half-refund", start: "small", code: "HALF", note: 500, settlement: "refund", change: to("large"), net: 2500 - 500},
		{name: "full-refund", start: "small", code: "HALF", note: 1000, settlement: "refund", change: to("large"), net: 2500},
		{name: "credited", start: "small", code: "HALF", note: 500, settlement: "credit", change: to("large"), net: 2500 - 500},
		{name: "amount", start: "small", code: "FIXED", note: 500, settlement: "refund", change: to("large"), net: 4500 - 1000},
		{name: "downgrade", start: "large", code: "HALF", note: 1000, settlement: "refund", change: to("small"), net: 1000 - 1500},
		{name: "new-period", start: "small", code: "HALF", note: 500, settlement: "refund", change: to("weekly"), net: 600 - 500},
		{name: "amount-period", start: "small", code: "FIXED", note: 500, settlement: "refund", change: to("weekly"), net: 700 - 1000},
		{name: "once", start: "small", later: "ONCE", note: 500, settlement: "refund", change: to("large"), net: 2500 - 1500},
		{name: "open", start: "small", later: "HALF", sent: true, change: to("large"), net: 2500},
		{name: "open-once", start: "small", later: "ONCE", sent: true, change: to("large"), net: 2500},
		{name: "open-amount", start: "small", later: "FIXED", sent: true, change: to("large"), net: 4500},
		{
			name: "seats", start: "seat", seats: 3, code: "HALF", note: 500, settlement: "refund",
			change: apptest.Object{"new_plan_id": "seat", "quantity": 5}, net: 2500 - 1000,
		},
		{
			name: "with-change", start: "small", note: 1000, settlement: "refund",
			change: apptest.Object{"new_plan_id": "large", "promotion_code": "HALF"}, net: 2500 - 1000,
		},
	}
}

// A change with a promotion code charges the amount of its preview, also if a part of the current period
// was refunded or never paid. The credit for that part is net of the discount, and so is its charge.
func TestChangeWithACodeAndUnpaidTime(t *testing.T) {
	t.Parallel()
	for mode, options := range map[string][]apptest.Option{"provider": nil, "platform": {apptest.WithPlatformInvoices}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				plans := map[string]string{
					"small": monthly(s, "small", 2000), "large": monthly(s, "large", 5000),
					"seat":   monthly(s, "seat", 1000, apptest.Object{"pricing_type": "seat"}),
					"weekly": monthly(s, "weekly", 1200, apptest.Object{"billing_cycle": "weekly"}),
				}
				promo(s, "HALF", apptest.Object{"max_per_tenant": nil})
				promo(s, "ONCE", apptest.Object{"duration": "once"})
				promo(s, "FIXED", apptest.Object{"percent_off": nil, "amounts": []any{apptest.Object{"currency": "EUR", "amount_cents": 500}}})
				for _, c := range unpaidCodes() {
					c.try(s, plans)
				}
			}, options...)
		})
	}
}

// try buys, takes the payment back, and changes.
func (c unpaidCode) try(s *apptest.Server, plans map[string]string) {
	s.T.Helper()
	ada := s.NewCustomer(c.name)
	c.buy(s, ada, plans[c.start])
	if c.note > 0 {
		in := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).Str("data.0.id")
		s.CatalogAdmin().AdminCall("POST", "/tenants/"+ada.Tenant+"/invoices/"+in+"/credit-notes", apptest.Object{
			"amount_cents": c.note, "settlement": c.settlement, "reason": "other",
		}).Want(201)
		s.AwaitNotifications()
	}
	body := apptest.WithChanges(c.change, apptest.Object{"new_plan_id": plans[c.change["new_plan_id"].(string)]})
	query := "?new_plan_id=" + body["new_plan_id"].(string)
	if c.change["quantity"] != nil {
		query += "&quantity=5"
	}
	if c.change["promotion_code"] != nil {
		query += "&promotion_code=HALF"
	}
	shown, _ := ada.Call("GET", ada.Path("/subscription/preview-change"+query), ada.Token, nil).Want(200).At("data.net.cents").(float64)
	if shown > c.net+5 || shown < c.net-5 { // seconds have passed
		s.T.Errorf("%s: net %v is shown, want %v", c.name, shown, c.net)
	}
	before := len(s.ProviderObjects(ada.Owner, "invoice"))
	ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, body).As(c.name).Want(200)
	s.AwaitNotifications()
	invoices := s.ProviderObjects(ada.Owner, "invoice")
	if len(invoices) != before+1 {
		s.T.Fatalf("%s: the change created %d invoices", c.name, len(invoices)-before)
	}
	if got := invoices[before].At("total"); got != shown {
		s.T.Errorf("%s: %v is charged, %v was shown", c.name, got, shown)
	}
}

// buy makes the subscription with its code.
func (c unpaidCode) buy(s *apptest.Server, ada *apptest.Customer, plan string) {
	s.T.Helper()
	if c.sent {
		s.CatalogAdmin().AdminCall("POST", "/tenants/"+ada.Tenant+"/subscriptions", apptest.Object{
			"plan_id": plan, "currency": "EUR", "collection": "invoice",
		}).Want(201)
	} else {
		page := ada.Call("POST", ada.Path("/checkout"), ada.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": plan, "currency": "EUR", "promotion_code": c.code, "quantity": max(c.seats, 1),
		})).As(c.name).Want(200)
		s.Pay(page.Str("data.url"), apptest.CardPays).Want(303)
	}
	s.AwaitNotifications()
	if c.later != "" {
		post(ada, c.later).Want(200)
		s.AwaitNotifications()
	}
}
