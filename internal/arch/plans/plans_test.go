// Package plans_test checks the query plans of all generated queries in both databases.
package plans_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// query is a generated statement.
type query struct{ name, text string }

// queries returns the statements of all generated packages.
func queries(t *testing.T) []query {
	t.Helper()
	var all []query
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".sql.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(v.Value, "`-- name: ") {
				text, _ := strconv.Unquote(v.Value)
				name, _, _ := strings.Cut(strings.TrimPrefix(text, "-- name: "), " ")
				all = append(all, query{filepath.Base(filepath.Dir(path)) + "." + name, text})
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// placeholder matches the placeholder of a list in generated code.
var placeholder = regexp.MustCompile(`/\*SLICE:\w+\*/\?`)

// whole are the queries that can scan a whole table, each with the reason.
var whole = map[string]string{
	"subscriptionsql.CountDefaultTenants":    "an admin looks at the default plan, or is about to change it",
	"accountsql.PlatformAdmins":              "the command line lists the platform's admins",
	"accountsql.UsersWithExpiredCredentials": "an hourly job, up to its limit",
	"auditsql.CountDay":                      "looks a day up for each action; there are a few dozen actions",
	"auditsql.OldestEntry":                   "reads one entry, by an index",
	"billingsql.CountRejections":             "the figure of a metric; refusals are few",
	"billingsql.NextReport":                  "reads one report, by an index",
	"billingsql.OldestReport":                "reads one report, by an index",
	"billingsql.ToldOfVersion":               "figures that were carried over, when the provider rejects one",
	"billingsql.SettlingTenants":             "operations in progress, with a partial index",
	"currencysql.CountAmounts":               "an admin changes the decimals of a currency",
	"currencysql.CountTenantsPreferring":     "an admin switches a currency off",
	"currencysql.DeleteCurrency":             "an admin deletes a currency",
	"entitlementsql.ListExpired":             "an hourly job; few tenants have overrides",
	"idempotencysql.EndLeases":               "a start on SQLite",
	"invoicesql.AllSums":                     "an admin's list: the totals, one row per tenant and currency",
	"inboxsql.CountWaiting":                  "the figure of a metric, up to its limit, of an index of what waits",
	"inboxsql.LastEventAt":                   "reads one notification, by an index",
	"inboxsql.OldestWaiting":                 "the figure of a metric, up to its limit, of an index of what waits",
	"jobssql.EndLeases":                      "a start on SQLite",
	"jobssql.Count":                          "the figure of a metric, up to its limit",
	"journalsql.Sums":                        "entries that are not folded yet, with a partial index",
	"journalsql.TakeUnfolded":                "entries that are not folded yet, with a partial index",
	"journalsql.UnnotedSubscriptions":        "subscriptions that are not noted yet, with a partial index",
	"ratessql.IsUsed":                        "an admin stores the rate of an inactive currency: reads one subscription",
	"ratessql.UsedCurrencies":                "the command line checks exchange rates",
	"metersql.DeleteCountersOfMeter":         "an admin changes how a meter counts",
	"retentionsql.CountStreams":              "the command line says how far it is: counts in an index",
	"reconcilesql.AnySeen":                   "reads one subscription",
	"tenantsql.CountLive":                    "an admin's list: counts in an index",
	"selfservicesql.CappedTenants":           "a user deletes their account: caps, with a partial index",
	"statssql.CountTenants":                  "an admin's home: counts in an index",
	"statssql.LiveSubscriptions":             "an admin's home: counts in an index",
	"statssql.WaitingJobs":                   "an admin's home, up to its limit",
	"webhooksql.AllEndpoints":                "only in the sandbox",
	"factorsql.AllTOTP":                      "only in the sandbox",
	"webhooksql.EndLeases":                   "a start on SQLite",
	"webhooksql.Backlog":                     "the figure of a metric, up to its limit, of indexes of what waits",
	"teamsql.Roles":                          "PostgreSQL: two look-ups by an index, which are switched off here",
}

// No query scans a whole table that grows with tenants or usage, except the queries in whole.
func TestQueriesFindTheirRows(t *testing.T) {
	t.Parallel()
	var texts []string
	names := map[string]string{}
	for _, q := range queries(t) {
		text := placeholder.ReplaceAllString(q.text, "$$1")
		texts = append(texts, text)
		names[text] = q.name
	}
	if len(texts) < 300 {
		t.Fatalf("only %d queries were found", len(texts))
	}
	found := map[string]bool{}
	for _, p := range dbtest.PlansOf(t, texts) {
		name := names[p.Statement]
		for _, line := range p.WholeTables() {
			found[name] = true
			if whole[name] == "" {
				t.Errorf("%s: %s scans a whole table: %s", p.Database, name, line)
			}
		}
	}
	if len(dbtest.Dialects(t)) == 1 {
		return // only PostgreSQL scans whole tables for some queries in whole
	}
	for name, reason := range whole {
		if !found[name] {
			t.Errorf("%s does not scan a whole table (%s): remove it from the list", name, reason)
		}
	}
}

// Both databases read events in primary key order. A sort would read all events of a period for its
// first page.
func TestEventsAreReadInOrder(t *testing.T) {
	t.Parallel()
	wanted := map[string]bool{
		"usagesql.NewestEvents": true, "historysql.EventsToSum": true, "historysql.LastEvent": true,
		"historysql.NextEvent": true, "retentionsql.OldestEvents": true,
	}
	var texts []string
	for _, q := range queries(t) {
		if wanted[q.name] {
			texts = append(texts, q.text)
		}
	}
	if len(texts) != len(wanted) {
		t.Fatalf("%d queries were found", len(texts))
	}
	for _, p := range dbtest.PlansOf(t, texts) {
		if p.Sorts {
			t.Errorf("%s sorts the result of\n%s", p.Database, p.Statement)
		}
	}
}
