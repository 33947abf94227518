package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// seed fills the tables with a large catalog of the given number of products. Each has one plan
// with four prices and ten entitlements.
func (s *server) seed(t testing.TB, products int) {
	t.Helper()
	const at = "'2026-01-01 00:00:00+00:00'"
	insert := func(into string, rows []string) {
		t.Helper()
		for chunk := range slices.Chunk(rows, 500) {
			exec(t, s.db, "INSERT INTO "+into+" VALUES "+strings.Join(chunk, ", "))
		}
	}
	currencies := []string{"EUR", "USD", "GBP", "CHF"}
	var features, ids, places []string
	for n := range 10 {
		features = append(features, sqldb.NewID().String())
		ids = append(ids, fmt.Sprintf("('%s', 'feature-%d', '{\"en\":\"Feature\"}', %s, %s)", features[n], n, at, at))
	}
	insert("currencies (code, name, symbol, minor_units, created_at, updated_at)", []string{"('CHF', 'Franc', 'CHF', 2, " + at + ", " + at + ")"})
	insert("features (id, code, name, created_at, updated_at)", ids)
	var plans, prices, entitlements []string
	for n := range products {
		product, plan := sqldb.NewID(), sqldb.NewID()
		places = append(places, fmt.Sprintf("('%s', 'product-%d', '{\"en\":\"Product\"}', %s, %s)", product, n, at, at))
		plans = append(plans, fmt.Sprintf("('%s', '%s', 'plan-%d', '{\"en\":\"Plan\"}', 'flat', 'monthly', 'month', 1, %s, %s)", plan, product, n, at, at))
		for _, currency := range currencies {
			prices = append(prices, fmt.Sprintf("('%s', '%s', '%s', %d, %s, %s)", sqldb.NewID(), plan, currency, n, at, at))
		}
		for _, feature := range features {
			entitlements = append(entitlements, fmt.Sprintf("('%s', '%s', '%s', 'quota', %d, %s, %s)", sqldb.NewID(), plan, feature, n+1, at, at))
		}
	}
	insert("products (id, slug, name, created_at, updated_at)", places)
	insert("plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, created_at, updated_at)", plans)
	insert("plan_prices (id, plan_id, currency, price_cents, created_at, updated_at)", prices)
	insert("entitlements (id, plan_id, feature_id, type, value, created_at, updated_at)", entitlements)
}

// Admin lists run the same number of queries for one plan and for a thousand. The cached public
// list runs none.
func TestQueriesOfAdminLists(t *testing.T) {
	t.Parallel()
	for _, plans := range []int{1, 1000} {
		t.Run(fmt.Sprint(plans), func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				s := newServer(t, db)
				s.seed(t, plans)
				c := s.count()
				rows := min(plans, 100)
				for path, queries := range map[string]int64{
					"/api/v1/admin/plans?per_page=100":                                                   4,
					"/api/v1/admin/plans?per_page=100&include=product,entitlements,entitlements.feature": 4,
					"/api/v1/admin/plans?per_page=100&filter[search]=plan-&sort=-sort_order,created_at":  4,
					"/api/v1/admin/products?per_page=100":                                                2,
					"/api/v1/admin/products?per_page=100&include=plansCount":                             2,
					"/api/v1/admin/products?per_page=100&include=plans,plansCount":                       5,
					"/api/v1/admin/features?filter[search]=feature-":                                     2,
				} {
					c.queries.Store(0)
					list := data(t, s.admin(t, path, 200))
					if got := c.queries.Load(); got != queries {
						t.Errorf("%s: %d queries, want %d", path, got, queries)
					}
					if want := map[bool]int{true: 10, false: rows}[strings.Contains(path, "features")]; len(list) != want {
						t.Errorf("%s: %d entries, want %d", path, len(list), want)
					}
					for _, entry := range list {
						if inner, ok := entry["plans"].([]any); ok {
							entry = inner[0].(record)
						} else if strings.Contains(path, "features") || strings.Contains(path, "products") {
							continue
						}
						if len(entry["prices"].([]any)) != 4 || len(entry["entitlements"].([]any)) != 10 {
							t.Fatalf("%s: a plan lacks prices or entitlements: %v", path, entry)
						}
					}
				}
				public := func() int { return len(data(t, body(t, s.get(t, "/api/v1/catalog/plans"), 200))) }
				public()
				c.queries.Store(0)
				if got := public(); got != plans || c.queries.Load() != 0 {
					t.Errorf("the public list: %d plans, %d queries", got, c.queries.Load())
				}
			})
		})
	}
}

func BenchmarkAdminPlans(b *testing.B) {
	s := newServer(b, dbtest.New(b, sqldb.SQLite))
	s.seed(b, 1000)
	for b.Loop() {
		s.admin(b, "/api/v1/admin/plans?per_page=100", 200)
	}
}
