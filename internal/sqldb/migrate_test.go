package sqldb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Several instances can start on an empty database concurrently, each with its own connection and
// several goroutines.
func TestMigrateConcurrently(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.EmptyURL(t, dialect)
			var wait sync.WaitGroup
			for range 8 {
				wait.Go(func() {
					db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url})
					if err != nil {
						t.Error(err)
						return
					}
					defer func() { _ = db.Close() }()
					var inner sync.WaitGroup
					for range 3 {
						inner.Go(func() {
							if err := db.Migrate(t.Context()); err != nil {
								t.Error(err)
							}
						})
					}
					inner.Wait()
				})
			}
			wait.Wait()
			db := dbtest.Open(t, url)
			var roles int
			scan(t, db, []any{&roles}, `SELECT count(*) FROM roles`)
			if roles != 3 {
				t.Errorf("%d built-in roles, want 3: a migration ran more than once", roles)
			}
		})
	}
}

// Waiting callers of one DB must not exhaust its connections.
func TestMigrateManyOnOnePool(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, dbtest.EmptyURL(t, dialect))
			var wait sync.WaitGroup
			for range 40 {
				wait.Go(func() {
					if err := db.Migrate(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
		})
	}
}

func TestMigrationStatus(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, dbtest.EmptyURL(t, dialect))
			for _, applied := range []bool{false, true} {
				list, err := db.MigrationStatus(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(list) == 0 || list[0].Name != "01000_baseline.sql" || list[0].Version != 1000 {
					t.Errorf("list %+v", list)
				}
				var want int64
				for _, m := range list {
					if (m.AppliedAt != nil) != applied {
						t.Errorf("%s: applied at %v, want applied: %v", m.Name, m.AppliedAt, applied)
					}
					if applied {
						want = m.Version
					}
				}
				if got, err := db.Version(t.Context()); err != nil || got != want {
					t.Errorf("version %d, %v, want %d", got, err, want)
				}
				if err := db.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// wantRefused checks that migrating fails with the given error, and only that one.
func wantRefused(t *testing.T, db *sqldb.DB, want error) {
	t.Helper()
	_, status := db.MigrationStatus(t.Context())
	for _, err := range []error{db.Migrate(t.Context()), status} {
		if !errors.Is(err, want) || errors.Is(err, sqldb.ErrNewerSchema) && errors.Is(err, sqldb.ErrOlderSchema) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

func TestMigrateRefusesNewerDatabase(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		exec(t, db, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`)
		wantRefused(t, db, sqldb.ErrNewerSchema)
	})
}

// Builds before the baseline numbered their migrations from 1 to 110.
func TestMigrateRefusesDatabaseBeforeBaseline(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 86, 110} {
		dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
			exec(t, db, `DELETE FROM goose_db_version WHERE version_id > 0`)
			for v := 1; v <= version; v++ {
				exec(t, db, fmt.Sprintf(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)`, v))
			}
			wantRefused(t, db, sqldb.ErrOlderSchema)
		})
	}
}

// The file is created together with its folder, and only its owner can read it.
func TestSQLiteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder", "50% #1?.db")
	db := dbtest.Open(t, sqldb.FileURL(path))
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal", path + "-shm", path + ".migrate.lock"} {
		info, err := os.Stat(file)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", file, info.Mode())
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"empty":             "",
		"unknown scheme":    "mysql://localhost/db",
		"no path":           "sqlite://",
		"relative":          "sqlite://data/x.db",
		"parameters":        "sqlite:///tmp/x.db?mode=ro",
		"unreachable":       "postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=1",
		"broken parameters": "postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url})
			if err == nil {
				_ = db.Close()
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error contains the password: %v", err)
			}
		})
	}
}
