package blackbox_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const currencies = "/api/v1/admin/currencies"

// byCode returns a list's entries by code.
func byCode(a apptest.Reply) map[string]map[string]any {
	a.T.Helper()
	list, ok := a.Want(200).At("data").([]any)
	if !ok {
		a.T.Fatalf("no list: %s", a.Text)
	}
	byCode := map[string]map[string]any{}
	for _, e := range list {
		entry := e.(map[string]any)
		byCode[entry["code"].(string)] = entry
	}
	return byCode
}

func yen(change map[string]any) map[string]any {
	body := map[string]any{"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0}
	for k, v := range change {
		body[k] = v
	}
	return body
}

func TestAdminCurrencies(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "other instances show a change of the catalog within a minute")
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		if diff := cmp.Diff([]string{"EUR", "GBP", "USD"}, publicCurrencies(s)); diff != "" {
			t.Fatal(diff)
		}
		s.Run(t, "a new currency is available immediately, and public if it is active", func(t *testing.T, s *apptest.Server) { addCurrencies(t, s, admin) })
		s.Run(t, "an update keeps absent fields", func(t *testing.T, s *apptest.Server) { updateCurrencies(t, s, admin) })
		s.Run(t, "an unused currency can be deleted, once", func(t *testing.T, s *apptest.Server) { deleteCurrency(t, s, admin) })
		s.Run(t, "requests without a change are not in the audit log", func(t *testing.T, s *apptest.Server) { auditedCurrencies(t, s) })
	})
}

func publicCurrencies(s *apptest.Server) (codes []string) {
	s.T.Helper()
	list, _ := s.Call("GET", "/api/v1/currencies", "", nil).Want(200).At("data").([]any)
	for _, e := range list {
		codes = append(codes, e.(map[string]any)["code"].(string))
	}
	return codes
}

func addCurrencies(t *testing.T, s *apptest.Server, admin string) {
	added := s.Call("POST", currencies, admin, yen(map[string]any{"code": "jpy", "name": " Yen "})).Want(201)
	want := map[string]any{"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0.0, "is_active": true}
	if diff := cmp.Diff(want, added.At("data")); diff != "" {
		t.Error(diff)
	}
	s.Call("POST", currencies, admin, map[string]any{
		"code": "QQQ", "name": "Quatloo", "symbol": "Q", "minor_units": 3, "is_active": false,
	}).Want(201)
	if diff := cmp.Diff([]string{"EUR", "GBP", "JPY", "USD"}, publicCurrencies(s)); diff != "" {
		t.Error(diff)
	}
	all := byCode(s.Call("GET", currencies, admin, nil))
	if diff := cmp.Diff(want, all["JPY"]); diff != "" || all["QQQ"]["is_active"] != false || len(all) != 5 {
		t.Errorf("%s: %v", diff, all)
	}
}

func updateCurrencies(t *testing.T, s *apptest.Server, admin string) {
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
		got := s.Call("PATCH", currencies+"/"+tt.path, admin, tt.change).Want(200)
		if diff := cmp.Diff(tt.want, got.At("data")); diff != "" {
			t.Errorf("%v: %s", tt.change, diff)
		}
	}
	if diff := cmp.Diff([]string{"EUR", "GBP", "QQQ", "USD"}, publicCurrencies(s)); diff != "" {
		t.Error(diff)
	}
}

func deleteCurrency(t *testing.T, s *apptest.Server, admin string) {
	if a := s.Call("DELETE", currencies+"/qqq", admin, nil).Want(204); a.Text != "" {
		t.Errorf("a body: %s", a.Text)
	}
	for _, method := range []string{"DELETE", "PATCH"} {
		for _, code := range []string{"QQQ", "nope", "€", "01990000-0000-7000-8000-000000000000"} {
			s.Call(method, currencies+"/"+url.PathEscape(code), admin, map[string]any{"minor_units": 9}).Want(404)
		}
	}
	if diff := cmp.Diff([]string{"EUR", "GBP", "USD"}, publicCurrencies(s)); diff != "" {
		t.Error(diff)
	}
}

func auditedCurrencies(t *testing.T, s *apptest.Server) {
	trail := s.AuditLog(url.Values{"per_page": {"20"}, "sort": {"created_at"}, "filter[actor]": {apptest.IDText(float64(s.UserID(s.Admin())))}})
	var done []string
	for _, e := range trail.Want(200).At("data").([]any) {
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
}

func TestCurrencyRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
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
			s.Call("POST", currencies, admin, yen(map[string]any{tt.field: tt.change})).As(name).WantInvalid(tt.field)
			if tt.field != "code" && name != "null units" {
				s.Call("PATCH", currencies+"/GBP", admin, map[string]any{tt.field: tt.change}).As("PATCH " + name).WantInvalid(tt.field)
			}
		}
		a := s.Call("POST", currencies, admin, map[string]any{}).Want(422)
		if errs, _ := a.At("errors").(map[string]any); len(errs) != 4 {
			t.Errorf("without anything: %s", a.Text)
		}
		s.Call("PATCH", currencies+"/GBP", admin, map[string]any{"minor_units": nil}).As("null").WantInvalid("minor_units")
		s.Call("POST", currencies, admin, yen(map[string]any{"name": strings.Repeat("é", 100), "symbol": strings.Repeat("€", 10)})).Want(201)
		if all := byCode(s.Call("GET", currencies, admin, nil)); len(all) != 4 || all["GBP"]["name"] != "Pound Sterling" {
			t.Errorf("a refusal changed something: %v", all)
		}
	})
}

func TestCurrencyCatalogAndBulk(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		offered := byCode(s.Call("GET", currencies+"/catalog", admin, nil))
		for code, want := range map[string]map[string]any{
			"JPY": {"code": "JPY", "name": "Yen", "symbol": "¥", "minor_units": 0.0},
			"KWD": {"code": "KWD", "name": "Kuwaiti Dinar", "symbol": "KWD", "minor_units": 3.0},
			"CHF": {"code": "CHF", "name": "Swiss Franc", "symbol": "CHF", "minor_units": 2.0},
			"EUR": nil,                                                 // added
			"CLF": nil, "UYW": nil, "XAU": nil, "XTS": nil, "XXX": nil, // no amounts of 0, 2 or 3 decimals
			"USN": nil, "CHE": nil, // funds
			"DEM": nil, "HRK": nil, "QQQ": nil, // obsolete or unknown
		} {
			if diff := cmp.Diff(want, offered[code]); diff != "" {
				t.Errorf("%s: %s", code, diff)
			}
		}
		if len(offered) < 150 {
			t.Errorf("only %d currencies", len(offered))
		}
		s.Call("POST", currencies, admin, map[string]any{"code": "QQQ", "name": "Quatloo", "symbol": "Q", "minor_units": 2}).Want(201)

		bulk := s.Call("POST", currencies+"/bulk", admin, map[string]any{
			"codes": []string{"JPY", "eur", "kwd", "JPY", "jpy", "QQQ", "XAU", "CLF", "franc", "", "EUR", " chf "},
		}).Want(200)
		if diff := cmp.Diff(map[string]any{
			"created": []any{"JPY", "KWD", "CHF"}, "skipped_existing": []any{"EUR", "QQQ"}, "invalid": []any{"XAU", "CLF", "franc", ""},
		}, bulk.Body); diff != "" {
			t.Error(diff)
		}
		all := byCode(s.Call("GET", currencies, admin, nil))
		if len(all) != 7 || all["KWD"]["minor_units"] != 3.0 || all["KWD"]["is_active"] != true || all["QQQ"]["name"] != "Quatloo" {
			t.Errorf("afterwards: %v", all)
		}
		if _, still := byCode(s.Call("GET", currencies+"/catalog", admin, nil))["JPY"]; still {
			t.Error("JPY is offered after it was added")
		}

		// All offered currencies can be added, together with other codes.
		var codes []string
		for code := range offered {
			codes = append(codes, code)
		}
		if a := s.Call("POST", currencies+"/bulk", admin, map[string]any{"codes": codes}).Want(200); len(a.At("created").([]any)) != len(offered)-3 {
			t.Errorf("all: %s", a.Text)
		}
		if left := s.Call("GET", currencies+"/catalog", admin, nil).Want(200); left.Text != `{"data":[]}`+"\n" {
			t.Errorf("left: %s", left.Text)
		}
		for name, body := range map[string]any{
			"absent": map[string]any{}, "none": map[string]any{"codes": []string{}}, "null": map[string]any{"codes": nil},
			"a text": map[string]any{"codes": "EUR"}, "too many": map[string]any{"codes": slices.Repeat([]string{"EUR"}, 501)},
		} {
			s.Call("POST", currencies+"/bulk", admin, body).As(name).WantInvalid("codes")
		}
		s.Call("POST", currencies+"/bulk", admin, map[string]any{"codes": []any{"EUR", 5}}).As("a number").WantInvalid("codes.1")
	})
}

// A currency in use cannot be deleted, and its number of decimals cannot change.
func TestCurrencyInUse(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin, db := s.Admin(), s.DB()
		ada := s.Register("ada@example.com", true)
		s.Call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{"CHF", "JPY", "SEK", "NOK", "DKK"}}).Want(200)
		starter := s.PlanID(ada, "starter")
		s.Call("POST", "/api/v1/admin/meters", admin, map[string]any{
			"code": "trees", "name": "Trees", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
			"prices": []any{map[string]any{"currency": "DKK", "unit_price_cents": 1.5}},
		}).Want(201)
		for _, change := range []string{
			"UPDATE plan_prices SET currency = 'CHF' WHERE currency = 'USD' AND plan_id = '" + starter + "'",
			"UPDATE tenants SET preferred_currency = 'JPY' WHERE id = '" + ada.Tenant + "'",
			"UPDATE subscriptions SET currency = 'SEK'",
			"UPDATE checkouts SET currency = 'NOK'",
		} {
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		for _, code := range []string{"EUR", "CHF", "JPY", "SEK", "NOK", "DKK"} {
			s.Call("DELETE", currencies+"/"+code, admin, nil).As("delete "+code).WantRefused(409, "CURRENCY_IN_USE")
		}
		for _, code := range []string{"EUR", "CHF", "SEK", "NOK", "DKK"} {
			s.Call("PATCH", currencies+"/"+code, admin, map[string]any{"minor_units": 3, "name": "X"}).As("decimals of "+code).WantRefused(409, "CURRENCY_IN_USE")
			s.Call("PATCH", currencies+"/"+code, admin, map[string]any{"minor_units": 2, "is_active": false}).Want(200)
		}
		// A tenant's preferred currency does not count as stored amounts.
		s.Call("PATCH", currencies+"/JPY", admin, map[string]any{"minor_units": 2}).Want(200)
		if all := byCode(s.Call("GET", currencies, admin, nil)); len(all) != 8 || all["EUR"]["name"] != "Euro" {
			t.Errorf("afterwards: %v", all)
		}
		s.Call("DELETE", currencies+"/GBP", admin, nil).Want(204)
	})
}

// Prices in an inactive currency are hidden and cannot be bought.
func TestInactiveCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin, ada := s.Admin(), s.Register("ada@example.com", true)
		checkout := func(slug, currency string) apptest.Reply {
			return s.Call("POST", ada.Path("/checkout"), ada.Token, map[string]any{
				"plan_id": s.PlanID(ada, slug), "currency": currency, "quantity": 1,
				"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no",
			})
		}
		checkout("starter", "USD").Want(200)
		s.Call("PATCH", currencies+"/USD", admin, map[string]any{"is_active": false}).Want(200)
		checkout("starter", "USD").As("checkout").WantRefused(422, "plan_not_available_in_currency")
		checkout("team", "USD").As("checkout of seats").WantRefused(422, "seat_pricing_misconfigured")
		retry := s.Call("POST", "/api/v1/onboarding/retry-checkout", ada.Token, map[string]any{"plan_slug": "starter", "currency": "USD"})
		retry.As("onboarding").WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		if diff := cmp.Diff([]any{"EUR"}, retry.At("available_currencies")); diff != "" {
			t.Error(diff)
		}
		if plans := s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200); strings.Contains(plans.Text, "USD") {
			t.Errorf("plans: %s", plans.Text)
		}
		s.Call("PATCH", currencies+"/USD", admin, map[string]any{"is_active": true}).Want(200)
		checkout("starter", "USD").Want(200)
	})
}

// If many requests add the same currency concurrently, one succeeds.
func TestCurrencyRace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		for round := range dbtest.Rounds(3, 50) {
			code := "QQ" + string(rune('A'+round%26))
			answers := make([]apptest.Reply, 6)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() {
					if i == 0 {
						answers[i] = s.Call("POST", currencies+"/bulk", admin, map[string]any{"codes": []string{code, "CHF", "JPY"}})
						return
					}
					answers[i] = s.Call("POST", currencies, admin, map[string]any{"code": code, "name": "Q", "symbol": "Q", "minor_units": 2})
				})
			}
			wg.Wait()
			created := 0
			for _, a := range answers[1:] {
				if a.Status == 201 {
					created++
				} else {
					a.As("the others").WantInvalid("code")
				}
			}
			if answers[0].Want(200); created != 1 {
				t.Errorf("%d created %s", created, code)
			}
			s.Call("DELETE", currencies+"/"+code, admin, nil).Want(204)
		}
	})
}

// If a currency is deleted while a price in it is saved, the price is rejected or the currency stays.
func TestDeletedCurrencyRace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("races"), "races", map[string]int{"EUR": 100})
		for round := range dbtest.Rounds(10, 50) {
			code := "Q" + string(rune('A'+round/26)) + string(rune('A'+round%26))
			s.Call("POST", currencies, k.Token, map[string]any{"code": code, "name": "Q", "symbol": "Q", "minor_units": 2}).Want(201)
			var deleted, saved, metered apptest.Reply
			var wg sync.WaitGroup
			wg.Go(func() { deleted = s.Call("DELETE", currencies+"/"+code, k.Token, nil) })
			wg.Go(func() {
				saved = k.AdminCall("PUT", "/plans/"+plan+"/prices", map[string]any{"prices": []any{map[string]any{"currency": code, "price_cents": 100}}})
			})
			wg.Go(func() {
				metered = k.AdminCall("POST", "/meters", map[string]any{
					"code": fmt.Sprintf("m%d", round), "name": "M", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "soft",
					"prices": []any{map[string]any{"currency": code, "unit_price_cents": 1}},
				})
			})
			wg.Wait()
			for what, a := range map[string]apptest.Reply{"delete": deleted, "plan": saved, "meter": metered} {
				if a.Status >= 500 {
					t.Fatalf("%s: %d %s", what, a.Status, a.Text)
				}
			}
			if deleted.Status == 204 {
				saved.WantInvalid("prices.0.currency")
				metered.WantInvalid("prices.0.currency")
			}
		}
	})
}

// The service does not start with a base currency that is not active, so it cannot be deactivated or deleted.
func TestBaseCurrencyStaysActive(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		s.Call("PATCH", currencies+"/GBP", admin, map[string]any{"is_active": false}).WantRefused(409, "CURRENCY_IN_USE")
		s.Call("DELETE", currencies+"/gbp", admin, nil).WantRefused(409, "CURRENCY_IN_USE")
		s.Call("PATCH", currencies+"/GBP", admin, map[string]any{"name": "Sterling", "is_active": true}).Want(200).WantAt("data.is_active", true)
		s.Call("PATCH", currencies+"/USD", admin, map[string]any{"is_active": false}).Want(200)
	}, func(s *settings.Settings) { s.BaseCurrency = "GBP" })
}
