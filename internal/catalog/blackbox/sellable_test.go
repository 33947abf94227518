package blackbox_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// eligibilityOf returns the tenant's eligibility for a plan, by slug.
func eligibilityOf(s *apptest.Server, o apptest.Owner, slug string) map[string]any {
	s.T.Helper()
	for _, e := range s.Call("GET", o.Path("/plans"), o.Token, nil).Want(200).At("data").([]any) {
		if e := e.(map[string]any); e["slug"] == slug {
			return e["eligibility"].(map[string]any)
		}
	}
	s.T.Fatalf("no plan %s", slug)
	return nil
}

// wantSold checks that the endpoints agree on whether a plan is sold. If status is not nil, each
// endpoint rejects the plan with status as the reason. subscriber is a tenant with another plan,
// buyer a tenant without a plan.
func wantSold(s *apptest.Server, buyer, subscriber apptest.Owner, p soldPlan, slug string, status, meter any) {
	s.T.Helper()
	want := map[string]any{"selectable": status == nil, "violations": []any{}}
	if status != nil {
		want["reason"], want["price_status"] = "plan_not_sellable", status
	}
	if meter != nil {
		want["meter_code"] = meter
	}
	if diff := cmp.Diff(want, eligibilityOf(s, buyer, slug)); diff != "" {
		s.T.Errorf("%s (-want +got)\n%s", slug, diff)
	}
	refused := map[string]apptest.Reply{
		"checkout": s.Call("POST", buyer.Path("/checkout"), buyer.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": p.id, "currency": "EUR"})),
	}
	if subscriber.Tenant != "" {
		refused["preview"] = s.PreviewChange(subscriber, slug, 0)
	}
	if status != nil {
		refused["onboarding"] = s.Call("POST", "/api/v1/onboarding/start", "", apptest.Object{
			"name": "New", "email": "new@example.com", "password": "a long password 1", "password_confirmation": "a long password 1",
			"plan_slug": slug, "currency": "EUR",
		})
		refused["retry"] = s.Call("POST", "/api/v1/onboarding/retry-checkout", buyer.Token, apptest.Object{"plan_slug": slug, "currency": "EUR"})
		if subscriber.Tenant != "" {
			refused["change"] = s.ChangePlan(subscriber, slug, nil)
		}
	}
	for what, reply := range refused {
		if status == nil {
			reply.As(slug + " " + what).Want(200)
			continue
		}
		reply.As(slug+" "+what).WantRefused(422, "plan_not_sellable")
		reply.As(slug+" "+what).WantAt("price_status", status)
		if meter != nil {
			reply.As(slug+" "+what).WantAt("meter_code", meter)
		}
	}
}

// A price that is inactive or missing at the provider, or has other terms there, keeps its link and
// is off sale until that is fixed. Existing subscriptions continue.
func TestPriceThatIsNotSold(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin, team, starter := s.Admin(), soldPlanOf(s, "team"), soldPlanOf(s, "starter")
		buyer, subscriber := s.Register("ada@example.com", true), s.NewCustomer("eve")
		subscriber.BuyPlan(subscriber.Owner, "starter")
		wantSold(s, buyer, subscriber.Owner, team, "team", nil, nil)
		link, _ := linksOf(s, admin, team)["EUR"]["psp_price_id"].(string)
		product := s.AtProvider("GET", "/prices/"+link).Str("product")
		reads := func(status string) func() bool {
			return func() bool { return eligibilityOf(s, buyer, "team")["price_status"] == any(status) }
		}
		sold := func() bool { return eligibilityOf(s, buyer, "team")["selectable"] == true }

		// In this part of the test, only events update the states of prices.
		s.AtProvider("POST", "/prices/"+link, "active", "false")
		apptest.Eventually(t, "the price to be inactive", reads("inactive"))
		wantSold(s, buyer, subscriber.Owner, team, "team", "inactive", nil)
		if got := linksOf(s, admin, team)["EUR"]; got["status"] != "inactive" || got["psp_price_id"] != link {
			t.Errorf("an inactive price: %v", got)
		}
		s.AtProvider("POST", "/prices/"+link, "active", "true")
		apptest.Eventually(t, "the price to be sold again", sold)
		s.AtProvider("POST", "/products/"+product, "active", "false")
		apptest.Eventually(t, "the product to be inactive", reads("inactive"))
		wantSold(s, buyer, subscriber.Owner, team, "team", "inactive", nil)
		s.AtProvider("POST", "/products/"+product, "active", "true")
		apptest.Eventually(t, "the product to be sold again", sold)
		wantSold(s, buyer, subscriber.Owner, team, "team", nil, nil)

		// Viewing the status is enough if the event was lost.
		apptest.Exec(t, s.DB(), "UPDATE psp_price_states SET is_active = false WHERE psp_price_id = $1", link)
		if !reads("inactive")() {
			t.Error("price status ignores the stored state")
		}
		linksOf(s, admin, team)
		wantSold(s, buyer, subscriber.Owner, team, "team", nil, nil)

		// Link the price to another price or to a missing price. Neither ID has been read before.
		for status, id := range map[string]string{
			"stripe_missing": "price_gone",
			"mismatch":       s.NewProviderPrice("unit_amount", "1"),
		} {
			apptest.Exec(t, s.DB(), "UPDATE plan_prices SET psp_price_id = $1 WHERE id = $2", id, team.prices["EUR"])
			wantSold(s, buyer, subscriber.Owner, team, "team", status, nil)
			if got := linksOf(s, admin, team)["EUR"]; got["status"] != status || got["psp_price_id"] != id {
				t.Errorf("%s: %v", status, got)
			}
		}

		// Subscriptions to a price that is off sale continue.
		starterLink, _ := linksOf(s, admin, starter)["EUR"]["psp_price_id"].(string)
		s.AtProvider("POST", "/prices/"+starterLink, "active", "false")
		apptest.Eventually(t, "the plan of the subscriber not to be sold", func() bool {
			return eligibilityOf(s, buyer, "starter")["price_status"] == "inactive"
		})
		s.Advance(32*apptest.Day + 2*time.Hour)
		subscriber.WantStatus("active")
	})
}

// A price below the provider's minimum has a warning in its status and is not sold. Zero is
// allowed.
func TestPriceBelowTheMinimum(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		buyer := s.Register("ada@example.com", true)
		product := k.CreateProduct("cheap")
		for slug, cents := range map[string]int{"cents": 49, "least": 50, "gift": 0} {
			id := k.CreatePricedPlan(product, slug, map[string]int{"EUR": cents})
			p, status := soldPlan{id: id, product: product}, any(nil)
			warning := linksOf(s, k.Token, p)["EUR"]["warning"]
			if cents == 49 {
				status = "below_minimum"
				if text, _ := warning.(string); !strings.Contains(text, " 50 ") {
					t.Errorf("warning of 49 cents: %v", warning)
				}
			} else if warning != nil {
				t.Errorf("warning of %d cents: %v", cents, warning)
			}
			wantSold(s, buyer, apptest.Owner{}, p, slug, status, nil)
		}
		// Several seats together can reach the minimum.
		seats := k.CreatePricedPlan(product, "seats", map[string]int{"EUR": 20}, apptest.Object{"pricing_type": "seat"})
		body := apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": seats, "currency": "EUR"})
		for quantity, status := range map[int]int{2: 422, 3: 200} {
			s.Call("POST", buyer.Path("/checkout"), buyer.Token, apptest.WithChanges(body, apptest.Object{"quantity": quantity})).Want(status)
		}
		// Seats that together exceed the maximum charge are rejected.
		s.Call("POST", buyer.Path("/checkout"), buyer.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": k.CreatePricedPlan(product, "dear", map[string]int{"EUR": 2000}, apptest.Object{"pricing_type": "seat"}), "currency": "EUR", "quantity": 999_999,
		})).WantRefused(422, "psp_amount_unsupported")
	})
}

// A meter's price is checked when it is linked. A meter price that cannot be sold with a plan takes
// only that plan off sale.
func TestMeterPricesThatAreNotSold(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k, buyer := s.CatalogAdmin(), s.Register("ada@example.com", true)
		meter := k.AdminCall("POST", "/meters", apptest.Object{
			"code": "mails", "name": "Mails", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
		}).Want(201).Str("data.id")
		set := func(cents float64, id string) apptest.Reply {
			return k.AdminCall("PATCH", "/meters/"+meter, apptest.Object{"prices": []any{
				apptest.Object{"currency": "EUR", "unit_price_cents": cents, "psp_price_id": id},
			}})
		}
		good := s.NewMeteredPrice("eur", "2.5")
		for field, refusal := range map[string]apptest.Reply{
			"psp_price_id": set(2.5, "price_nope"),
			"currency":     set(2.5, s.NewMeteredPrice("usd", "2.5")),
			"amount":       set(2.51, good),
			"active":       set(2.5, s.NewMeteredPrice("eur", "2.5", "active", "false")),
			"usage_type":   set(1000, s.NewProviderPrice()),
		} {
			refusal.As(field).WantRefused(422, "psp_price_mismatch")
			refusal.As(field).WantAt("mismatches.0.field", field)
		}
		k.AdminCall("GET", "/meters/"+meter, nil).Want(200).WantAt("data.is_billable", false)
		set(2.5, good).Want(200).WantAt("data.prices.0.psp_price_id", good)

		scale := soldPlanOf(s, "scale")
		wantSold(s, buyer, apptest.Owner{}, scale, "scale", nil, nil)
		// A monthly meter price cannot be combined with a yearly plan.
		yearly := k.CreatePricedPlan(k.CreateProduct("usage"), "yearly", map[string]int{"EUR": 9900},
			apptest.Object{"pricing_type": "usage", "billing_cycle": "yearly"})
		wantSold(s, buyer, apptest.Owner{}, soldPlan{id: yearly}, "yearly", "mismatch", "mails")
		// Simulate a price that was linked without a check, for example by a catalog import.
		apptest.Exec(t, s.DB(), "UPDATE meter_prices SET psp_price_id = 'price_gone' WHERE psp_price_id = $1", good)
		wantSold(s, buyer, apptest.Owner{}, scale, "scale", "stripe_missing", "mails")
		apptest.Exec(t, s.DB(), "UPDATE meter_prices SET psp_price_id = $1 WHERE psp_price_id = 'price_gone'", good)
		s.AtProvider("POST", "/prices/"+good, "active", "false")
		// Even before the event arrives, the sale is rejected with an error that explains the
		// reason.
		checkout := s.Call("POST", buyer.Path("/checkout"), buyer.Token,
			apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": scale.id, "currency": "EUR", "cancel_url": "https://other.example/"}))
		checkout.WantRefused(422, "plan_not_sellable")
		checkout.WantAt("meter_code", "mails")
		wantSold(s, buyer, apptest.Owner{}, scale, "scale", "inactive", "mails")
		if got := eligibilityOf(s, buyer, "starter"); got["selectable"] != true {
			t.Errorf("flat plan in the same catalog: %v", got)
		}
	})
}

// A price can be deleted while subscriptions use it. They keep their entitlements, their price,
// their renewals and the ability to change plans.
func TestDeletedPriceStaysInUse(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k, starter := s.CatalogAdmin(), soldPlanOf(s, "starter")
		c := s.NewCustomer("ada")
		c.BuyPlan(c.Owner, "starter")
		k.AdminCall("DELETE", "/plans/"+starter.id+"/prices/"+starter.prices["EUR"], nil).Want(204)
		s.NewCustomer("eve").OpenCheckout(starter.id, "EUR").WantRefused(422, "plan_not_available_in_currency")
		goesOn := func() {
			t.Helper()
			c.WantStatus("active")
			c.Subscription(c.Owner).WantAt("data.price_cents", 1900.0).WantAt("data.plan.id", starter.id)
			invoices := c.ProviderObjects(c.Owner, "invoice")
			invoices[len(invoices)-1].WantAt("total", 1900.0).WantAt("status", "paid")
		}
		goesOn()
		s.Advance(32*apptest.Day + 2*time.Hour)
		goesOn()
		c.PreviewChange(c.Owner, "team", 0).Want(200)
		c.ChangePlan(c.Owner, "team", nil).Want(200)
		if got := c.Subscription(c.Owner).At("data.plan.id"); got != soldPlanOf(s, "team").id {
			t.Errorf("after a change the plan is %v", got)
		}
	})
}

// A price in an unsupported currency has a warning and is not sold.
func TestPriceInAnUnsupportedCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		buyer := s.Register("ada@example.com", true)
		k.AdminCall("POST", "/currencies", apptest.Object{"code": "ZZZ", "name": "Zed", "symbol": "Z", "minor_units": 2}).Want(201)
		k.AdminCall("POST", "/currencies/bulk", apptest.Object{"codes": []string{"IRR", "KWD"}}).Want(200)
		plan := k.CreatePricedPlan(k.CreateProduct("abroad"), "abroad", map[string]int{"EUR": 1000, "IRR": 100000, "KWD": 1000, "ZZZ": 10000})
		p := soldPlanOf(s, "abroad")
		warnings := linksOf(s, k.Token, p)
		for currency, status := range map[string]any{"EUR": nil, "IRR": "currency_unsupported", "KWD": nil, "ZZZ": "currency_unsupported"} {
			if warning, _ := warnings[currency]["warning"].(string); strings.Contains(warning, currency) != (status != nil) {
				t.Errorf("%s: warning %q", currency, warning)
			}
			checkout := s.Call("POST", buyer.Path("/checkout"), buyer.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": plan, "currency": currency})).As(currency)
			if status == nil {
				checkout.Want(200)
				continue
			}
			checkout.WantRefused(422, "plan_not_sellable")
			checkout.WantAt("price_status", status)
			s.Call("POST", p.path(currency, "psp-create"), k.Token, apptest.Object{"product_id": p.product}).WantRefused(422, "psp_amount_unsupported")
			for _, offer := range s.Call("GET", buyer.Path("/plans?currency="+currency), buyer.Token, nil).Want(200).At("data").([]any) {
				offer := offer.(map[string]any)
				if e := offer["eligibility"].(map[string]any); offer["slug"] == "abroad" && (e["selectable"] != false || e["price_status"] != status) {
					t.Errorf("%s: %v", currency, e)
				}
			}
		}
	})
}

// A usage plan can bill as many meters as fit into a subscription at the provider, even though the
// provider lists only ten items. A plan with more meters is not sold.
func TestMoreMetersThanFit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("many")
		plan := k.CreatePricedPlan(product, "many", map[string]int{"EUR": 500}, apptest.Object{"pricing_type": "usage"})
		p := soldPlanOf(s, "many")
		billed := s.CountRows(`SELECT count(*) FROM meters WHERE is_billable AND deleted_at IS NULL`)
		add := func(upTo int) {
			for ; billed < upTo; billed++ {
				code := "many-" + strconv.Itoa(billed)
				k.AdminCall("POST", "/meters", apptest.Object{
					"code": code, "name": code, "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
					"prices": []any{apptest.Object{"currency": "EUR", "unit_price_cents": 5, "psp_price_id": s.NewMeteredPrice("EUR", "5")}},
				}).Want(201)
			}
		}
		add(19)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		c.WantStatus("active")
		add(20)
		wantSold(s, s.Register("eve@example.com", true), apptest.Owner{}, p, "many", "too_many_meters", nil)
		if warning, _ := linksOf(s, k.Token, p)["EUR"]["warning"].(string); warning == "" {
			t.Error("no warning about too many meters")
		}

		// An existing subscription keeps its meters and renews without an error.
		s.Advance(32 * apptest.Day)
		c.LogInAgain()
		s.AwaitNotifications()
		apptest.Eventually(t, "the decision about the new period", func() bool {
			return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'subscription.metered'`) == 0
		})
		waiting := 0
		for _, m := range linksOf(s, s.Admin(), p)["EUR"]["meters"].([]any) {
			if m := m.(map[string]any); m["pending_subscriptions"] != 0.0 {
				if waiting++; m["next_switch_at"] != nil {
					t.Errorf("%v switches at %v, want never", m["meter_code"], m["next_switch_at"])
				}
			}
		}
		if waiting != 1 || strings.Contains(s.Log(), "failed to switch") {
			t.Errorf("%d meters are pending, want 1: %s", waiting, s.Log())
		}
	})
}
