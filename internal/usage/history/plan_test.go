package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
)

// SQLite can overestimate the number of hours of a tenant, because its samples are small and most
// tenants do not have hours. Even then, it looks up the last hour of each group by its number.
func TestTheLastHourIsLookedUp(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	w := usagetest.New(t, db, "2026-11-21 12:00")
	exec := func(query string) {
		t.Helper()
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{
		`ANALYZE`, `DELETE FROM sqlite_stat1`,
		`INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('usage_hours', 'sqlite_autoindex_usage_hours_1', '8764 1 1 1')`,
		`ANALYZE sqlite_schema`,
	} {
		exec(query)
	}
	tenantID := w.NewTenant(t)
	m := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft)
	w.Apply(t, m)
	w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("calls", "1")}, true)
	exec(`UPDATE usage_streams SET summed_before = '2026-11-21 11:00:00'`)
	r := history.NewReader(db, w.Clock)
	end := w.Clock.Now()
	entries, err := w.Meters.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Series(t.Context(), tenantID, entries[0].Meter, history.Day, usage.Period{Start: end.Add(-100 * time.Hour), End: end}); err != nil {
		t.Fatal(err)
	}
	looked := false
	for _, text := range db.Statements() {
		if !strings.Contains(text, "max(u.hour)") {
			continue
		}
		rows, err := db.Conn(t.Context()).QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, make([]any, 6)...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			looked = looked || strings.HasPrefix(step, "SEARCH h ") && strings.Contains(step, "hour=?")
			t.Log(step)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !looked {
		t.Error("hours are not looked up by their number")
	}
}
