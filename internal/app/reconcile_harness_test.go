package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

const dashboardKey = "sk_test_dashboard"

// withDashboard lets a test change things at the provider, see server.dashboard.
func withDashboard(s *Settings) { s.StripeSecretKey = dashboardKey }

// eachDashboard is each for tests that change things at the provider.
func eachDashboard(t *testing.T, f func(t *testing.T, s *server)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, start(t, dialect, withDashboard))
		})
	}
}

// byHand makes a request to the sandbox provider's API, past the service, with
// a form of names and values in turn.
func (s *server) byHand(method, path string, form ...string) reply {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/sandbox/stripe/v1"+path, strings.NewReader(values.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+dashboardKey)
	return s.do(r).want(200)
}

// reconcile compares with the provider and returns each difference as its kind,
// with the field if it has one, and whether it was repaired: by the provider's
// subscription.
func (s *server) reconcile(dryRun bool) map[string][]string {
	s.t.Helper()
	a := s.call("POST", "/sandbox/stripe/reconcile", "", map[string]any{"dry_run": dryRun}).want(200)
	found := map[string][]string{}
	for _, d := range a.at("data").([]any) {
		d := d.(map[string]any)
		text := fmt.Sprint(d["kind"])
		if d["field"] != nil {
			text += " " + fmt.Sprint(d["field"])
		}
		if d["repaired"] == true {
			text += " repaired"
		}
		id := d["psp_id"].(string)
		found[id] = append(found[id], text)
	}
	return found
}

// stored is all that is known here of subscriptions, for telling whether anything
// changed: a line for each.
func (s *server) stored() string {
	s.t.Helper()
	db := dbtest.Open(s.t, s.database)
	rows, err := db.Conn(s.t.Context()).QueryContext(s.t.Context(), `SELECT psp_subscription_id, tenant_id, plan_id, status, quantity,
		price_cents, cancel_at_period_end, current_period_end, sync_version FROM subscriptions ORDER BY psp_subscription_id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var lines strings.Builder
	for rows.Next() {
		values := make([]any, 9)
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintln(&lines, values...)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return lines.String()
}

// execute changes a database from beside.
func execute(t testing.TB, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
