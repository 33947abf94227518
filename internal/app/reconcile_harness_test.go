package app

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

const dashboardKey = "sk_test_dashboard"

// byHand asks the sandbox's payment provider directly, as its owner would, with a
// form of names and values in turn.
func (s *server) byHand(method, path string, form ...string) reply {
	s.t.Helper()
	return s.tryByHand(method, path, form...).want(200)
}

func (s *server) tryByHand(method, path string, form ...string) reply {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	target, body := s.url+"/sandbox/stripe/v1"+path, values.Encode()
	if method == http.MethodGet {
		target, body = target+"?"+body, ""
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set(direct, "1")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+dashboardKey)
	return s.do(r)
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

// stored is all that is kept here of subscriptions and invoices, for telling
// whether anything changed: a line for each row.
func (s *server) stored() string {
	s.t.Helper()
	var lines strings.Builder
	for _, table := range []string{"subscriptions", "psp_invoices", "invoices", "invoice_lines", "invoice_numbers"} {
		s.dump(&lines, table)
	}
	return lines.String()
}

func (s *server) dump(into io.Writer, table string) {
	s.t.Helper()
	db := dbtest.Open(s.t, s.database)
	rows, err := db.Conn(s.t.Context()).QueryContext(s.t.Context(), `SELECT * FROM `+table+` ORDER BY 1, 2`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		s.t.Fatal(err)
	}
	for rows.Next() {
		values, pointers := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintln(into, append([]any{table}, values...)...)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
}

// execute changes a database from beside.
func execute(t testing.TB, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Error(err)
	}
}
