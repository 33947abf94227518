package app

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

const currencies = "/api/v1/admin/currencies"

// currencies lists a list's entries by code.
func (a reply) currencies() map[string]map[string]any {
	a.t.Helper()
	list, ok := a.want(200).at("data").([]any)
	if !ok {
		a.t.Fatalf("no list: %s", a.text)
	}
	byCode := map[string]map[string]any{}
	for _, e := range list {
		entry := e.(map[string]any)
		byCode[entry["code"].(string)] = entry
	}
	return byCode
}

// refusesField expects a 422 on one field alone.
func (a reply) refusesField(name, field string) {
	a.t.Helper()
	errs, _ := a.at("errors").(map[string]any)
	if a.status != 422 || errs[field] == nil || len(errs) != 1 {
		a.t.Errorf("%s: %d %s, want 422 on %s alone", name, a.status, a.text, field)
	}
}

// refuses expects a status and a code.
func (a reply) refuses(name string, status int, code string) {
	a.t.Helper()
	if a.status != status || a.at("code") != code || a.at("message") == "" {
		a.t.Errorf("%s: %d %s, want %d %s", name, a.status, a.text, status, code)
	}
}

func yen(change map[string]any) map[string]any {
	body := map[string]any{"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0}
	for k, v := range change {
		body[k] = v
	}
	return body
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		public := func() []string {
			t.Helper()
			var codes []string
			list, _ := s.call("GET", "/api/v1/currencies", "", nil).want(200).at("data").([]any)
			for _, e := range list {
				codes = append(codes, e.(map[string]any)["code"].(string))
			}
			return codes
		}
		if diff := cmp.Diff([]string{"EUR", "GBP", "USD"}, public()); diff != "" {
			t.Fatal(diff)
		}

		// A currency is there at once, for the public if it is active.
		added := s.call("POST", currencies, admin, yen(map[string]any{"code": "jpy", "name": " Yen "})).want(201)
		want := map[string]any{"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0.0, "is_active": true}
		if diff := cmp.Diff(want, added.at("data")); diff != "" {
			t.Error(diff)
		}
		s.call("POST", currencies, admin, map[string]any{
			"code": "QQQ", "name": "Quatloo", "symbol": "Q", "minor_units": 3, "is_active": false,
		}).want(201)
		if diff := cmp.Diff([]string{"EUR", "GBP", "JPY", "USD"}, public()); diff != "" {
			t.Error(diff)
		}
		all := s.call("GET", currencies, admin, nil).currencies()
		if diff := cmp.Diff(want, all["JPY"]); diff != "" || all["QQQ"]["is_active"] != false || len(all) != 5 {
			t.Errorf("%s: %v", diff, all)
		}

		// A change: what is absent stays.
		for _, tt := range []struct {
			path   string
			change map[string]any
			want   map[string]any
		}{
			{"QQQ", map[string]any{"is_active": true}, map[string]any{"code": "QQQ", "name": "Quatloo", "symbol": "Q", "minor_units": 3.0, "is_active": true}},
			{"qqq", map[string]any{"minor_units": 2, "code": "XXX"}, map[string]any{"code": "QQQ", "name": "Quatloo", "symbol": "Q", "minor_units": 2.0, "is_active": true}},
			{"QQQ", map[string]any{"name": "Q", "symbol": "₡"}, map[string]any{"code": "QQQ", "name": "Q", "symbol": "₡", "minor_units": 2.0, "is_active": true}},
			{"JPY", map[string]any{"is_active": false}, map[string]any{"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0.0, "is_active": false}},
			{"JPY", map[string]any{}, map[string]any{"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0.0, "is_active": false}},
		} {
			got := s.call("PATCH", currencies+"/"+tt.path, admin, tt.change).want(200)
			if diff := cmp.Diff(tt.want, got.at("data")); diff != "" {
				t.Errorf("%v: %s", tt.change, diff)
			}
		}
		if diff := cmp.Diff([]string{"EUR", "GBP", "QQQ", "USD"}, public()); diff != "" {
			t.Error(diff)
		}

		// What nothing uses can be deleted, once.
		if a := s.call("DELETE", currencies+"/qqq", admin, nil).want(204); a.text != "" {
			t.Errorf("a body: %s", a.text)
		}
		for _, method := range []string{"DELETE", "PATCH"} {
			for _, code := range []string{"QQQ", "nope", "€", "01990000-0000-7000-8000-000000000000"} {
				s.call(method, currencies+"/"+url.PathEscape(code), admin, map[string]any{"minor_units": 9}).want(404)
			}
		}
		if diff := cmp.Diff([]string{"EUR", "GBP", "USD"}, public()); diff != "" {
			t.Error(diff)
		}

		// What changed nothing is not in the trail.
		trail := s.trail(url.Values{"per_page": {"20"}, "sort": {"created_at"}, "filter[actor]": {itoa(s.meID(s.admin()))}})
		var done []string
		for _, e := range trail.want(200).at("data").([]any) {
			if e := e.(map[string]any); e["resource"] == "currency" {
				done = append(done, fmt.Sprint(e["action"], " ", e["resource_id"], " ", e["before"], " ", e["after"]))
			}
		}
		if diff := cmp.Diff([]string{
			"currency.created JPY <nil> map[code:JPY is_active:true minor_units:0 name:Yen symbol:¥]",
			"currency.created QQQ <nil> map[code:QQQ is_active:false minor_units:3 name:Quatloo symbol:Q]",
			"currency.updated QQQ map[is_active:false] map[is_active:true]",
			"currency.updated QQQ map[minor_units:3] map[minor_units:2]",
			"currency.updated QQQ map[name:Quatloo symbol:Q] map[name:Q symbol:₡]",
			"currency.updated JPY map[is_active:true] map[is_active:false]",
			"currency.deleted QQQ map[code:QQQ is_active:true minor_units:2 name:Q symbol:₡] <nil>",
		}, done); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCurrencyRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		for name, tt := range map[string]struct {
			field  string
			change any
		}{
			"no code": {"code", ""}, "short code": {"code", "JP"}, "long code": {"code", "JPYY"}, "digits": {"code", "J1Y"},
			"accent": {"code", "JPÉ"}, "code taken": {"code", "EUR"}, "code taken, lower case": {"code", "eur"}, "null code": {"code", nil},
			"no name": {"name", " "}, "long name": {"name", strings.Repeat("x", 101)}, "null name": {"name", nil},
			"no symbol": {"symbol", ""}, "long symbol": {"symbol", strings.Repeat("€", 11)},
			"one decimal": {"minor_units", 1}, "four decimals": {"minor_units", 4}, "fewer than none": {"minor_units", -1},
			"half a decimal": {"minor_units", 2.5}, "text": {"minor_units", "2"}, "null units": {"minor_units", nil},
			"active text": {"is_active", "true"}, "active null": {"is_active", nil},
		} {
			s.call("POST", currencies, admin, yen(map[string]any{tt.field: tt.change})).refusesField(name, tt.field)
			if tt.field != "code" && name != "null units" {
				s.call("PATCH", currencies+"/GBP", admin, map[string]any{tt.field: tt.change}).refusesField("PATCH "+name, tt.field)
			}
		}
		a := s.call("POST", currencies, admin, map[string]any{}).want(422)
		if errs, _ := a.at("errors").(map[string]any); len(errs) != 4 {
			t.Errorf("without anything: %s", a.text)
		}
		s.call("PATCH", currencies+"/GBP", admin, map[string]any{"minor_units": nil}).refusesField("null", "minor_units")
		s.call("POST", currencies, admin, yen(map[string]any{"name": strings.Repeat("é", 100), "symbol": strings.Repeat("€", 10)})).want(201)
		if all := s.call("GET", currencies, admin, nil).currencies(); len(all) != 4 || all["GBP"]["name"] != "Pound Sterling" {
			t.Errorf("a refusal changed something: %v", all)
		}
	})
}

func TestCurrencyCatalogAndBulk(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		offered := s.call("GET", currencies+"/catalog", admin, nil).currencies()
		for code, want := range map[string]map[string]any{
			"JPY": {"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0.0},
			"KWD": {"code": "KWD", "name": "Kuwaiti Dinar", "symbol": "KWD", "minor_units": 3.0},
			"CHF": {"code": "CHF", "name": "Swiss Franc", "symbol": "CHF", "minor_units": 2.0},
			"EUR": nil,                                                 // added
			"CLF": nil, "UYW": nil, "XAU": nil, "XTS": nil, "XXX": nil, // no amounts of 0, 2 or 3 decimals
			"USN": nil, "CHE": nil, // funds
			"DEM": nil, "HRK": nil, "QQQ": nil, // none, or no more
		} {
			if diff := cmp.Diff(want, offered[code]); diff != "" {
				t.Errorf("%s: %s", code, diff)
			}
		}
		if len(offered) < 150 {
			t.Errorf("only %d currencies", len(offered))
		}
		s.call("POST", currencies, admin, map[string]any{"code": "QQQ", "name": "Quatloo", "symbol": "Q", "minor_units": 2}).want(201)

		bulk := s.call("POST", currencies+"/bulk", admin, map[string]any{
			"codes": []string{"JPY", "eur", "kwd", "JPY", "jpy", "QQQ", "XAU", "CLF", "franc", "", "EUR", " chf "},
		}).want(200)
		if diff := cmp.Diff(map[string]any{
			"created": []any{"JPY", "KWD", "CHF"}, "skipped_existing": []any{"EUR", "QQQ"}, "invalid": []any{"XAU", "CLF", "franc", ""},
		}, bulk.body); diff != "" {
			t.Error(diff)
		}
		all := s.call("GET", currencies, admin, nil).currencies()
		if len(all) != 7 || all["KWD"]["minor_units"] != 3.0 || all["KWD"]["is_active"] != true || all["QQQ"]["name"] != "Quatloo" {
			t.Errorf("afterwards: %v", all)
		}
		if _, still := s.call("GET", currencies+"/catalog", admin, nil).currencies()["JPY"]; still {
			t.Error("JPY is offered after it was added")
		}

		// Everything that is offered can be added, with what else a list may have.
		var codes []string
		for code := range offered {
			codes = append(codes, code)
		}
		if a := s.call("POST", currencies+"/bulk", admin, map[string]any{"codes": codes}).want(200); len(a.at("created").([]any)) != len(offered)-3 {
			t.Errorf("all: %s", a.text)
		}
		if left := s.call("GET", currencies+"/catalog", admin, nil).want(200); left.text != `{"data":[]}`+"\n" {
			t.Errorf("left: %s", left.text)
		}
		for name, body := range map[string]any{
			"absent": map[string]any{}, "none": map[string]any{"codes": []string{}}, "null": map[string]any{"codes": nil},
			"a text": map[string]any{"codes": "EUR"}, "too many": map[string]any{"codes": slices.Repeat([]string{"EUR"}, 501)},
		} {
			s.call("POST", currencies+"/bulk", admin, body).refusesField(name, "codes")
		}
		s.call("POST", currencies+"/bulk", admin, map[string]any{"codes": []any{"EUR", 5}}).refusesField("a number", "codes.1")
	})
}

// A currency that something depends on stays, and so does what its amounts mean.
func TestCurrencyInUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin, db := s.admin(), dbtest.Open(t, s.database)
		ada := s.register("ada@example.com", true)
		s.call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{"CHF", "JPY", "SEK", "NOK", "DKK"}}).want(200)
		starter := s.plan(ada, "starter")
		s.call("POST", "/api/v1/admin/meters", admin, map[string]any{
			"code": "trees", "name": "Trees", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
			"prices": []any{map[string]any{"currency": "DKK", "unit_price_cents": 1.5}},
		}).want(201)
		for _, change := range []string{
			"UPDATE plan_prices SET currency = 'CHF' WHERE currency = 'USD' AND plan_id = '" + starter + "'",
			"UPDATE tenants SET preferred_currency = 'JPY' WHERE id = '" + ada.tenant + "'",
			"UPDATE subscriptions SET currency = 'SEK'",
			"UPDATE checkouts SET currency = 'NOK'",
		} {
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		for _, code := range []string{"EUR", "CHF", "JPY", "SEK", "NOK", "DKK"} {
			s.call("DELETE", currencies+"/"+code, admin, nil).refuses("delete "+code, 409, "CURRENCY_IN_USE")
		}
		for _, code := range []string{"EUR", "CHF", "SEK", "NOK", "DKK"} {
			s.call("PATCH", currencies+"/"+code, admin, map[string]any{"minor_units": 3, "name": "X"}).refuses("decimals of "+code, 409, "CURRENCY_IN_USE")
			s.call("PATCH", currencies+"/"+code, admin, map[string]any{"minor_units": 2, "is_active": false}).want(200)
		}
		// A tenant that prefers a currency has no amounts in it.
		s.call("PATCH", currencies+"/JPY", admin, map[string]any{"minor_units": 2}).want(200)
		if all := s.call("GET", currencies, admin, nil).currencies(); len(all) != 8 || all["EUR"]["name"] != "Euro" {
			t.Errorf("afterwards: %v", all)
		}
		s.call("DELETE", currencies+"/GBP", admin, nil).want(204)
	})
}

// An inactive currency is not sold in: prices in it are not shown, and nobody can
// check out.
func TestInactiveCurrency(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin, ada := s.admin(), s.register("ada@example.com", true)
		checkout := func(slug, currency string) reply {
			return s.call("POST", "/api/v1/tenant/"+ada.tenant+"/checkout", ada.token, map[string]any{
				"plan_id": s.plan(ada, slug), "currency": currency, "quantity": 1,
				"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no",
			})
		}
		checkout("starter", "USD").want(200)
		s.call("PATCH", currencies+"/USD", admin, map[string]any{"is_active": false}).want(200)
		checkout("starter", "USD").refuses("checkout", 422, "plan_not_available_in_currency")
		checkout("team", "USD").refuses("checkout of seats", 422, "seat_pricing_misconfigured")
		retry := s.call("POST", "/api/v1/onboarding/retry-checkout", ada.token, map[string]any{"plan_slug": "starter", "currency": "USD"})
		retry.refuses("onboarding", 422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		if diff := cmp.Diff([]any{"EUR"}, retry.at("available_currencies")); diff != "" {
			t.Error(diff)
		}
		if plans := s.call("GET", "/api/v1/catalog/plans", "", nil).want(200); strings.Contains(plans.text, "USD") {
			t.Errorf("plans: %s", plans.text)
		}
		s.call("PATCH", currencies+"/USD", admin, map[string]any{"is_active": true}).want(200)
		checkout("starter", "USD").want(200)
	})
}

// Of many who add a currency at once one does.
func TestCurrencyRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		for round := range dbtest.Rounds(3, 50) {
			code := "QQ" + string(rune('A'+round%26))
			answers := make([]reply, 6)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() {
					if i == 0 {
						answers[i] = s.call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{code, "CHF", "JPY"}})
						return
					}
					answers[i] = s.call("POST", currencies, admin, map[string]any{"code": code, "name": "Q", "symbol": "Q", "minor_units": 2})
				})
			}
			wg.Wait()
			created := 0
			for _, a := range answers[1:] {
				if a.status == 201 {
					created++
				} else {
					a.refusesField("the others", "code")
				}
			}
			if answers[0].want(200); created != 1 {
				t.Errorf("%d created %s", created, code)
			}
			s.call("DELETE", currencies+"/"+code, admin, nil).want(204)
		}
	})
}
