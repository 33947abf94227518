package app_test

import (
	"compress/gzip"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/sandbox"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// eachReleased runs f on a copy of the databases of each version that was released, which
// scripts/freeze has written. folder has what belongs to that version.
func eachReleased(t *testing.T, f func(t *testing.T, folder, database string)) {
	t.Helper()
	folders, err := filepath.Glob("testdata/released/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no released version is known (%v)", err)
	}
	for _, folder := range folders {
		for _, dialect := range dbtest.Dialects(t) {
			t.Run(filepath.Base(folder)+"/"+string(dialect), func(t *testing.T) {
				t.Parallel()
				f(t, folder, released(t, folder, dialect))
			})
		}
	}
}

// released returns the URL of a new copy of a database.
func released(t *testing.T, folder string, dialect sqldb.Dialect) string {
	t.Helper()
	if dialect == sqldb.SQLite {
		path := filepath.Join(dbtest.TempDir(t), "t.db")
		if err := os.WriteFile(path, []byte(unzipped(t, filepath.Join(folder, "sqlite.db.gz"))), 0o600); err != nil {
			t.Fatal(err)
		}
		return sqldb.FileURL(path)
	}
	address := dbtest.EmptyURL(t, dialect)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("default_query_exec_mode", "simple_protocol") // which takes many statements at once
	u.RawQuery = query.Encode()
	db := dbtest.Open(t, u.String())
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), unzipped(t, filepath.Join(folder, "postgres.sql.gz"))); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil { // the dump has changed the settings of its connection
		t.Fatal(err)
	}
	return address
}

func unzipped(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// texts runs a query for texts.
func texts(t *testing.T, db *sqldb.DB, query string) []string {
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// columns lists tables with their columns, in the order of the alphabet.
func columns(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	query := `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable FROM information_schema.columns WHERE table_schema = 'public'`
	if db.Dialect() == sqldb.SQLite {
		query = `SELECT s.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" FROM sqlite_schema s JOIN pragma_table_info(s.name) c
WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_stat%'`
	}
	list := texts(t, db, query)
	slices.Sort(list)
	return list
}

// rows counts the rows of the tables that a version had.
func rows(t *testing.T, db *sqldb.DB, tables []string) map[string]string {
	t.Helper()
	counts := map[string]string{}
	for _, table := range tables {
		counts[table] = texts(t, db, `SELECT CAST(count(*) AS text) FROM `+table)[0]
	}
	delete(counts, "goose_db_version")
	return counts
}

func tables(columns []string) []string {
	names := map[string]bool{}
	for _, c := range columns {
		name, _, _ := strings.Cut(c, ".")
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Each released database becomes what a new one is, loses no row, and serves those who are in
// it. What the released program asks of it goes on working, because its instances run beside
// the new ones for a while.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	eachReleased(t, func(t *testing.T, folder, database string) {
		db := dbtest.Open(t, database)
		had := tables(columns(t, db))
		before := rows(t, db, had)
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, rows(t, db, had)); diff != "" {
			t.Errorf("rows (-before +after)\n%s", diff)
		}
		fresh := dbtest.New(t, db.Dialect())
		if diff := cmp.Diff(columns(t, fresh), columns(t, db)); diff != "" {
			t.Errorf("the schema (-new +migrated)\n%s", diff)
		}
		if db.Dialect() == sqldb.SQLite {
			if broken := texts(t, db, `SELECT "table" FROM pragma_foreign_key_check`); len(broken) > 0 {
				t.Errorf("references lead nowhere in %v", broken)
			}
		}
		statements := strings.Split(unzipped(t, filepath.Join(folder, "statements.sql.gz")), "\n\n-- name: ")
		for _, text := range statements {
			prepared, err := db.Conn(t.Context()).PrepareContext(t.Context(), "-- name: "+strings.TrimPrefix(text, "-- name: "))
			if err != nil {
				t.Errorf("what ran on the version before does not any more: %v\n%s", err, text)
				continue
			}
			_ = prepared.Close()
		}
		if len(statements) < 400 {
			t.Errorf("only %d statements are known", len(statements))
		}
		registered := texts(t, db, `SELECT email FROM users WHERE email LIKE 'ada%@example.com'`) // by the tour
		if len(registered) != 1 {
			t.Fatalf("the tour has registered %v", registered)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}

		config := apptest.NewSettings(t, db.Dialect())
		config.DatabaseURL = settings.Secret(database)
		s := apptest.StartWith(t, config)
		owner := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": sandbox.OwnerEmail, "password": sandbox.OwnerPassword}).Want(200)
		ada := s.LogIn(registered[0])
		tenant := s.Call("GET", "/api/v1/auth/me", ada, nil).Want(200).Str("currentTenant.id")
		o := apptest.Owner{Token: ada, Tenant: tenant}
		for _, path := range []string{"/subscription", "/usage/quotas", "/invoices", "/team/members", "/roles", "/api-keys", "/webhook-endpoints", "/audit-logs"} {
			s.Call("GET", o.Path(path), ada, nil).Want(200)
		}
		s.Call("GET", "/api/v1/auth/me", owner.Str("accessToken"), nil).Want(200)
		s.Call("PATCH", "/api/v1/user", ada, apptest.Object{"locale": "it"}).Want(200)
	})
}
