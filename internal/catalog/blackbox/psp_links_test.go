package blackbox_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// amountOf returns the price of a plan in a currency.
func amountOf(s *apptest.Server, p soldPlan, currency string) float64 {
	s.T.Helper()
	list, _ := s.Call("GET", "/api/v1/catalog/plans?currency="+currency, "", nil).Want(200).At("data").([]any)
	for _, e := range list {
		if e := e.(map[string]any); e["id"] == p.id {
			return e["prices"].([]any)[0].(map[string]any)["price_cents"].(float64)
		}
	}
	s.T.Fatal("no such price")
	return 0
}

func TestPSPLink(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		admin, team := s.Admin(), soldPlanOf(s, "team")
		amount := amountOf(s, team, "EUR")
		exact := []string{"unit_amount", apptest.IDText(amount)}
		link := func(id any) apptest.Reply {
			return s.Call("POST", team.path("EUR", "psp-link"), admin, map[string]any{"psp_price_id": id})
		}
		s.Call("POST", team.path("EUR", "psp-link"), admin, map[string]any{}).As("absent").WantInvalid("psp_price_id")
		for _, id := range []any{"", nil, 5, "prod_1", "price_", "PRICE_1", "price_1/../../prices", "price_a b", "price_" + strings.Repeat("x", 250), "price_nope"} {
			link(id).As("id").WantInvalid("psp_price_id")
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
			a := link(s.NewProviderPrice(append(slices.Clone(exact), tt.made...)...))
			a.As(name).WantRefused(422, "psp_price_mismatch")
			if diff := cmp.Diff(tt.want, a.At("mismatches")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		once := s.AtProvider("POST", "/prices", "currency", "eur", "unit_amount", apptest.IDText(amount), "product_data[name]", "Once").Str("id")
		part := s.TryAtProvider("POST", "/prices", "currency", "eur", "unit_amount_decimal", apptest.IDText(amount)+".5", "recurring[interval]", "month",
			"product_data[name]", "Part").Want(200).Str("id")
		for id, field := range map[string]string{once: "interval", part: "amount"} {
			a := link(id)
			a.As(field).WantRefused(422, "psp_price_mismatch")
			if a.At("mismatches.0.field") != field || a.At("mismatches.0.actual") != nil {
				t.Errorf("%s: %s", field, a.Text)
			}
		}
		if got := linksOf(s, admin, team)["EUR"]; got["status"] != "missing" {
			t.Errorf("after refusals: %v", got)
		}

		first, second := s.NewProviderPrice(exact...), s.NewProviderPrice(exact...)
		for _, id := range []string{first, first, second} {
			if a := link(id).Want(200); a.At("data.psp_price_id") != id || a.At("data.price_cents") != amount {
				t.Errorf("linked: %s", a.Text)
			}
		}
		w.Tamper(apptest.ForEndpoint(apptest.Fail, "GET", "/prices"))
		link(first).As("outage").WantRefused(502, "psp_error")
		w.Tamper(nil)
		if got := linksOf(s, admin, team)["EUR"]; got["psp_price_id"] != second {
			t.Errorf("an outage changed the link: %v", got)
		}
		for range 2 {
			if a := s.Call("POST", team.path("EUR", "psp-unlink"), admin, nil).Want(200); a.At("data.psp_price_id") != nil || a.At("data.id") != team.prices["EUR"] {
				t.Errorf("unlinked: %s", a.Text)
			}
		}
		trail := s.Call("GET", "/api/v1/admin/audit-logs?per_page=4", admin, nil)
		if diff := cmp.Diff([]string{"plan_price.psp_unlinked", "plan_price.psp_linked", "plan_price.psp_linked"}, trail.Actions()[:3]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPSPImport(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "other instances show a change of the catalog within a minute")
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		admin, team := s.Admin(), soldPlanOf(s, "team")
		path := "/api/v1/admin/plans/" + team.id + "/prices/psp-import"
		take := func(id any) apptest.Reply { return s.Call("POST", path, admin, map[string]any{"psp_price_id": id}) }
		s.Call("POST", path, admin, map[string]any{}).As("absent").WantInvalid("psp_price_id")
		for name, id := range map[string]any{
			"form": "prod_1", "unknown": "price_nope",
			"a currency that the plan has": s.NewProviderPrice(), "an unknown currency": s.NewProviderPrice("currency", "chf"),
		} {
			take(id).As(name).WantInvalid("psp_price_id")
		}
		s.Call("POST", currencies, admin, apptest.Object{"code": "SEK", "name": "Krona", "symbol": "kr", "minor_units": 0}).Want(201)
		take(s.NewProviderPrice("currency", "sek")).As("too few decimals").WantRefused(422, "psp_amount_unsupported")
		for field, id := range map[string]string{
			"interval": s.NewProviderPrice("currency", "gbp", "recurring[interval]", "week"),
			"active":   s.NewProviderPrice("currency", "gbp", "active", "false"),
			"amount": s.TryAtProvider("POST", "/prices", "currency", "gbp", "unit_amount_decimal", "0.5", "recurring[interval]", "month",
				"product_data[name]", "Part").Want(200).Str("id"),
		} {
			a := take(id)
			a.As(field).WantRefused(422, "psp_price_mismatch")
			if list, _ := a.At("mismatches").([]any); len(list) != 1 || a.At("mismatches.0.field") != field {
				t.Errorf("%s: %s", field, a.Text)
			}
		}
		gbp := s.NewProviderPrice("currency", "gbp", "unit_amount", "1234")
		w.Tamper(apptest.ForEndpoint(apptest.Fail, "GET", "/prices"))
		take(gbp).As("outage").WantRefused(502, "psp_error")
		w.Tamper(nil)
		if got := linksOf(s, admin, team); len(got) != 2 {
			t.Errorf("after refusals: %v", got)
		}

		got := take(gbp).Want(201).At("data").(map[string]any)
		if diff := cmp.Diff(map[string]any{"id": got["id"], "currency": "GBP", "price_cents": 1234.0, "psp_price_id": gbp}, got); diff != "" {
			t.Error(diff)
		}
		if shown := soldPlanOf(s, "team").prices["GBP"]; shown != got["id"] {
			t.Errorf("the public catalog has %q", shown)
		}
		take(gbp).As("again").WantInvalid("psp_price_id")
		if last := s.Call("GET", "/api/v1/admin/audit-logs?per_page=1", admin, nil); last.At("data.0.action") != "plan_price.psp_imported" || last.At("data.0.after.psp_price_id") != gbp {
			t.Errorf("trail: %s", last.Text)
		}
	})
}

func TestPSPPriceStatus(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		admin, team, db := s.Admin(), soldPlanOf(s, "team"), s.DB()
		s.Call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{"CHF", "SEK", "NOK"}}).Want(200)
		ids := map[string]string{}
		for _, currency := range []string{"GBP", "CHF", "SEK", "NOK"} {
			ids[currency] = s.NewProviderPrice("currency", currency)
			s.Call("POST", "/api/v1/admin/plans/"+team.id+"/prices/psp-import", admin, map[string]any{"psp_price_id": ids[currency]}).Want(201)
		}
		apptest.Exec(t, db, "UPDATE plan_prices SET price_cents = 5000 WHERE psp_price_id = $1", ids["CHF"])
		apptest.Exec(t, db, "UPDATE plan_prices SET psp_price_id = 'price_gone' WHERE psp_price_id = $1", ids["SEK"])
		apptest.Exec(t, db, "UPDATE plan_prices SET psp_price_id = $1 WHERE id = $2", s.NewProviderPrice("active", "false"), team.prices["EUR"])
		w.Tamper(apptest.ForEndpoint(apptest.Fail, "GET", "/prices/"+ids["NOK"]))

		r := s.NewRequest("GET", "/api/v1/admin/plans/"+team.id+"/psp-price-status", admin, nil)
		r.Header.Set("Accept-Language", "fr")
		var got [][3]any
		for _, e := range s.Do(r).Want(200).At("data").([]any) {
			e := e.(map[string]any)
			if len(e) != 7 || e["price_id"] == nil || e["warning"] != nil {
				t.Errorf("row %v", e)
			}
			got = append(got, [3]any{e["currency"], e["status"], e["message"]})
		}
		if diff := cmp.Diff([][3]any{
			{"CHF", "mismatch", "Différent chez le prestataire de paiement\u00a0: montant."},
			{"EUR", "inactive", "Inactif chez le prestataire de paiement."},
			{"GBP", "linked", nil},
			{"NOK", "error", "Le prestataire de paiement est injoignable."},
			{"SEK", "stripe_missing", "Ce prix n’existe pas chez le prestataire de paiement."},
			{"USD", "missing", "Non associé à un prix chez le prestataire de paiement."},
		}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A product that was deleted at the provider is created again.
func TestPSPProductGone(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, _ *apptest.Proxy) {
		apptest.Exec(t, s.DB(), "UPDATE plans SET psp_product_id = 'prod_gone'")
		s.Checkout(s.Register("ada@example.com", true), "team")
		if actions := s.AuditLog(url.Values{"per_page": {"5"}}).Actions(); !slices.Contains(actions, "plan.psp_unlinked") || !slices.Contains(actions, "plan.psp_created") {
			t.Errorf("trail: %v", actions)
		}
	})
}

// An amount that the provider would misinterpret or could not charge is never sent.
func TestPSPAmounts(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		admin, team, db := s.Admin(), soldPlanOf(s, "team"), s.DB()
		ada := s.Register("ada@example.com", true)
		s.Call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{"UGX", "KWD", "JPY", "ISK", "MGA"}}).Want(200)
		s.Call("PATCH", currencies+"/ISK", admin, map[string]any{"minor_units": 2}).Want(200)
		for name, tt := range map[string]struct {
			currency string
			amount   int64
			there    float64 // amount at the provider; 0 if it is rejected
			possible []any
		}{
			"no decimals here, two there": {"UGX", 5000, 500_000, nil},
			"a last digit other than 0":   {"KWD", 5124, 0, []any{5120.0, 5130.0}},
			"a fraction of a krona":       {"ISK", 5050, 0, []any{5000.0, 5100.0}},
			"a fraction of an ariary":     {"MGA", 5050, 0, []any{5000.0, 5100.0}},
			"nine digits":                 {"JPY", 100_000_000, 0, []any{99_999_999.0}},
			"three decimals":              {"KWD", 5120, 5120, nil},
			"two decimals of a krona":     {"ISK", 5000, 5000, nil},
			"no decimals":                 {"JPY", 501, 501, nil},
		} {
			apptest.Exec(t, db, "UPDATE plan_prices SET currency = $1, price_cents = $2, psp_price_id = NULL WHERE id = $3", tt.currency, tt.amount, team.prices["EUR"])
			w.Count("")
			create := s.Call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product})
			checkout := s.Call("POST", ada.Path("/checkout"), ada.Token, map[string]any{
				"plan_id": team.id, "currency": tt.currency, "success_url": "https://a.example/", "cancel_url": "https://a.example/",
			})
			if tt.there > 0 {
				checkout.Want(200)
				got := s.AtProvider("GET", "/prices/"+create.Want(200).Str("data.psp_price_id"))
				if got.At("unit_amount") != tt.there || got.At("currency") != strings.ToLower(tt.currency) {
					t.Errorf("%s: created %s", name, got.Text)
				}
				continue
			}
			create.As(name).WantRefused(422, "psp_amount_unsupported")
			checkout.As(name).WantRefused(422, "psp_amount_unsupported")
			create.As(name).WantAt("possible_amounts", tt.possible)
			checkout.As(name).WantAt("possible_amounts", tt.possible)
			if n := w.Count("POST /prices"); n != 0 {
				t.Errorf("%s: %d requests for prices", name, n)
			}
		}
	})
}

func TestPSPPricesAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, dbtest.Dialects(t)[0], apptest.Limited)
	admin, team := s.Admin(), soldPlanOf(s, "team")
	for range 30 {
		s.Call("POST", team.path("EUR", "psp-unlink"), admin, nil).Want(200)
	}
	for _, r := range [][2]string{
		{"POST", team.path("EUR", "psp-unlink")},
		{"POST", team.path("EUR", "psp-link")},
		{"POST", team.path("EUR", "psp-create")},
		{"POST", "/api/v1/admin/plans/" + team.id + "/prices/psp-import"},
		{"GET", "/api/v1/admin/plans/" + team.id + "/psp-price-status"},
	} {
		if a := s.Call(r[0], r[1], admin, nil).Want(429); a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", r[1])
		}
	}
	s.Call("GET", currencies, admin, nil).Want(200)
}
