package app

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// amount is what a plan costs in a currency.
func (s *server) amount(p soldPlan, currency string) float64 {
	s.t.Helper()
	list, _ := s.call("GET", "/api/v1/catalog/plans?currency="+currency, "", nil).want(200).at("data").([]any)
	for _, e := range list {
		if e := e.(map[string]any); e["id"] == p.id {
			return e["prices"].([]any)[0].(map[string]any)["price_cents"].(float64)
		}
	}
	s.t.Fatal("no such price")
	return 0
}

func TestPSPLink(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		admin, team := s.admin(), s.sold("team")
		amount := s.amount(team, "EUR")
		exact := []string{"unit_amount", itoa(amount)}
		link := func(id any) reply {
			return s.call("POST", team.path("EUR", "psp-link"), admin, map[string]any{"psp_price_id": id})
		}
		s.call("POST", team.path("EUR", "psp-link"), admin, map[string]any{}).refusesField("absent", "psp_price_id")
		for _, id := range []any{"", nil, 5, "prod_1", "price_", "PRICE_1", "price_1/../../prices", "price_a b", "price_" + strings.Repeat("x", 250), "price_nope"} {
			link(id).refusesField("id", "psp_price_id")
		}
		for name, tt := range map[string]struct {
			made []string
			want []any
		}{
			"currency": {[]string{"currency", "usd"}, []any{map[string]any{"field": "currency", "expected": "EUR", "actual": "USD"}}},
			"amount":   {[]string{"unit_amount", "7"}, []any{map[string]any{"field": "amount", "expected": amount, "actual": 7.0}}},
			"unit":     {[]string{"recurring[interval]", "year"}, []any{map[string]any{"field": "interval", "expected": "1 month", "actual": "1 year"}}},
			"count":    {[]string{"recurring[interval_count]", "3"}, []any{map[string]any{"field": "interval", "expected": "1 month", "actual": "3 month"}}},
			"inactive": {[]string{"active", "false"}, []any{map[string]any{"field": "active", "expected": true, "actual": false}}},
			"several": {[]string{"currency", "usd", "unit_amount", "0"}, []any{
				map[string]any{"field": "currency", "expected": "EUR", "actual": "USD"}, map[string]any{"field": "amount", "expected": amount, "actual": 0.0},
			}},
		} {
			a := link(s.priceAt(append(slices.Clone(exact), tt.made...)...))
			a.refuses(name, 422, "psp_price_mismatch")
			if diff := cmp.Diff(tt.want, a.at("mismatches")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		once := s.byHand("POST", "/prices", "currency", "eur", "unit_amount", itoa(amount), "product_data[name]", "Once").str("id")
		part := s.tryByHand("POST", "/prices", "currency", "eur", "unit_amount_decimal", itoa(amount)+".5", "recurring[interval]", "month",
			"product_data[name]", "Part").want(200).str("id")
		for id, field := range map[string]string{once: "interval", part: "amount"} {
			a := link(id)
			a.refuses(field, 422, "psp_price_mismatch")
			if a.at("mismatches.0.field") != field || a.at("mismatches.0.actual") != nil {
				t.Errorf("%s: %s", field, a.text)
			}
		}
		if got := s.links(admin, team)["EUR"]; got["status"] != "missing" {
			t.Errorf("after refusals: %v", got)
		}

		first, second := s.priceAt(exact...), s.priceAt(exact...)
		for _, id := range []string{first, first, second} {
			if a := link(id).want(200); a.at("data.psp_price_id") != id || a.at("data.price_cents") != amount {
				t.Errorf("linked: %s", a.text)
			}
		}
		w.breaks(on(fail, "GET", "/prices"))
		link(first).refuses("outage", 502, "psp_error")
		w.breaks(nil)
		if got := s.links(admin, team)["EUR"]; got["psp_price_id"] != second {
			t.Errorf("an outage changed the link: %v", got)
		}
		for range 2 {
			if a := s.call("POST", team.path("EUR", "psp-unlink"), admin, nil).want(200); a.at("data.psp_price_id") != nil || a.at("data.id") != team.prices["EUR"] {
				t.Errorf("unlinked: %s", a.text)
			}
		}
		trail := s.trail(url.Values{"per_page": {"4"}})
		if diff := cmp.Diff([]string{"plan_price.psp_unlinked", "plan_price.psp_linked", "plan_price.psp_linked"}, trail.done()[:3]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPSPImport(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		admin, team := s.admin(), s.sold("team")
		path := "/api/v1/admin/plans/" + team.id + "/prices/psp-import"
		take := func(id any) reply { return s.call("POST", path, admin, map[string]any{"psp_price_id": id}) }
		s.call("POST", path, admin, map[string]any{}).refusesField("absent", "psp_price_id")
		for name, id := range map[string]any{
			"form": "prod_1", "unknown": "price_nope",
			"a currency that the plan has": s.priceAt(), "an unknown currency": s.priceAt("currency", "chf"),
		} {
			take(id).refusesField(name, "psp_price_id")
		}
		s.call("POST", currencies, admin, yen(map[string]any{"minor_units": 2})).want(201)
		take(s.priceAt("currency", "jpy")).refuses("other decimals", 422, "psp_amount_unsupported")
		for field, id := range map[string]string{
			"interval": s.priceAt("currency", "gbp", "recurring[interval]", "week"),
			"active":   s.priceAt("currency", "gbp", "active", "false"),
			"amount": s.tryByHand("POST", "/prices", "currency", "gbp", "unit_amount_decimal", "0.5", "recurring[interval]", "month",
				"product_data[name]", "Part").want(200).str("id"),
		} {
			a := take(id)
			a.refuses(field, 422, "psp_price_mismatch")
			if list, _ := a.at("mismatches").([]any); len(list) != 1 || a.at("mismatches.0.field") != field {
				t.Errorf("%s: %s", field, a.text)
			}
		}
		gbp := s.priceAt("currency", "gbp", "unit_amount", "1234")
		w.breaks(on(fail, "GET", "/prices"))
		take(gbp).refuses("outage", 502, "psp_error")
		w.breaks(nil)
		if got := s.links(admin, team); len(got) != 2 {
			t.Errorf("after refusals: %v", got)
		}

		got := take(gbp).want(201).at("data").(map[string]any)
		if diff := cmp.Diff(map[string]any{"id": got["id"], "currency": "GBP", "price_cents": 1234.0, "psp_price_id": gbp}, got); diff != "" {
			t.Error(diff)
		}
		if shown := s.sold("team").prices["GBP"]; shown != got["id"] {
			t.Errorf("the public catalog has %q", shown)
		}
		take(gbp).refusesField("again", "psp_price_id")
		if last := s.trail(url.Values{"per_page": {"1"}}); last.at("data.0.action") != "plan_price.psp_imported" || last.at("data.0.after.psp_price_id") != gbp {
			t.Errorf("trail: %s", last.text)
		}
	})
}

func TestPSPPriceStatus(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		admin, team, db := s.admin(), s.sold("team"), dbtest.Open(t, s.database)
		s.call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{"CHF", "SEK", "NOK"}}).want(200)
		ids := map[string]string{}
		for _, currency := range []string{"GBP", "CHF", "SEK", "NOK"} {
			ids[currency] = s.priceAt("currency", currency)
			s.call("POST", "/api/v1/admin/plans/"+team.id+"/prices/psp-import", admin, map[string]any{"psp_price_id": ids[currency]}).want(201)
		}
		execute(t, db, "UPDATE plan_prices SET price_cents = 5 WHERE psp_price_id = $1", ids["CHF"])
		execute(t, db, "UPDATE plan_prices SET psp_price_id = 'price_gone' WHERE psp_price_id = $1", ids["SEK"])
		execute(t, db, "UPDATE plan_prices SET psp_price_id = $1 WHERE id = $2", s.priceAt("active", "false"), team.prices["EUR"])
		w.breaks(on(fail, "GET", "/prices/"+ids["NOK"]))

		r := s.request("GET", "/api/v1/admin/plans/"+team.id+"/psp-price-status", admin, nil)
		r.Header.Set("Accept-Language", "fr")
		var got [][3]any
		for _, e := range s.do(r).want(200).at("data").([]any) {
			e := e.(map[string]any)
			if len(e) != 5 || e["price_id"] == nil {
				t.Errorf("row %v", e)
			}
			got = append(got, [3]any{e["currency"], e["status"], e["message"]})
		}
		if diff := cmp.Diff([][3]any{
			{"CHF", "mismatch", "Différent chez le prestataire de paiement : amount."},
			{"EUR", "inactive", "Inactif chez le prestataire de paiement."},
			{"GBP", "linked", nil},
			{"NOK", "error", "Le prestataire de paiement n'a pas pu être interrogé."},
			{"SEK", "stripe_missing", "Le prestataire de paiement n'a pas ce prix."},
			{"USD", "missing", "Lié à aucun prix du prestataire de paiement."},
		}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A price that is taken off sale at the provider is unlinked, and the next
// checkout makes a new one.
func TestPSPPriceTakenOffSale(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, _ *wire) {
		admin, starter := s.admin(), s.sold("starter")
		old, _ := s.links(admin, starter)["EUR"]["psp_price_id"].(string) // Acme bought it
		s.byHand("POST", "/prices/"+old, "nickname", "A better name")
		s.byHand("POST", "/prices/"+old, "active", "false")
		eventually(t, "the unlinking", func() bool { return s.links(admin, starter)["EUR"]["status"] == "missing" })
		entry := s.trail(url.Values{"filter[action]": {"plan_price.psp_unlinked"}}).want(200)
		if entry.at("meta.total") != 1.0 || entry.at("data.0.actor_id") != nil || entry.at("data.0.before.psp_price_id") != old {
			t.Errorf("trail: %s", entry.text)
		}
		s.subscribe(s.register("ada@example.com", true), "starter")
		if got := s.links(admin, starter)["EUR"]; got["status"] != "linked" || got["psp_price_id"] == old {
			t.Errorf("after a checkout: %v", got)
		}
	})
}

// A product that the provider does not have any more is made anew.
func TestPSPProductGone(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, _ *wire) {
		execute(t, dbtest.Open(t, s.database), "UPDATE products SET psp_product_id = 'prod_gone'")
		s.checkout(s.register("ada@example.com", true), "team")
		if actions := s.trail(url.Values{"per_page": {"5"}}).done(); !slices.Contains(actions, "product.psp_unlinked") || !slices.Contains(actions, "product.psp_created") {
			t.Errorf("trail: %v", actions)
		}
	})
}

// An amount that the provider would take for another, or could not charge, never
// gets there.
func TestPSPAmounts(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		admin, team, db := s.admin(), s.sold("team"), dbtest.Open(t, s.database)
		ada := s.register("ada@example.com", true)
		s.call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{"UGX", "KWD", "JPY", "ISK"}}).want(200)
		s.call("PATCH", currencies+"/ISK", admin, map[string]any{"minor_units": 2}).want(200)
		for name, tt := range map[string]struct {
			currency string
			amount   int64
			allowed  bool
		}{
			"no decimals here, two there": {"UGX", 5000, false},
			"a last digit other than 0":   {"KWD", 5124, false},
			"a fraction of a krona":       {"ISK", 5050, false},
			"three decimals":              {"KWD", 5120, true},
			"two decimals of a krona":     {"ISK", 5000, true},
			"no decimals":                 {"JPY", 501, true},
		} {
			execute(t, db, "UPDATE plan_prices SET currency = $1, price_cents = $2, psp_price_id = NULL WHERE id = $3", tt.currency, tt.amount, team.prices["EUR"])
			w.count("")
			create := s.call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product})
			checkout := s.call("POST", "/api/v1/tenant/"+ada.tenant+"/checkout", ada.token, map[string]any{
				"plan_id": team.id, "currency": tt.currency, "success_url": "https://a.example/", "cancel_url": "https://a.example/",
			})
			if tt.allowed {
				checkout.want(200)
				got := s.byHand("GET", "/prices/"+create.want(200).str("data.psp_price_id"))
				if got.at("unit_amount") != float64(tt.amount) || got.at("currency") != strings.ToLower(tt.currency) {
					t.Errorf("%s: made %s", name, got.text)
				}
				continue
			}
			create.refuses(name, 422, "psp_amount_unsupported")
			checkout.refuses(name, 422, "psp_amount_unsupported")
			if n := w.count("POST /prices"); n != 0 {
				t.Errorf("%s: %d prices were asked for", name, n)
			}
		}
	})
}

func TestPSPPricesAreLimited(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.Dialects(t)[0], limited)
	admin, team := s.admin(), s.sold("team")
	for range 30 {
		s.call("POST", team.path("EUR", "psp-unlink"), admin, nil).want(200)
	}
	for _, r := range [][2]string{
		{"POST", team.path("EUR", "psp-unlink")},
		{"POST", team.path("EUR", "psp-link")},
		{"POST", team.path("EUR", "psp-create")},
		{"POST", "/api/v1/admin/plans/" + team.id + "/prices/psp-import"},
		{"GET", "/api/v1/admin/plans/" + team.id + "/psp-price-status"},
	} {
		if a := s.call(r[0], r[1], admin, nil).want(429); a.header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", r[1])
		}
	}
	s.call("GET", currencies, admin, nil).want(200)
}
