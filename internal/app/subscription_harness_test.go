package app

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// sub is the base of a tenant's subscription routes.
func (o owner) sub() string { return "/api/v1/tenant/" + o.tenant + "/subscription" }

// subscription is the tenant's subscription as it is shown.
func (s *server) subscription(o owner) reply {
	s.t.Helper()
	return s.call("GET", o.sub(), o.token, nil).want(200)
}

// changeTo changes the plan.
func (s *server) changeTo(o owner, slug string, more map[string]any) reply {
	s.t.Helper()
	body := map[string]any{"new_plan_id": s.plan(o, slug)}
	for k, v := range more {
		body[k] = v
	}
	return s.call("POST", o.sub()+"/change-plan", o.token, body)
}

// preview previews a change of plan.
func (s *server) preview(o owner, slug string, quantity int) reply {
	s.t.Helper()
	path := o.sub() + "/preview-change?new_plan_id=" + s.plan(o, slug)
	if quantity > 0 {
		path += "&quantity=" + strconv.Itoa(quantity)
	}
	return s.call("GET", path, o.token, nil)
}

// returning are the addresses that a checkout leads back to.
var returning = map[string]any{"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no"}

// sell adds a plan to the demo catalog: a price of one interval in EUR, and quotas.
func (s *server) sell(slug, kind, unit string, cents, trialDays int, quotas map[string]int) {
	s.t.Helper()
	db := dbtest.Open(s.t, s.database)
	now := clock.System().Now()
	id := sqldb.NewID()
	run := func(query string, args ...any) {
		s.t.Helper()
		if _, err := db.Conn(s.t.Context()).ExecContext(s.t.Context(), query, args...); err != nil {
			s.t.Fatal(err)
		}
	}
	run(`INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, trial_days, sort_order, created_at, updated_at)
		SELECT $1, id, $2, $3, $4, 'monthly', $5, 1, $6, 90, $7, $7 FROM products WHERE slug = 'platform'`,
		id, slug, sqldb.JSON(`{"en":"`+slug+`"}`), kind, unit, trialDays, now)
	run(`INSERT INTO plan_prices (id, plan_id, currency, price_cents, created_at, updated_at) VALUES ($1, $2, 'EUR', $3, $4, $4)`,
		sqldb.NewID(), id, cents, now)
	for code, value := range quotas {
		run(`INSERT INTO entitlements (id, plan_id, feature_id, type, value, created_at, updated_at)
			SELECT $1, $2, id, 'quota', $3, $4, $4 FROM features WHERE code = $5`, sqldb.NewID(), id, value, now, code)
	}
}

// held reads the sandbox provider's objects of a kind that are a tenant's, the
// oldest first: what it has, whatever the service says.
func (s *server) held(o owner, kind string) []reply {
	s.t.Helper()
	all := objects(s.t, s.sandbox(), kind)
	customers := map[any]bool{}
	for _, c := range objects(s.t, s.sandbox(), "customer") {
		if c.at("metadata.tenant_id") == o.tenant {
			customers[c.at("id")] = true
		}
	}
	return slices.DeleteFunc(all, func(r reply) bool { return !customers[r.at("customer")] && !customers[r.at("id")] })
}

func objects(t testing.TB, db *sqldb.DB, kind string) []reply {
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(),
		`SELECT doc FROM stripe_objects WHERE kind = $1 ORDER BY doc ->> '$.created', rowid`, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []reply
	for rows.Next() {
		r := reply{t: t}
		if err := rows.Scan(&r.text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(r.text), &r.body); err != nil {
			t.Fatal(err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// recorded counts the entries of an action about a tenant.
func (s *server) recorded(o owner, action string) int {
	s.t.Helper()
	logs := s.call("GET", "/api/v1/admin/audit-logs?filter[action]="+action+"&filter[tenant]="+o.tenant, s.admin(), nil).want(200)
	return len(logs.at("data").([]any))
}

// now is the sandbox's time.
func (s *server) now() time.Time {
	s.t.Helper()
	now, err := time.Parse(time.RFC3339Nano, s.call("GET", "/sandbox/clock", "", nil).want(200).str("data.now"))
	if err != nil {
		s.t.Fatal(err)
	}
	return now
}

// settled waits until all that the provider has told was taken in.
func (s *server) settled() {
	s.t.Helper()
	db := dbtest.Open(s.t, s.database)
	eventually(s.t, "the end of all notifications", func() bool {
		if s.call("GET", "/sandbox/stripe/replay", "", nil).want(200).at("data.pending") != 0.0 {
			return false
		}
		var open int
		row := db.Conn(s.t.Context()).QueryRowContext(s.t.Context(), `SELECT count(*) FROM psp_events WHERE handled_at IS NULL`)
		if err := row.Scan(&open); err != nil {
			s.t.Fatal(err)
		}
		return open == 0
	})
}
