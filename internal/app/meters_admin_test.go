package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const adminMeters = "/api/v1/admin/meters"

// withKey is a body with some keys set otherwise.
func withKey(body map[string]any, key string, value any) map[string]any {
	changed := map[string]any{key: value}
	for k, v := range body {
		if k != key {
			changed[k] = v
		}
	}
	return changed
}

func meterPrice(currency string, cents any, psp any) map[string]any {
	return map[string]any{"currency": currency, "unit_price_cents": cents, "psp_price_id": psp}
}

var newMeter = map[string]any{
	"code": "emails", "name": "E-mails sent", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "soft",
}

// mustBreak holds that a request is refused for exactly one field.
func (a reply) mustBreak(t *testing.T, what, field string) {
	t.Helper()
	errs, _ := a.at("errors").(map[string]any)
	if a.status != 422 || errs[field] == nil || len(errs) != 1 {
		t.Errorf("%s: %d %s, want 422 on %s", what, a.status, a.text, field)
	}
}

func TestAdminMeters(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		body := withKey(newMeter, "unit_label", "mails")
		body["prices"] = []any{meterPrice("USD", 0.000000000001, nil), meterPrice("EUR", 12.5, "price_abc")}
		made := s.call("POST", adminMeters, admin, body).want(201)
		id := made.str("data.id")
		want := map[string]any{
			"id": id, "code": "emails", "name": "E-mails sent", "aggregation_type": "sum", "reset_interval": "monthly",
			"quota_enforcement": "soft", "unit_label": "mails", "is_active": true, "is_billable": true,
			"prices": []any{
				map[string]any{"id": made.at("data.prices.0.id"), "currency": "EUR", "unit_price_cents": 12.5, "psp_price_id": "price_abc"},
				map[string]any{"id": made.at("data.prices.1.id"), "currency": "USD", "unit_price_cents": 0.000000000001, "psp_price_id": nil},
			},
			"created_at": made.at("data.created_at"), "updated_at": made.at("data.created_at"),
		}
		shown := s.call("GET", adminMeters+"/"+id, admin, nil).want(200)
		for _, a := range []reply{made, shown} {
			if diff := cmp.Diff(want, a.at("data")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
		if !strings.Contains(shown.text, `"unit_price_cents":0.000000000001,`) {
			t.Errorf("the price is not exact: %s", shown.text)
		}

		// Prices are a set: what stays keeps its id, what is gone is gone.
		a := s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{
			"prices": []any{meterPrice("GBP", 3, nil), meterPrice("USD", 2, "price_abc")},
		}).want(200)
		if a.at("data.prices.1.id") != made.at("data.prices.1.id") || a.at("data.prices.0.currency") != "GBP" || a.at("data.prices.2") != nil {
			t.Errorf("after a new set: %s", a.text)
		}
		a = s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{"prices": []any{meterPrice("USD", 2, nil)}}).want(200)
		if a.at("data.is_billable") != false || a.at("data.prices.1") != nil {
			t.Errorf("without a link: %s", a.text)
		}

		// Without a word on it a price keeps its link for as long as its amount stays.
		for cents, want := range map[any]any{2: "price_usd", 3: nil} {
			s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{"prices": []any{meterPrice("USD", 2, "price_usd")}}).want(200)
			a = s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{
				"prices": []any{map[string]any{"currency": "USD", "unit_price_cents": cents}},
			}).want(200)
			if a.at("data.prices.0.psp_price_id") != want || a.at("data.is_billable") != (want != nil) {
				t.Errorf("an amount of %v after 2: %s", cents, a.text)
			}
		}

		// What is absent stays; null clears what can be null.
		a = s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{}).want(200)
		if a.at("data.unit_label") != "mails" || a.at("data.prices.0.currency") != "USD" || a.at("data.name") != "E-mails sent" {
			t.Errorf("after a change of nothing: %s", a.text)
		}
		a = s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{
			"code": "mails", "name": "Mails", "aggregation_type": "max", "reset_interval": "none", "quota_enforcement": "hard",
			"unit_label": nil, "is_active": false, "prices": []any{},
		}).want(200)
		for key, value := range map[string]any{
			"code": "mails", "name": "Mails", "aggregation_type": "max", "reset_interval": "none", "quota_enforcement": "hard",
			"unit_label": nil, "is_active": false,
		} {
			if a.at("data."+key) != value {
				t.Errorf("%s is %v, want %v", key, a.at("data."+key), value)
			}
		}
		if diff := cmp.Diff([]any{}, a.at("data.prices")); diff != "" {
			t.Errorf("prices: %s", diff)
		}

		// A deleted meter is nowhere, and its code is free.
		s.call("DELETE", adminMeters+"/"+id, admin, nil).want(204)
		for method, body := range map[string]any{"GET": nil, "PATCH": map[string]any{"name": 5}, "DELETE": nil} {
			s.call(method, adminMeters+"/"+id, admin, body).want(404)
			s.call(method, adminMeters+"/mails", admin, body).want(404)
		}
		s.call("POST", adminMeters, admin, withKey(newMeter, "code", "mails")).want(201)

		done := s.trail(url.Values{"sort": {"created_at"}, "filter[action]": {"meter.updated"}}).done()
		if len(done) != 8 {
			t.Errorf("changes in the trail: %v", done)
		}
		gone := s.trail(url.Values{"filter[action]": {"meter.deleted"}}).want(200)
		if gone.at("data.0.resource_id") != id || gone.at("data.0.before.code") != "mails" || gone.at("data.0.after") != nil {
			t.Errorf("the deletion in the trail: %s", gone.text)
		}
	})
}

func TestAdminMeterRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		id := s.call("POST", adminMeters, admin, newMeter).want(201).str("data.id")
		long := strings.Repeat("x", 256)
		for name, tt := range map[string]struct {
			key   string
			value any
			field string
		}{
			"code null": {"code", nil, "code"}, "code empty": {"code", " ", "code"}, "code long": {"code", long, "code"},
			"code space": {"code", "a b", "code"}, "code accent": {"code", "é", "code"}, "code taken": {"code", "api-calls", "code"},
			"name null": {"name", nil, "name"}, "name empty": {"name", "", "name"}, "name long": {"name", long, "name"},
			"name number": {"name", 1, "name"}, "name control": {"name", "a\u0000b", "name"},
			"aggregation": {"aggregation_type", "avg", "aggregation_type"}, "aggregation null": {"aggregation_type", nil, "aggregation_type"},
			"reset": {"reset_interval", "yearly", "reset_interval"}, "enforcement": {"quota_enforcement", "strict", "quota_enforcement"},
			"unit long": {"unit_label", long, "unit_label"}, "active null": {"is_active", nil, "is_active"},
			"active text": {"is_active", "true", "is_active"}, "prices null": {"prices", nil, "prices"}, "prices object": {"prices", map[string]any{}, "prices"},
			"price without currency": {"prices", []any{map[string]any{"unit_price_cents": 1}}, "prices.0.currency"},
			"price without amount":   {"prices", []any{map[string]any{"currency": "EUR"}}, "prices.0.unit_price_cents"},
			"currency lower":         {"prices", []any{meterPrice("eur", 1, nil)}, "prices.0.currency"},
			"currency unknown":       {"prices", []any{meterPrice("EUR", 1, nil), meterPrice("JPY", 1, nil)}, "prices.1.currency"},
			"currency twice":         {"prices", []any{meterPrice("EUR", 1, nil), meterPrice("EUR", 2, nil)}, "prices.1.currency"},
			"psp form":               {"prices", []any{meterPrice("EUR", 1, "prod_1")}, "prices.0.psp_price_id"},
			"psp twice":              {"prices", []any{meterPrice("EUR", 1, "price_1"), meterPrice("USD", 1, "price_1")}, "prices.1.psp_price_id"},
			"price negative":         {"prices", []any{meterPrice("EUR", -0.1, nil)}, "prices.0.unit_price_cents"},
			"price text":             {"prices", []any{meterPrice("EUR", "1", nil)}, "prices.0.unit_price_cents"},
			"price null":             {"prices", []any{meterPrice("EUR", nil, nil)}, "prices.0.unit_price_cents"},
			"price large":            {"prices", []any{meterPrice("EUR", 1000000000001, nil)}, "prices.0.unit_price_cents"},
		} {
			s.call("POST", adminMeters, admin, withKey(withKey(newMeter, "code", "other"), tt.key, tt.value)).mustBreak(t, "POST "+name, tt.field)
			s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{tt.key: tt.value}).mustBreak(t, "PATCH "+name, tt.field)
		}
		for _, key := range []string{"code", "name", "aggregation_type", "reset_interval", "quota_enforcement"} {
			body := withKey(newMeter, "code", "other")
			delete(body, key)
			s.call("POST", adminMeters, admin, body).mustBreak(t, "without "+key, key)
		}
		// What a float cannot tell apart is told apart.
		for _, cents := range []string{"0.0000000000001", "1000000000000.000000000001"} {
			s.call("PATCH", adminMeters+"/"+id, admin, `{"prices":[{"currency":"EUR","unit_price_cents":`+cents+`}]}`).
				mustBreak(t, cents, "prices.0.unit_price_cents")
		}
		for _, cents := range []string{"1000000000000", "999999999999.999999999999", "0"} {
			a := s.call("PATCH", adminMeters+"/"+id, admin, `{"prices":[{"currency":"EUR","unit_price_cents":`+cents+`}]}`).want(200)
			if !strings.Contains(a.text, `"unit_price_cents":`+cents+`,`) {
				t.Errorf("%s is %s", cents, a.text)
			}
		}
		// A maximum that is billed has periods that end.
		linked := map[string]any{"prices": []any{meterPrice("EUR", 1, "price_max")}}
		peak := s.call("POST", adminMeters, admin, map[string]any{
			"code": "peak", "name": "Peak", "aggregation_type": "max", "reset_interval": "none", "quota_enforcement": "none",
		}).want(201).str("data.id")
		s.call("PATCH", adminMeters+"/"+peak, admin, linked).mustBreak(t, "linked", "reset_interval")
		s.call("PATCH", adminMeters+"/"+peak, admin, withKey(linked, "reset_interval", "daily")).want(200)
		s.call("PATCH", adminMeters+"/"+peak, admin, map[string]any{"reset_interval": "none"}).mustBreak(t, "never resets", "reset_interval")
		s.call("PATCH", adminMeters+"/"+peak, admin, map[string]any{"reset_interval": "none", "aggregation_type": "last_value"}).want(200)
		s.call("PATCH", adminMeters+"/"+peak, admin, map[string]any{"aggregation_type": "max"}).mustBreak(t, "a maximum", "reset_interval")
		s.call("POST", adminMeters, admin, withKey(withKey(withKey(withKey(newMeter, "code", "other"), "aggregation_type", "max"), "reset_interval", "none"), "prices", linked["prices"])).
			mustBreak(t, "from the start", "reset_interval")

		// The longest are taken, and one's own code.
		s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{"code": long[:255], "name": long[:255], "unit_label": long[:255]}).want(200)
		s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{"code": long[:255]}).want(200)
		s.call("PATCH", adminMeters+"/x", admin, `{`).want(404)
	})
}

func TestAdminMeterList(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		for _, code := range []string{"b-2", "B_1", "a"} {
			s.call("POST", adminMeters, admin, withKey(withKey(newMeter, "code", code), "name", "Meter 100% "+code)).want(201)
		}
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "1m"}).want(200)
		off := s.call("POST", adminMeters, admin, withKey(withKey(newMeter, "code", "off"), "is_active", false)).want(201)
		gone := s.call("POST", adminMeters, admin, withKey(newMeter, "code", "gone")).want(201).str("data.id")
		s.call("DELETE", adminMeters+"/"+gone, admin, nil).want(204)

		for query, want := range map[string][]string{
			"":                            {"B_1", "a", "api-calls", "b-2", "off", "storage-gb"}, // in the order of bytes
			"sort=-code":                  {"storage-gb", "off", "b-2", "api-calls", "a", "B_1"},
			"filter[code]=B_1":            {"B_1"},
			"filter[code]=b_1":            {},
			"filter[name]=METER 100%25":   {"B_1", "a", "b-2"},
			"filter[search]=API":          {"api-calls"},
			"filter[search]=100_":         {},
			"filter[is_active]=false":     {"off"},
			"filter[created_before]=2020": nil,
			"per_page=2&page=2":           {"api-calls", "b-2"},
			"filter[created_after]=" + url.QueryEscape(off.str("data.created_at")): {"off"},
		} {
			if want == nil {
				s.call("GET", adminMeters+"?"+query, admin, nil).want(422)
				continue
			}
			a := s.call("GET", adminMeters+"?"+strings.ReplaceAll(query, " ", "%20"), admin, nil).want(200)
			got := []string{}
			list, _ := a.at("data").([]any)
			for _, m := range list {
				got = append(got, m.(map[string]any)["code"].(string))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", query, diff)
			}
		}
		a := s.call("GET", adminMeters+"?per_page=4", admin, nil).want(200)
		if a.at("meta.total") != 6.0 || a.at("meta.last_page") != 2.0 || a.at("links.next") == nil {
			t.Errorf("a page: %s", a.text)
		}
		for _, query := range []string{"filter[unit]=x", "sort=name", "include=prices"} {
			s.call("GET", adminMeters+"?"+query, admin, nil).want(http.StatusBadRequest)
		}
	})
}

// A change of a meter holds for the next request, whatever was counted before.
func TestAdminMeterChangesHoldAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin, ada := s.admin(), s.register("ada@example.com", true)
		id := s.call("POST", adminMeters, admin, newMeter).want(201).str("data.id")
		usage := "/api/v1/tenant/" + ada.tenant + "/usage"
		record := func(status int, quantity float64) {
			t.Helper()
			s.call("POST", usage, ada.token, map[string]any{"meter_code": "emails", "quantity": quantity}).want(status)
		}
		shows := func(want float64) {
			t.Helper()
			if got := s.call("GET", usage+"/emails", ada.token, nil).want(200).at("data.current_usage"); got != want {
				t.Errorf("shows %v, want %v", got, want)
			}
		}
		change := func(key string, value any) {
			t.Helper()
			s.call("PATCH", adminMeters+"/"+id, admin, map[string]any{key: value}).want(200)
		}
		record(201, 5)
		record(201, 2)
		shows(7)
		change("aggregation_type", "count")
		shows(2)
		record(201, 9)
		shows(3)
		change("aggregation_type", "last_value")
		shows(9)
		record(201, 4)
		shows(4)
		change("aggregation_type", "max")
		change("reset_interval", "none")
		shows(9)
		record(201, 10)
		shows(10)
		change("aggregation_type", "sum")
		change("reset_interval", "daily")
		record(201, 1)
		shows(31)

		change("is_active", false)
		record(404, 1)
		change("is_active", true)
		record(201, 1)
		s.call("DELETE", adminMeters+"/"+id, admin, nil).want(204)
		record(404, 1)
		s.call("GET", usage+"/emails", ada.token, nil).want(404)
		// Another meter of the same code begins at nothing.
		s.call("POST", adminMeters, admin, newMeter).want(201)
		shows(0)
		record(201, 3)
		shows(3)
	})
}
