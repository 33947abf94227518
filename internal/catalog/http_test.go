package catalog_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// shop is a catalog with one record of every kind, and with records that are not public.
const shop = `
features:
  - {code: sso, name: {en: Single sign-on, fr: Authentification unique}, description: {en: Log in once}}
  - {code: beta, name: {en: Beta}, is_active: false}
products:
  - slug: main
    name: {en: Main, fr: Principal}
    description: {en: Our product, it: Il nostro prodotto}
    plans:
      - {slug: last, name: {en: Last}, pricing_type: usage, billing_cycle: quarterly, sort_order: 9}
      - slug: first
        name: {en: First, es: Primero}
        description: {en: The first}
        pricing_type: seat
        billing_cycle: yearly
        trial_days: 14
        sort_order: 1
        prices: {USD: 1100, EUR: 1000}
        entitlements: {sso: true, team-members: 5, beta: true}
      - {slug: hidden, name: {en: Hidden}, pricing_type: flat, billing_cycle: weekly, is_active: false}
  - slug: retired
    name: {en: Retired}
    is_active: false
    plans:
      - {slug: orphan, name: {en: Orphan}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 1}}
`

func TestPublicShapes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		s.apply(t, shop)
		exec(t, db, "UPDATE plans SET metadata = '{\"badge\":\"new\"}' WHERE slug = 'first'")
		golden(t, "products", body(t, s.get(t, "/api/v1/catalog/products"), 200))
		golden(t, "plans", body(t, s.get(t, "/api/v1/catalog/plans"), 200))
		golden(t, "features", body(t, s.get(t, "/api/v1/catalog/features"), 200))
		golden(t, "currencies", body(t, s.get(t, "/api/v1/currencies"), 200))
	})
}

func TestNewDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		for path, want := range map[string]string{
			"/api/v1/catalog/products":          `{"data":[]}` + "\n",
			"/api/v1/catalog/plans":             `{"data":[]}` + "\n",
			"/api/v1/catalog/plans?currency=":   `{"data":[]}` + "\n",
			"/api/v1/catalog/plans?currency=XX": "",
		} {
			status := http.StatusOK
			if want == "" {
				status = http.StatusUnprocessableEntity
			}
			if got := body(t, s.get(t, path), status); want != "" && got != want {
				t.Errorf("%s = %s, want %s", path, got, want)
			}
		}
		features := data(t, body(t, s.get(t, "/api/v1/catalog/features"), 200))
		if diff := cmp.Diff([]any{"team-members"}, column(features, "code")); diff != "" {
			t.Error(diff)
		}
	})
}

// An inactive record disappears together with its dependent records.
func TestOnlyActive(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for name, tt := range map[string]struct {
			change string
			path   string
			field  string
			want   []any
		}{
			"a plan":            {"UPDATE plans SET is_active = false WHERE slug = 'first'", "/catalog/plans", "slug", []any{"last"}},
			"a product":         {"UPDATE products SET is_active = false WHERE slug = 'main'", "/catalog/products", "slug", []any{}},
			"a product's plans": {"UPDATE products SET is_active = false WHERE slug = 'main'", "/catalog/plans", "slug", []any{}},
			"a feature":         {"UPDATE features SET is_active = false WHERE code = 'sso'", "/catalog/features", "code", []any{"team-members"}},
			"a currency":        {"UPDATE currencies SET is_active = false WHERE code = 'USD'", "/currencies", "code", []any{"EUR", "GBP"}},
			"a deleted plan":    {"UPDATE plans SET deleted_at = created_at WHERE slug = 'first'", "/catalog/plans", "slug", []any{"last"}},
			"a deleted feature": {"UPDATE features SET deleted_at = created_at WHERE code = 'sso'", "/catalog/features", "code", []any{"team-members"}},
			"a deleted product": {"UPDATE products SET deleted_at = created_at WHERE slug = 'main'", "/catalog/products", "slug", []any{}},
		} {
			s := newServer(t, db)
			s.apply(t, shop)
			exec(t, db, tt.change)
			got := column(data(t, body(t, s.get(t, "/api/v1"+tt.path), 200)), tt.field)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			exec(t, db, "UPDATE plans SET deleted_at = NULL, is_active = slug <> 'hidden'")
			exec(t, db, "UPDATE products SET deleted_at = NULL, is_active = slug <> 'retired'")
			exec(t, db, "UPDATE features SET deleted_at = NULL, is_active = code <> 'beta'")
			exec(t, db, "UPDATE currencies SET is_active = true")
		}

		exec(t, db, "UPDATE features SET is_active = false WHERE code = 'sso'")
		exec(t, db, "UPDATE currencies SET is_active = false WHERE code = 'USD'")
		plan := data(t, body(t, newServer(t, db).get(t, "/api/v1/catalog/plans"), 200))[0]
		if prices := plan["prices"].([]any); len(prices) != 1 || prices[0].(record)["currency"] != "EUR" {
			t.Errorf("prices = %v, want the one in an active currency", prices)
		}
		if got := plan["entitlements"].([]any); len(got) != 1 {
			t.Errorf("entitlements = %v, want the one to an active feature", got)
		}
	})
}

func TestCurrencyFilter(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		s.apply(t, shop)
		for currency, want := range map[string][]any{
			"EUR":                {1000.0},
			"usd":                {1100.0},
			"GBP":                {}, // a currency without prices
			"QQQ":                {}, // an unknown currency
			"%C3%A9%C3%A9%C3%A9": {},
		} {
			plans := data(t, body(t, s.get(t, "/api/v1/catalog/plans?currency="+currency), 200))
			if diff := cmp.Diff([]any{"first", "last"}, column(plans, "slug")); diff != "" {
				t.Errorf("%s: a plan without such a price must stay: %s", currency, diff)
			}
			var got []any
			for _, price := range plans[0]["prices"].([]any) {
				got = append(got, price.(record)["price_cents"])
			}
			if len(got) != len(want) || len(got) == 1 && got[0] != want[0] {
				t.Errorf("%s: prices = %v, want %v", currency, got, want)
			}
		}
		for _, bad := range []string{"EU", "EURO"} {
			body(t, s.get(t, "/api/v1/catalog/plans?currency="+bad), http.StatusUnprocessableEntity)
		}
	})
}

func TestLocale(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		s.apply(t, shop)
		for accept, want := range map[string]struct{ product, description, plan, feature string }{
			"":                {"Main", "Our product", "First", "Single sign-on"},
			"fr-CA, en;q=0.5": {"Principal", "Our product", "First", "Authentification unique"},
			"es":              {"Main", "Our product", "Primero", "Single sign-on"},
			"it;q=0.9, de":    {"Main", "Il nostro prodotto", "First", "Single sign-on"},
			"de":              {"Main", "Our product", "First", "Single sign-on"},
			"en, fr;q=0.9":    {"Main", "Our product", "First", "Single sign-on"},
		} {
			product := data(t, body(t, s.get(t, "/api/v1/catalog/products", "Accept-Language", accept), 200))[0]
			plan := data(t, body(t, s.get(t, "/api/v1/catalog/plans", "Accept-Language", accept), 200))[0]
			feature := data(t, body(t, s.get(t, "/api/v1/catalog/features", "Accept-Language", accept), 200))[0]
			got := []any{product["name"], product["description"], plan["name"], feature["name"]}
			if diff := cmp.Diff([]any{want.product, want.description, want.plan, want.feature}, got); diff != "" {
				t.Errorf("%q: %s", accept, diff)
			}
		}
	})
}
