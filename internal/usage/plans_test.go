package usage_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/usagetest"
)

// What recording and reading a tenant's usage runs finds its rows by the tenant, with and
// without statistics: never by the meter alone, whose rows are every tenant's, and never
// by going through a table.
func TestUsageIsFoundByTenant(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	w := usagetest.New(t, db, "2026-11-21 12:00")
	for _, m := range []usage.Aggregation{usage.Sum, usage.Max, usage.LastValue, usage.Count} {
		w.Sell(t, usagetest.Meter(string(m), m, usage.Monthly, usage.Hard), "1")
	}
	payer := w.NewPayer(t)
	for _, key := range []string{"first", "second"} {
		for _, m := range []usage.Aggregation{usage.Sum, usage.Max, usage.LastValue, usage.Count} {
			w.RecordAll(t, payer, []usage.Recording{usagetest.Recording(string(m), "1"), usagetest.Keyed(usagetest.Recording(string(m), "2"), key)}, true)
		}
		if _, err := w.Summary(t.Context(), payer); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for _, p := range dbtest.Plans(t, db, regexp.MustCompile(`usage_(counters|streams|events|keys|alerts)`)) {
		for _, step := range p.Steps {
			table := regexp.MustCompile(`usage_[a-z]+|\b[cse]\b|Index Cond`).FindString(step)
			if table == "" {
				continue // a table of the catalog
			}
			seen++
			if !strings.Contains(step, "tenant_id") && !strings.HasPrefix(step, "Index Scan") && !strings.HasPrefix(step, "Index Only Scan") {
				t.Errorf("%s reads by %s in\n%s", p.Database, step, p.Statement)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d steps were looked at", seen)
	}
}
