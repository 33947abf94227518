package sqldb_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Roles that have characters nobody sees lose them, and stay different from others.
func TestRoleNamesBecomeVisible(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("migrations/00056_visible_role_names.sql")
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := db.Conn(ctx).ExecContext(ctx, query, args...); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		const tenants = `INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at)
			VALUES ($1, 'A', $2, 'EUR', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`
		one, two := "01990000-0000-7000-8000-000000000001", "01990000-0000-7000-8000-000000000002"
		exec(tenants, one, "one")
		exec(tenants, two, "two")
		for i, name := range []string{"Editor", "Edi\u200btor", "\u202eEditor", "Ad\u00admin", "\ufeff", "Plain", "Zero\u200d\u2060Width"} {
			exec(`INSERT INTO roles (id, tenant_id, name, name_key, created_at, updated_at)
				VALUES ($1, $2, $3, $4, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`, 100+i, one, name, strings.ToLower(name))
		}
		exec(`INSERT INTO roles (id, tenant_id, name, name_key, created_at, updated_at)
			VALUES (200, $1, $2, $3, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`, two, "Edi\u200btor", "edi\u200btor")
		migration := string(text)
		if db.Dialect() == sqldb.SQLite {
			migration = sqldb.DeriveSchema(migration)
		}
		for statement := range strings.SplitSeq(migration, ";\n") {
			if strings.TrimSpace(statement) != "" {
				exec(statement)
			}
		}
		rows, err := db.Conn(ctx).QueryContext(ctx, `SELECT name, name_key FROM roles WHERE id >= 100 ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			var name, key string
			if err := rows.Scan(&name, &key); err != nil {
				t.Fatal(err)
			}
			if strings.ToLower(name) != key {
				t.Errorf("%q has the key %q", name, key)
			}
			got = append(got, name)
		}
		want := []string{"Editor", "Editor 101", "Editor 102", "Admin 103", " 104", "Plain", "ZeroWidth", "Editor"}
		if diff := cmp.Diff(want, got); diff != "" || rows.Err() != nil {
			t.Errorf("%v: %s", rows.Err(), diff)
		}
	})
}
