package usage_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// The queries of recording and reading usage find rows by tenant, with and without statistics. They
// never search by the meter alone, which all tenants share, and never scan a table.
func TestUsageIsFoundByTenant(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	w := usagetest.New(t, db, "2026-11-21 12:00")
	for _, m := range []usage.Aggregation{usage.Sum, usage.Max, usage.LastValue, usage.Count} {
		w.Sell(t, usagetest.Meter(string(m), m, usage.ResetMonthly, usage.EnforcementHard), "1")
	}
	payer := w.NewPayer(t)
	for _, key := range []string{"first", "second"} {
		for _, m := range []usage.Aggregation{usage.Sum, usage.Max, usage.LastValue, usage.Count} {
			w.RecordAll(t, payer, []usage.Recording{usagetest.Recording(string(m), "1"), usagetest.WithKey(usagetest.Recording(string(m), "2"), key)}, true)
		}
		if _, err := w.Summary(t.Context(), payer); err != nil {
			t.Fatal(err)
		}
	}
	// Keys are looked up before the insert if a quota is tight, or if events were deleted.
	w.Apply(t, usagetest.Meter("tight", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
	tenantID := w.NewTenant(t)
	w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"tight": 1}})
	w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("tight", "1")}, true)
	for _, state := range []string{`pruned_before = NULL`, `pruned_before = '2020-01-01'`} {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE usage_streams SET `+state+` WHERE tenant_id = $1`, tenantID); err != nil {
			t.Fatal(err)
		}
		r := usagetest.WithKey(usagetest.Recording("tight", "1"), "first")
		if _, err := w.Record(t.Context(), tenantID, r); !errors.Is(err, usage.ErrQuotaExceeded) {
			t.Fatalf("%s: %v", state, err)
		}
	}
	// Also run the queries for grants and reservations.
	give(t, w, tenantID, "tight", "5", nil)
	held := reserving(t, w, tenantID, "tight", "1", "held", nil)
	record(t, w, tenantID, usagetest.WithKey(usagetest.Recording("tight", "2"), "drawn"), nil)
	settling(t, w, tenantID, held.ID, "1", nil)
	if _, err := w.Summary(t.Context(), tenantID); err != nil {
		t.Fatal(err)
	}
	seen, looked, databases := 0, 0, map[string]bool{}
	for _, p := range dbtest.Plans(t, db, regexp.MustCompile(`usage_(counters|streams|events|keys|alerts|grants|reservations)`)) {
		databases[p.Database] = true
		if strings.Contains(p.Statement, "= v.column") {
			looked++
		}
		for _, step := range p.Steps {
			table := regexp.MustCompile(`usage_[a-z]+|\b[cser]\b|Index Cond`).FindString(step)
			if table == "" || strings.Contains(step, "(id = usage_") {
				continue // looks up a system table, or a meter by the ID in a row
			}
			seen++
			if !strings.Contains(step, "tenant_id") && !strings.HasPrefix(step, "Index Scan") && !strings.HasPrefix(step, "Index Only Scan") {
				t.Errorf("%s reads by %s in\n%s", p.Database, step, p.Statement)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d steps were checked", seen)
	}
	if looked < 2*len(databases) { // two statements
		t.Errorf("only %d plans look up keys", looked)
	}
}
