package sqldb_test

import (
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Tables that have grown are analyzed, and the statistics do not harm other queries.
func TestOptimize(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 300 {
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `INSERT INTO jobs (id, kind, unique_key, payload, periodic, attempt, due_at, created_at)
				VALUES ($1, $2, NULL, '{}', false, 0, $3, $3)`, sqldb.NewID(), fmt.Sprint("kind ", i%3), "2026-01-01 00:00:00+00:00"); err != nil {
				t.Fatal(err)
			}
		}
		optimize := func() {
			t.Helper()
			if err := db.Optimize(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		optimize()
		optimize()
		if db.Dialect() != sqldb.SQLite {
			return
		}
		count := func(query string) (n int) {
			t.Helper()
			if err := db.Conn(t.Context()).QueryRowContext(t.Context(), query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if known := count(`SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'jobs'`); known == 0 {
			t.Error("no statistics for the index of jobs")
		}
		const samples = `SELECT count(*) FROM sqlite_stat4`
		if n := count(samples); n > 0 {
			t.Errorf("%d samples in sqlite_stat4, want 0: SQLite would plan statements again for each value", n)
		}
	})
}
