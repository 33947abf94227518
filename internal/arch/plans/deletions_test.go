package plans_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// deletions returns the DELETE statements of the program and their tables.
func deletions(t *testing.T) (statements, tables []string) {
	t.Helper()
	deletion := regexp.MustCompile("(?s)`-- name: \\w+ :\\w+\n(DELETE FROM (\\w+)[^`]*)`")
	for _, pattern := range []string{"../../*/*sql/*.sql.go", "../../*/*/*sql/*.sql.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range deletion.FindAllStringSubmatch(string(text), -1) {
				if rare[match[2]] == "" {
					statements, tables = append(statements, match[1]), append(tables, match[2])
				}
			}
		}
	}
	return statements, tables
}

// rare has the tables whose deletions may scan whole tables, with the reason.
var rare = map[string]string{
	"currencies":       "an admin deletes an unused currency",
	"usage_counters":   "of a meter, which an administrator deletes",
	"psp_price_states": "a row for each price; what shows that one is left over is in other tables",
	"usage_peaks":      "a row for each tenant and meter; what shows that one is left over is in other tables",
}

// Each deletion uses an index to find its rows, and the rows that can refer to them. No deletion
// scans a whole table.
func TestDeletionsFindTheirRows(t *testing.T) {
	t.Parallel()
	statements, tables := deletions(t)
	for _, grows := range []string{"jobs", "psp_events", "audit_logs", "impersonation_logs", "invitations", "invited_addresses", "credentials", "wrong_passwords", "oauth_codes"} {
		if !slices.Contains(tables, grows) {
			t.Errorf("no statement deletes from %s", grows)
		}
	}
	for _, p := range dbtest.PlansOf(t, statements) {
		for i, step := range p.Steps {
			whole := strings.HasPrefix(step, "SCAN") || strings.HasPrefix(step, "Seq Scan")
			if strings.HasPrefix(step, "Index") && !strings.HasPrefix(step, "Index Cond") {
				whole = i+1 == len(p.Steps) || !strings.HasPrefix(p.Steps[i+1], "Index Cond")
			}
			if whole {
				t.Errorf("%s reads a whole table by %s in\n%s", p.Database, step, p.Statement)
			}
		}
	}
	for _, reference := range unindexed(t) {
		if slices.Contains(tables, reference.to) {
			t.Errorf("each deletion from %s scans all of %s: no index on %s", reference.to, reference.from, reference.column)
		}
	}
}

// reference is a column with keys of another table.
type reference struct{ from, column, to string }

// unindexed returns the references whose column is not the first of any index.
func unindexed(t *testing.T) (found []reference) {
	t.Helper()
	db := dbtest.New(t, sqldb.SQLite)
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), `SELECT m.name, f."from", f."table" FROM sqlite_master m, pragma_foreign_key_list(m.name) f
WHERE m.type = 'table' AND f.seq = 0
  AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) i, pragma_index_info(i.name) c WHERE c.seqno = 0 AND c.name = f."from")
  AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = f."from" AND c.pk = 1)`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r reference
		if err := rows.Scan(&r.from, &r.column, &r.to); err != nil {
			t.Fatal(err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
