// Package dbtest provides fresh, migrated databases of both kinds to tests. It needs no setup: a
// database is removed when its test ends, and the PostgreSQL server that the package starts ends
// with the test process, even if the process is killed.
//
// It uses four environment variables. TENANTRY_TEST_DATABASE_URL is the URL of a PostgreSQL server
// with a role that can create databases; without it, the package starts its own server if
// PostgreSQL is installed. Package testkit documents TENANTRY_TEST_REQUIRE. TENANTRY_TEST_LONG=1
// makes tests repeat more (see Rounds). TENANTRY_TEST_SPREAD=1 gives PostgreSQL databases the keys
// of a database that is distributed over several machines (see package distribution).
package dbtest

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
)

const urlVariable = "TENANTRY_TEST_DATABASE_URL"

// setupTimeout bounds each step of creating a database.
const setupTimeout = time.Minute

// Each runs f as a parallel subtest on each kind of database, each time with a fresh, migrated
// database. Without PostgreSQL it skips that subtest, or fails it if PostgreSQL is required.
func Each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	for _, dialect := range []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, New(t, dialect))
		})
	}
}

// Dialects returns the available kinds of database. Without PostgreSQL it logs a line, or fails t
// if PostgreSQL is required.
func Dialects(t testing.TB) []sqldb.Dialect {
	t.Helper()
	if _, err := postgres(); err != nil {
		t.Log(testkit.Missing(t, "postgres", err))
		return []sqldb.Dialect{sqldb.SQLite}
	}
	return []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres}
}

// Require skips t if the dialect is PostgreSQL and there is no server. It fails t instead if
// TENANTRY_TEST_REQUIRE contains postgres.
func Require(t testing.TB, dialect sqldb.Dialect) {
	t.Helper()
	if dialect == sqldb.Postgres {
		server(t)
	}
}

// New opens a fresh, migrated database. It is closed and removed when t ends. New skips or fails t
// like Require.
func New(t testing.TB, dialect sqldb.Dialect) *sqldb.DB {
	t.Helper()
	return Open(t, URL(t, dialect))
}

// ConnTimeout is how long PostgreSQL can be silent before connections are closed. It is long
// because the machines that run tests are busy.
const ConnTimeout = 30 * time.Second

// Open opens another connection to the database of url, for example for a second instance. It is
// closed when t ends.
func Open(t testing.TB, url string) *sqldb.DB {
	t.Helper()
	return OpenWith(t, sqldb.Config{URL: url})
}

// OpenWith is Open with a configuration.
func OpenWith(t testing.TB, config sqldb.Config) *sqldb.DB {
	t.Helper()
	config.Patience = cmp.Or(config.Patience, ConnTimeout)
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, config)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("dbtest: close: %v", err)
		}
	})
	return db
}

// URL returns the URL of a fresh, migrated database. It is removed when t ends. URL skips or fails
// t like Require.
func URL(t testing.TB, dialect sqldb.Dialect) string {
	t.Helper()
	return databaseURL(t, dialect, true)
}

// EmptyURL is URL for a database without tables.
func EmptyURL(t testing.TB, dialect sqldb.Dialect) string {
	t.Helper()
	return databaseURL(t, dialect, false)
}

func databaseURL(t testing.TB, dialect sqldb.Dialect, migrated bool) string {
	t.Helper()
	if dialect == sqldb.SQLite {
		return sqliteURL(t, migrated)
	}
	return server(t).databaseURL(t, migrated)
}

// server returns the PostgreSQL server. Without one it skips or fails t like Require.
func server(t testing.TB) *cluster {
	t.Helper()
	s, err := postgres()
	if err != nil {
		testkit.Skip(t, "postgres", err)
	}
	return s
}
