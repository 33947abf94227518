package app_test

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// walked are parts of statements that can scan a whole table, each with the reason.
var walked = map[string]string{
	"FROM tenants t WHERE (t.deleted_at IS NULL) AND (lower(": "an admin's search for a part of a name",
	"WHERE tenant_id IS NULL OR tenant_id IN ($1":             "PostgreSQL: two look-ups by an index, which are switched off here",
	"FROM (SELECT t.* FROM tenants t WHERE (t.deleted_at IS":  "a page, in the order of an index",
	"FROM (SELECT t.* FROM tenants t WHERE (t.id = $1":        "a page of one",
	"FROM audit_logs ORDER BY created_at DESC, id DESC LIMIT": "a page, in the order of an index",
	"WITH RECURSIVE waiting(id)":                              "steps through an index of what waits",
	"FROM jobs WHERE lease_id IS NOT NULL":                    "an index of what runs",
	"FROM psp_events WHERE handled_at IS NULL":                "an index of what waits",
	"FROM psp_invoices WHERE status = 'open' AND failed_at":   "an index of what failed",
	"FROM (SELECT k.* FROM api_keys k WHERE":                  "a page of a caller's keys",
	"SELECT (SELECT count(*) FROM users) - (SELECT count(*)":  "an admin's list: counts in an index",
	"SELECT count(*) FROM subscriptions s":                    "an admin's list: counts in an index",
	"SELECT count(*) FROM webhook_deliveries d":               "an admin's list: counts in an index",
	"FROM (SELECT s.* FROM subscriptions s ORDER BY":          "a page, in the order of an index",
	"FROM (SELECT u.* FROM users u WHERE (u.deleted_at IS":    "a page, in the order of an index",
	"SELECT count(*) FROM impersonation_logs":                 "an admin's list: counts in an index",
	"FROM (SELECT c.* FROM invoice_copies c ORDER BY":         "a page, in the order of an index",
	"FROM credit_notes n WHERE (n.status <> 'pending') GROUP": "an admin's list: the total of all credit notes",
	"FROM subscription_histories":                             "analytics read the whole history",
	"SELECT client_secret FROM sso_connections":               "a start reads one secret",
	"SELECT secret FROM user_totp":                            "a start reads one secret",
	"SELECT code_hash FROM email_codes":                       "a start reads one hash",
	"SELECT code_hash FROM recovery_codes":                    "a start reads one hash",
}

// ofPostgres matches the statements that only PostgreSQL runs. SQLite gets rows as VALUES and keys
// in a list.
var ofPostgres = regexp.MustCompile(`(?i)\bunnest\(|\bANY\s?\(|\bpg_`)

// No handwritten statement scans a whole table that grows with tenants or usage, except the
// statements in walked. PostgreSQL explains the statements that the service sent to it during a
// story, and SQLite the statements that it supports. Generated statements have their own test.
func TestStatementsFindTheirRows(t *testing.T) {
	t.Parallel()
	given := textsOf(t, story)
	if len(given) < 50 {
		t.Fatalf("only %d statements were found", len(given))
	}
	plans := dbtest.PlansOn(t, sqldb.Postgres, given)
	plans = append(plans, dbtest.PlansOn(t, sqldb.SQLite, slices.DeleteFunc(slices.Clone(given), ofPostgres.MatchString))...)
	found := map[string]bool{}
	for _, p := range plans {
		for _, line := range p.WholeTables() {
			if part := allowed(p.Statement); part != "" {
				found[part] = true
				continue
			}
			t.Errorf("%s: %s in\n%s", p.Database, line, p.Statement)
		}
	}
	for part, reason := range walked {
		if !found[part] {
			t.Errorf("no statement with %q scans a whole table (%s): remove it from the list", part, reason)
		}
	}
}

// allowed returns the part in walked that allows a statement to scan a whole table.
func allowed(statement string) string {
	for part := range walked {
		if strings.Contains(strings.Join(strings.Fields(statement), " "), part) {
			return part
		}
	}
	return ""
}

// textsOf returns the statements that the service sends to PostgreSQL while f runs. It omits
// generated statements and statements without a plan.
func textsOf(t *testing.T, f func(*apptest.Server)) []string {
	t.Helper()
	config := apptest.NewSettings(t, sqldb.Postgres)
	var mu sync.Mutex
	texts := map[string]bool{}
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		texts[text] = dbtest.Plannable(text) && !strings.HasPrefix(text, "-- name: ")
	}
	config.DatabaseURL = settings.Secret(readMessages(t, config.DatabaseURL.Reveal(), func(kind byte, body []byte) {
		// A Parse message: the name and the text of a statement, each terminated by a zero byte.
		if parts := bytes.SplitN(body, []byte{0}, 3); kind == 'P' && len(parts) == 3 {
			note(string(parts[1]))
		}
	}, func(byte, []byte) {}))
	allowEmailCodes(&config)
	f(apptest.StartWith(t, config))
	mu.Lock()
	defer mu.Unlock()
	maps.DeleteFunc(texts, func(_ string, wanted bool) bool { return !wanted })
	return slices.Sorted(maps.Keys(texts))
}

// pageOfList matches the part of a statement that selects a page of a list across tenants.
var pageOfList = regexp.MustCompile(`FROM \((SELECT \w+\.\* FROM (?:invoice_copies|credit_notes|subscriptions|users|webhook_deliveries|tenants) .* LIMIT \$\d+ OFFSET \$\d+)\) \w+ `)

// For each sort order except MRR, the operator's lists are read in the order of an index.
func TestListsAreReadInOrder(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{
		"invoices": {"issue_date", "total", "due_date"}, "credit-notes": {"issue_date"}, "subscriptions": {"created_at", "current_period_end"},
		"users": {"created_at", "name"}, "webhook-deliveries": {"created_at"}, "tenants": {"created_at", "name", "last_activity_at"},
	}
	given := textsOf(t, func(s *apptest.Server) {
		for list, sorts := range lists {
			for _, sort := range sorts {
				s.Call("GET", "/api/v1/admin/"+list+"?sort="+sort, s.Admin(), nil).Want(200)
				s.Call("GET", "/api/v1/admin/"+list+"?sort=-"+sort, s.Admin(), nil).Want(200)
			}
		}
	})
	var pages []string
	for _, text := range given {
		if found := pageOfList.FindStringSubmatch(strings.Join(strings.Fields(text), " ")); found != nil {
			pages = append(pages, found[1])
		}
	}
	if len(pages) < 20 {
		t.Errorf("only %d pages were found", len(pages))
	}
	for _, p := range dbtest.PlansOf(t, pages) {
		if p.Sorts {
			t.Errorf("%s sorts the rows of\n%s\n%s", p.Database, p.Statement, strings.Join(p.Steps, "\n"))
		}
	}
}
