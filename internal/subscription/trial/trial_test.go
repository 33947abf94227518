package trial_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

// world is a database with the products a and b, a plan of each, and a tenant.
type world struct {
	t              *testing.T
	db             *sqldb.DB
	tenant         string
	product, plans map[string]string
}

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, db *sqldb.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, tenant: sqldb.NewID().String(), product: map[string]string{}, plans: map[string]string{}}
	w.exec(`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'T', 't', 'EUR', $2, $2)`, w.tenant, start)
	for _, slug := range []string{"a", "b"} {
		w.product[slug], w.plans[slug] = sqldb.NewID().String(), sqldb.NewID().String()
		w.exec(`INSERT INTO products (id, slug, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)`, w.product[slug], slug, sqldb.JSON(`{"en":"P"}`), start)
		w.exec(`INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, trial_days, sort_order, created_at, updated_at)
			VALUES ($1, $2, $3, $4, 'flat', 'monthly', 'month', 1, 10, 1, $5, $5)`, w.plans[slug], w.product[slug], slug, sqldb.JSON(`{"en":"P"}`), start)
	}
	return w
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	apptest.Exec(w.t, w.db, query, args...)
}

// subscribe adds a subscription that has ended, to the plan that it has now. bought
// is the plan of its checkout, "" for none.
func (w *world) subscribe(day int, bought, now string, trial bool) {
	w.t.Helper()
	at := start.AddDate(0, 0, day)
	var end *time.Time
	if trial {
		end = &at
	}
	w.exec(`INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
			billing_anchor, current_period_start, current_period_end, trial_ends_at, psp_subscription_id, sync_version, created_at, updated_at)
		VALUES ($1, $2, $3, 'canceled', 'EUR', 100, 1, 'month', 1, $4, $4, $4, $5, $6, 1, $4, $4)`,
		sqldb.NewID().String(), w.tenant, w.plans[now], at, end, at.Format(time.DateOnly))
	if bought != "" {
		w.exec(`INSERT INTO checkouts (id, tenant_id, plan_id, currency, price_cents, quantity, completed_at, created_at, updated_at)
			VALUES ($1, $2, $3, 'EUR', 100, 1, $4, $5, $5)`,
			sqldb.NewID().String(), w.tenant, w.plans[bought], at.Add(time.Second), at.Add(-time.Hour))
	}
}

// fill does what the migration does to a database with subscriptions.
func (w *world) fill() map[string]bool {
	w.t.Helper()
	text, err := fs.ReadFile(sqldb.Migrations(), "00035_trials.sql")
	if err != nil {
		w.t.Fatal(err)
	}
	for statement := range strings.SplitSeq(string(text), ";") {
		if at := strings.Index(statement, "INSERT INTO"); at >= 0 {
			w.exec(statement[at:])
		}
	}
	had := map[string]bool{}
	for slug, product := range w.product {
		var n int
		err := w.db.Conn(w.t.Context()).QueryRowContext(w.t.Context(), `SELECT count(*) FROM trials WHERE product_id = $1`, product).Scan(&n)
		if err != nil {
			w.t.Fatal(err)
		}
		had[slug] = n == 1
	}
	return had
}

// The record of a database that is older than it has the products that were bought
// with a trial.
func TestFillFromSubscriptions(t *testing.T) {
	t.Parallel()
	type sub struct {
		bought, now string
		trial       bool
	}
	for name, tt := range map[string]struct {
		subs []sub
		a, b bool
	}{
		"none":                        {nil, false, false},
		"without a trial":             {[]sub{{"a", "a", false}}, false, false},
		"as bought":                   {[]sub{{"a", "a", true}}, true, false},
		"changed since":               {[]sub{{"a", "b", true}}, true, false},
		"no checkout":                 {[]sub{{"", "b", true}}, false, true},
		"both":                        {[]sub{{"a", "b", true}, {"b", "b", true}}, true, true},
		"the same one, while allowed": {[]sub{{"a", "b", true}, {"a", "b", true}, {"a", "a", false}}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				w := newWorld(t, db)
				for i, s := range tt.subs {
					w.subscribe(10*i, s.bought, s.now, s.trial)
				}
				for range 2 { // the second time changes nothing
					if had := w.fill(); had["a"] != tt.a || had["b"] != tt.b {
						t.Errorf("the trials are %v", had)
					}
				}
			})
		})
	}
}
