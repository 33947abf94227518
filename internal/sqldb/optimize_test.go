package sqldb_test

import (
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Tables that have grown are sampled, and what is sampled is in no other's way.
func TestOptimize(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 300 {
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `INSERT INTO jobs (id, kind, unique_key, payload, periodic, attempt, due_at, created_at)
				VALUES ($1, $2, NULL, '{}', false, 0, $3, $3)`, sqldb.NewID(), fmt.Sprint("kind ", i%3), "2026-01-01 00:00:00+00:00"); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := db.Optimize(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if db.Dialect() != sqldb.SQLite {
			return
		}
		var known int
		if err := db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'jobs'`).Scan(&known); err != nil || known == 0 {
			t.Errorf("%d indexes of jobs are known, %v", known, err)
		}
	})
}
