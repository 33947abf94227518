package pack_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// packBody returns the body of a valid pack with changes.
func packBody(changes ...object) object {
	return apptest.WithChanges(object{
		"slug": "calls", "name": object{"en": "1,000 API calls", "fr": "1 000 appels"}, "feature_code": "api-calls", "amount": 1000,
		"prices": []any{apptest.Price("USD", 5200), apptest.Price("EUR", 4900)},
	}, changes...)
}

// The admin resource, the public resource, the changes and the audit trail.
func TestPacks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		made := k.AdminCall("POST", "/packs", packBody(object{"description": object{"en": "For peaks"}, "expires_after_days": 365, "amount": 0.000001})).Want(201)
		made.WantAt("data.slug", "calls").WantAt("data.translations", object{
			"en": object{"name": "1,000 API calls", "description": "For peaks"}, "fr": object{"name": "1 000 appels", "description": nil},
		}).WantAt("data.feature_code", "api-calls").WantAt("data.amount", 0.000001).WantAt("data.expires_after_days", 365.0).WantAt("data.is_active", true).
			WantAt("data.prices.0.currency", "EUR").WantAt("data.prices.0.price_cents", 4900.0).WantAt("data.prices.1.currency", "USD")
		id, euro := made.Str("data.id"), made.Str("data.prices.0.id")
		k.AdminCall("GET", "/packs/"+id, nil).Want(200).WantAt("data", made.At("data"))
		k.AdminCall("GET", "/packs?per_page=1&filter[feature_code]=api-calls&filter[search]=appels&sort=created_at", nil).Want(200).
			WantAt("data.0.id", id).WantAt("meta.total", 1.0)
		k.AdminCall("GET", "/packs?filter[is_active]=false", nil).Want(200).WantAt("meta.total", 0.0)

		public := s.Call("GET", "/api/v1/catalog/packs", "", nil).Want(200)
		public.WantAt("data", []any{object{
			"id": id, "slug": "calls", "name": "1,000 API calls", "description": "For peaks", "feature_code": "api-calls", "amount": 0.000001,
			"expires_after_days": 365.0, "prices": made.At("data.prices"),
		}})
		if got := public.Header.Get("Cache-Control"); got != "public, max-age=60" {
			t.Errorf("Cache-Control %q", got)
		}
		r := s.NewRequest("GET", "/api/v1/catalog/packs", "", nil)
		r.Header.Set("Accept-Language", "fr")
		s.Do(r).Want(200).WantAt("data.0.name", "1 000 appels").WantAt("data.0.description", "For peaks")
		k.AdminCall("PATCH", "/currencies/USD", object{"is_active": false}).Want(200)
		if got, _ := s.Call("GET", "/api/v1/catalog/packs", "", nil).At("data.0.prices").([]any); len(got) != 1 {
			t.Errorf("prices in inactive currencies: %v", got)
		}

		// A change of one field leaves the others; prices are replaced as a set.
		k.AdminCall("PATCH", "/packs/"+id, object{"amount": 2.5, "expires_after_days": nil, "description": nil, "name": object{"fr": nil, "en": "Calls"}}).Want(200).
			WantAt("data.amount", 2.5).WantAt("data.expires_after_days", nil).WantAt("data.translations", object{"en": object{"name": "Calls", "description": nil}})
		changed := k.AdminCall("PATCH", "/packs/"+id, object{"prices": []any{apptest.Price("GBP", 1), apptest.Price("EUR", 5000)}}).Want(200)
		changed.WantAt("data.prices.0.id", euro).WantAt("data.prices.0.price_cents", 5000.0).WantAt("data.prices.1.currency", "GBP").WantAt("data.slug", "calls")
		k.AdminCall("PATCH", "/packs/"+id, object{"is_active": false}).Want(200)
		s.Call("GET", "/api/v1/catalog/packs", "", nil).Want(200).WantAt("data", []any{})

		k.AdminCall("POST", "/packs", packBody()).WantInvalid("slug")
		k.AdminCall("DELETE", "/packs/"+id, nil).Want(204)
		k.AdminCall("DELETE", "/packs/"+id, nil).WantRefused(404, "")
		k.AdminCall("GET", "/packs/"+id, nil).WantRefused(404, "")
		k.AdminCall("PATCH", "/packs/"+id, object{"slug": 7}).WantRefused(404, "")
		if again := k.AdminCall("POST", "/packs", packBody()).Want(201).Str("data.id"); again == id {
			t.Error("the deleted pack came back")
		}
		for _, action := range []string{"pack.created", "pack.updated", "pack.deleted"} {
			entry := k.AdminCall("GET", "/audit-logs?filter[action]="+action, nil).Want(200)
			if entry.At("data.0.resource") != "pack" {
				t.Errorf("%s is not recorded: %s", action, entry.Text)
			}
		}
	})
}

// Invalid packs are refused with all fields, and nothing changes.
func TestPackRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		k.AdminCall("POST", "/currencies", object{"code": "KWD", "name": "Dinar", "symbol": "KD", "minor_units": 3}).Want(201)
		k.AdminCall("POST", "/meters", object{
			"code": "peak", "name": "Peak", "aggregation_type": "max", "reset_interval": "monthly", "quota_enforcement": "soft",
		}).Want(201)
		for fields, change := range map[string]object{
			"slug":                        {"slug": "a b"},
			"name":                        {"name": nil},
			"name.en":                     {"name": object{"fr": "Appels"}},
			"description.en":              {"description": object{"fr": "Appels"}},
			"feature_code":                {"feature_code": "nope"},
			"feature_code 2":              {"feature_code": "peak"},
			"feature_code 3":              {"feature_code": "sso"},
			"amount":                      {"amount": 0},
			"amount 2":                    {"amount": 1.0000001},
			"amount 3":                    {"amount": 1e13},
			"expires_after_days":          {"expires_after_days": 0},
			"expires_after_days amount":   {"expires_after_days": 1.5, "amount": "many"},
			"prices":                      {"prices": []any{}},
			"prices 2":                    {"prices": nil},
			"prices.0.price_cents":        {"prices": []any{apptest.Price("EUR", 0)}},
			"prices.1.currency":           {"prices": []any{apptest.Price("EUR", 1), apptest.Price("EUR", 2)}},
			"prices.0.currency slug":      {"slug": "", "prices": []any{apptest.Price("XYZ", 100)}},
			"prices.0.price_cents in KWD": {"prices": []any{apptest.Price("KWD", 1005)}},
		} {
			fields, _, _ := strings.Cut(fields, " in ")
			k.AdminCall("POST", "/packs", packBody(change)).As(fields).WantInvalid(strings.Fields(strings.TrimRight(fields, " 23"))...)
		}
		k.AdminCall("GET", "/packs", nil).WantAt("meta.total", 0.0)
		pack := "/packs/" + k.AdminCall("POST", "/packs", packBody()).Want(201).Str("data.id")
		k.AdminCall("PATCH", pack, object{"feature_code": "peak", "amount": -1, "prices": []any{apptest.Price("EUR", 10), apptest.Price("EUR", 20)}}).
			WantInvalid("feature_code", "amount", "prices.1.currency")
		k.AdminCall("PATCH", pack, object{"name": object{"en": nil}}).WantInvalid("name.en")
	})
}

// While a pack sells a meter's units, the meter cannot be deleted, its code cannot change, and its
// aggregation must remain sum or count.
func TestMeterOfAPack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		meter := "/meters/" + k.AdminCall("GET", "/meters?filter[code]=api-calls", nil).Want(200).Str("data.0.id")
		pack := "/packs/" + k.AdminCall("POST", "/packs", packBody(object{"is_active": false})).Want(201).Str("data.id")
		k.AdminCall("DELETE", meter, nil).WantRefused(409, "CATALOG_IN_USE")
		k.AdminCall("PATCH", meter, object{"code": "calls"}).WantRefused(409, "CATALOG_IN_USE")
		k.AdminCall("PATCH", meter, object{"aggregation_type": "max"}).WantRefused(409, "CATALOG_IN_USE")
		k.AdminCall("PATCH", meter, object{"aggregation_type": "count", "name": "Calls"}).Want(200)
		k.AdminCall("DELETE", "/currencies/EUR", nil).WantRefused(409, "CURRENCY_IN_USE")
		k.AdminCall("DELETE", pack, nil).Want(204)
		k.AdminCall("PATCH", meter, object{"aggregation_type": "max"}).Want(200)
		k.AdminCall("DELETE", meter, nil).Want(204)
	})
}
