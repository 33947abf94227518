package blackbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

const adminMeters = "/api/v1/admin/meters"

func meterPrice(currency string, cents any, psp any) map[string]any {
	return map[string]any{"currency": currency, "unit_price_cents": cents, "psp_price_id": psp}
}

var newMeter = map[string]any{
	"code": "emails", "name": "E-mails sent", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "soft",
}

func TestAdminMeters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		inEuros, inDollars := s.NewMeteredPrice("eur", "12.5"), s.NewMeteredPrice("usd", "2")
		body := apptest.WithChanges(newMeter, apptest.Object{"unit_label": "mails"})
		body["prices"] = []any{meterPrice("USD", 0.000000000001, nil), meterPrice("EUR", 12.5, inEuros)}
		made := s.Call("POST", adminMeters, admin, body).Want(201)
		id := made.Str("data.id")
		s.Run(t, "a meter is shown with its exact prices", func(t *testing.T, s *apptest.Server) { showMeter(t, s, admin, made, inEuros) })
		s.Run(t, "a new set of prices keeps the IDs of prices that stay", func(t *testing.T, s *apptest.Server) { replaceMeterPrices(t, s, admin, made, inDollars) })
		s.Run(t, "a price keeps its link until its amount changes", func(t *testing.T, s *apptest.Server) { keepMeterLink(t, s, admin, id, inDollars) })
		s.Run(t, "absent fields stay, and null clears a field", func(t *testing.T, s *apptest.Server) { updateMeter(t, s, admin, id) })
		s.Run(t, "the code of a deleted meter is available again", func(t *testing.T, s *apptest.Server) { deleteMeter(t, s, admin, id) })
	})
}

func showMeter(t *testing.T, s *apptest.Server, admin string, made apptest.Reply, inEuros string) {
	id := made.Str("data.id")
	want := map[string]any{
		"id": id, "code": "emails", "name": "E-mails sent", "aggregation_type": "sum", "reset_interval": "monthly",
		"quota_enforcement": "soft", "unit_label": "mails", "is_active": true, "is_billable": true,
		"prices": []any{
			map[string]any{"id": made.At("data.prices.0.id"), "currency": "EUR", "unit_price_cents": 12.5, "psp_price_id": inEuros},
			map[string]any{"id": made.At("data.prices.1.id"), "currency": "USD", "unit_price_cents": 0.000000000001, "psp_price_id": nil},
		},
		"created_at": made.At("data.created_at"), "updated_at": made.At("data.created_at"),
	}
	shown := s.Call("GET", adminMeters+"/"+id, admin, nil).Want(200)
	for _, a := range []apptest.Reply{made, shown} {
		if diff := cmp.Diff(want, a.At("data")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if !strings.Contains(shown.Text, `"unit_price_cents":0.000000000001,`) {
		t.Errorf("the price is not exact: %s", shown.Text)
	}
}

// A new set of prices keeps the IDs of prices that stay and removes the others.
func replaceMeterPrices(t *testing.T, s *apptest.Server, admin string, made apptest.Reply, inDollars string) {
	id := made.Str("data.id")
	a := s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{
		"prices": []any{meterPrice("GBP", 3, nil), meterPrice("USD", 2, inDollars)},
	}).Want(200)
	if a.At("data.prices.1.id") != made.At("data.prices.1.id") || a.At("data.prices.0.currency") != "GBP" || a.At("data.prices.2") != nil {
		t.Errorf("after a new set: %s", a.Text)
	}
	a = s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{"prices": []any{meterPrice("USD", 2, nil)}}).Want(200)
	if a.At("data.is_billable") != false || a.At("data.prices.1") != nil {
		t.Errorf("without a link: %s", a.Text)
	}
}

// If a request does not contain the link, a price keeps its link until its amount changes.
func keepMeterLink(t *testing.T, s *apptest.Server, admin, id, inDollars string) {
	for cents, want := range map[any]any{2: inDollars, 3: nil} {
		s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{"prices": []any{meterPrice("USD", 2, inDollars)}}).Want(200)
		a := s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{
			"prices": []any{map[string]any{"currency": "USD", "unit_price_cents": cents}},
		}).Want(200)
		if a.At("data.prices.0.psp_price_id") != want || a.At("data.is_billable") != (want != nil) {
			t.Errorf("an amount of %v after 2: %s", cents, a.Text)
		}
	}
}

func updateMeter(t *testing.T, s *apptest.Server, admin, id string) {
	a := s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{}).Want(200)
	if a.At("data.unit_label") != "mails" || a.At("data.prices.0.currency") != "USD" || a.At("data.name") != "E-mails sent" {
		t.Errorf("after an empty change: %s", a.Text)
	}
	a = s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{
		"code": "mails", "name": "Mails", "aggregation_type": "max", "reset_interval": "none", "quota_enforcement": "hard",
		"unit_label": nil, "is_active": false, "prices": []any{},
	}).Want(200)
	for key, value := range map[string]any{
		"code": "mails", "name": "Mails", "aggregation_type": "max", "reset_interval": "none", "quota_enforcement": "hard",
		"unit_label": nil, "is_active": false,
	} {
		if a.At("data."+key) != value {
			t.Errorf("%s is %v, want %v", key, a.At("data."+key), value)
		}
	}
	if diff := cmp.Diff([]any{}, a.At("data.prices")); diff != "" {
		t.Errorf("prices: %s", diff)
	}
}

// A deleted meter is not found, and its code is available again.
func deleteMeter(t *testing.T, s *apptest.Server, admin, id string) {
	s.Call("DELETE", adminMeters+"/"+id, admin, nil).Want(204)
	for method, body := range map[string]any{"GET": nil, "PATCH": map[string]any{"name": 5}, "DELETE": nil} {
		s.Call(method, adminMeters+"/"+id, admin, body).Want(404)
		s.Call(method, adminMeters+"/mails", admin, body).Want(404)
	}
	s.Call("POST", adminMeters, admin, apptest.WithChanges(newMeter, apptest.Object{"code": "mails"})).Want(201)

	done := s.AuditLog(url.Values{"sort": {"created_at"}, "filter[action]": {"meter.updated"}}).Actions()
	if len(done) != 8 {
		t.Errorf("changes in the audit log: %v", done)
	}
	gone := s.AuditLog(url.Values{"filter[action]": {"meter.deleted"}}).Want(200)
	if gone.At("data.0.resource_id") != id || gone.At("data.0.before.code") != "mails" || gone.At("data.0.after") != nil {
		t.Errorf("the deletion in the audit log: %s", gone.Text)
	}
}

func TestAdminMeterRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		id := s.Call("POST", adminMeters, admin, newMeter).Want(201).Str("data.id")
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
			"currency unknown":       {"prices", []any{meterPrice("EUR", 1, nil), meterPrice("JPY", 1, nil)}, "prices.1.currency"},
			"currency twice":         {"prices", []any{meterPrice("EUR", 1, nil), meterPrice("EUR", 2, nil)}, "prices.1.currency"},
			"psp form":               {"prices", []any{meterPrice("EUR", 1, "prod_1")}, "prices.0.psp_price_id"},
			"psp twice":              {"prices", []any{meterPrice("EUR", 1, "price_1"), meterPrice("USD", 1, "price_1")}, "prices.1.psp_price_id"},
			"price negative":         {"prices", []any{meterPrice("EUR", -0.1, nil)}, "prices.0.unit_price_cents"},
			"price text":             {"prices", []any{meterPrice("EUR", "1", nil)}, "prices.0.unit_price_cents"},
			"price null":             {"prices", []any{meterPrice("EUR", nil, nil)}, "prices.0.unit_price_cents"},
			"price large":            {"prices", []any{meterPrice("EUR", 1000000000001, nil)}, "prices.0.unit_price_cents"},
		} {
			s.Call("POST", adminMeters, admin, apptest.WithChanges(apptest.WithChanges(newMeter, apptest.Object{"code": "other"}), apptest.Object{tt.key: tt.value})).As("POST " + name).WantInvalid(tt.field)
			s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{tt.key: tt.value}).As("PATCH " + name).WantInvalid(tt.field)
		}
		for _, key := range []string{"code", "name", "aggregation_type", "reset_interval", "quota_enforcement"} {
			body := apptest.WithChanges(newMeter, apptest.Object{"code": "other"})
			delete(body, key)
			s.Call("POST", adminMeters, admin, body).As("without " + key).WantInvalid(key)
		}
		// Amounts are exact beyond the precision of a float.
		for _, cents := range []string{"0.0000000000001", "1000000000000.000000000001"} {
			s.Call("PATCH", adminMeters+"/"+id, admin, `{"prices":[{"currency":"EUR","unit_price_cents":`+cents+`}]}`).
				As(cents).WantInvalid("prices.0.unit_price_cents")
		}
		for _, cents := range []string{"1000000000000", "999999999999.999999999999", "0"} {
			a := s.Call("PATCH", adminMeters+"/"+id, admin, `{"prices":[{"currency":"EUR","unit_price_cents":`+cents+`}]}`).Want(200)
			if !strings.Contains(a.Text, `"unit_price_cents":`+cents+`,`) {
				t.Errorf("%s is %s", cents, a.Text)
			}
		}
		// A billed maximum must have a reset interval.
		linked := map[string]any{"prices": []any{meterPrice("EUR", 1, s.NewMeteredPrice("eur", "1"))}}
		peak := s.Call("POST", adminMeters, admin, map[string]any{
			"code": "peak", "name": "Peak", "aggregation_type": "max", "reset_interval": "none", "quota_enforcement": "none",
		}).Want(201).Str("data.id")
		s.Call("PATCH", adminMeters+"/"+peak, admin, linked).As("linked").WantInvalid("reset_interval")
		s.Call("PATCH", adminMeters+"/"+peak, admin, apptest.WithChanges(linked, apptest.Object{"reset_interval": "daily"})).Want(200)
		s.Call("PATCH", adminMeters+"/"+peak, admin, map[string]any{"reset_interval": "none"}).As("never resets").WantInvalid("reset_interval")
		s.Call("PATCH", adminMeters+"/"+peak, admin, map[string]any{"reset_interval": "none", "aggregation_type": "last_value"}).Want(200)
		s.Call("PATCH", adminMeters+"/"+peak, admin, map[string]any{"aggregation_type": "max"}).As("a maximum").WantInvalid("reset_interval")
		s.Call("POST", adminMeters, admin, apptest.WithChanges(apptest.WithChanges(apptest.WithChanges(apptest.WithChanges(newMeter, apptest.Object{"code": "other"}), apptest.Object{"aggregation_type": "max"}), apptest.Object{"reset_interval": "none"}), apptest.Object{"prices": linked["prices"]})).
			As("from the start").WantInvalid("reset_interval", "prices.0.psp_price_id")

		// The maximum lengths are accepted, and so is the meter's own code.
		s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{"code": long[:255], "name": long[:255], "unit_label": long[:255]}).Want(200)
		s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{"code": long[:255]}).Want(200)
		s.Call("PATCH", adminMeters+"/x", admin, `{`).Want(404)
	})
}

func TestAdminMeterList(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		for _, code := range []string{"b-2", "B_1", "a"} {
			s.Call("POST", adminMeters, admin, apptest.WithChanges(apptest.WithChanges(newMeter, apptest.Object{"code": code}), apptest.Object{"name": "Meter 100% " + code})).Want(201)
		}
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "1m"}).Want(200)
		off := s.Call("POST", adminMeters, admin, apptest.WithChanges(apptest.WithChanges(newMeter, apptest.Object{"code": "off"}), apptest.Object{"is_active": false})).Want(201)
		gone := s.Call("POST", adminMeters, admin, apptest.WithChanges(newMeter, apptest.Object{"code": "gone"})).Want(201).Str("data.id")
		s.Call("DELETE", adminMeters+"/"+gone, admin, nil).Want(204)

		for query, want := range map[string][]string{
			"":                            {"B_1", "a", "api-calls", "b-2", "off", "storage-gb"}, // in byte order
			"sort=-code":                  {"storage-gb", "off", "b-2", "api-calls", "a", "B_1"},
			"filter[code]=B_1":            {"B_1"},
			"filter[code]=b_1":            {},
			"filter[name]=METER 100%25":   {"B_1", "a", "b-2"},
			"filter[search]=API":          {"api-calls"},
			"filter[search]=100_":         {},
			"filter[is_active]=false":     {"off"},
			"filter[created_before]=2020": nil,
			"per_page=2&page=2":           {"api-calls", "b-2"},
			"filter[created_after]=" + url.QueryEscape(off.Str("data.created_at")): {"off"},
		} {
			if want == nil {
				s.Call("GET", adminMeters+"?"+query, admin, nil).Want(422)
				continue
			}
			a := s.Call("GET", adminMeters+"?"+strings.ReplaceAll(query, " ", "%20"), admin, nil).Want(200)
			got := []string{}
			list, _ := a.At("data").([]any)
			for _, m := range list {
				got = append(got, m.(map[string]any)["code"].(string))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", query, diff)
			}
		}
		a := s.Call("GET", adminMeters+"?per_page=4", admin, nil).Want(200)
		if a.At("meta.total") != 6.0 || a.At("meta.last_page") != 2.0 || a.At("links.next") == nil {
			t.Errorf("a page: %s", a.Text)
		}
		for _, query := range []string{"filter[unit]=x", "sort=name", "include=prices"} {
			s.Call("GET", adminMeters+"?"+query, admin, nil).Want(http.StatusBadRequest)
		}
	})
}

// A change of a meter applies to the next request, whatever was counted before.
func TestAdminMeterChangesApplyImmediately(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin, ada := s.Admin(), s.Register("ada@example.com", true)
		id := s.Call("POST", adminMeters, admin, newMeter).Want(201).Str("data.id")
		usage := ada.Path("/usage")
		record := func(status int, quantity float64) {
			t.Helper()
			s.Call("POST", usage, ada.Token, map[string]any{"meter_code": "emails", "quantity": quantity}).Want(status)
		}
		shows := func(want float64) {
			t.Helper()
			if got := s.Call("GET", usage+"/emails", ada.Token, nil).Want(200).At("data.current_usage"); got != want {
				t.Errorf("shows %v, want %v", got, want)
			}
		}
		change := func(key string, value any) {
			t.Helper()
			s.Call("PATCH", adminMeters+"/"+id, admin, map[string]any{key: value}).Want(200)
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
		s.Call("DELETE", adminMeters+"/"+id, admin, nil).Want(204)
		record(404, 1)
		s.Call("GET", usage+"/emails", ada.Token, nil).Want(404)
		// A new meter with the same code starts at zero.
		s.Call("POST", adminMeters, admin, newMeter).Want(201)
		shows(0)
		record(201, 3)
		shows(3)
	})
}

// A price of the provider belongs to one meter. If it were linked to two meters, it would bill the
// usage of both. If two concurrent requests link the same price, one of them is rejected.
func TestOneMeterAPrice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		code := func(code string) apptest.Object { return apptest.WithChanges(newMeter, apptest.Object{"code": code}) }
		linked := func(id string) apptest.Object {
			return apptest.Object{"prices": []any{meterPrice("USD", 3, nil), meterPrice("EUR", 5, id)}}
		}
		first := s.NewMeteredPrice("eur", "5")
		one := s.Call("POST", adminMeters, admin, apptest.WithChanges(code("one"), linked(first))).Want(201).Str("data.id")
		s.Call("POST", adminMeters, admin, apptest.WithChanges(code("two"), linked(first))).WantInvalid("prices.1.psp_price_id")
		two := s.Call("POST", adminMeters, admin, code("two")).Want(201).Str("data.id")
		s.Call("PATCH", adminMeters+"/"+two, admin, linked(first)).WantInvalid("prices.1.psp_price_id")
		s.Call("PATCH", adminMeters+"/"+one, admin, linked(first)).Want(200)
		for range 5 {
			price := s.NewMeteredPrice("eur", "5")
			statuses := make([]int, 2)
			var both sync.WaitGroup
			for i, id := range []string{one, two} {
				both.Go(func() { statuses[i] = s.Call("PATCH", adminMeters+"/"+id, admin, linked(price)).Status })
			}
			both.Wait()
			slices.Sort(statuses)
			if !slices.Equal(statuses, []int{200, 422}) {
				t.Errorf("at the same time: %v", statuses)
			}
		}
		s.Call("PATCH", adminMeters+"/"+one, admin, linked(first)).Want(200)
		s.Call("DELETE", adminMeters+"/"+one, admin, nil).Want(204)
		s.Call("PATCH", adminMeters+"/"+two, admin, linked(first)).Want(200)
	})
}
