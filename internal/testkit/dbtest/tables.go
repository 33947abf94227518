package dbtest

import (
	"context"
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// TablesRead returns the tables that the queries of f read, sorted. SQLite's EXPLAIN lists them,
// including tables of views and subqueries. The queries must not have run on db before.
func TablesRead(t *testing.T, db *sqldb.DB, f func(ctx context.Context) error) []string {
	t.Helper()
	before := db.Statements()
	if err := f(t.Context()); err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, text := range db.Statements() {
		if !slices.Contains(before, text) && plannable.MatchString(text) {
			tables = append(tables, tablesOf(t, db, text)...)
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

// tablesOf returns the tables that a statement reads. The second operand of OpenRead is the root
// page of a table or an index.
func tablesOf(t *testing.T, db *sqldb.DB, text string) (tables []string) {
	t.Helper()
	roots := map[int64]string{}
	query(t, db, `SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0`, nil, func(scan func(...any) error) error {
		var root int64
		var name string
		err := scan(&root, &name)
		roots[root] = name
		return err
	})
	query(t, db, `EXPLAIN `+text, make([]any, parameters(text)), func(scan func(...any) error) error {
		var addr, p1, p2, p3 int64
		var opcode string
		var p4, p5, comment any
		err := scan(&addr, &opcode, &p1, &p2, &p3, &p4, &p5, &comment)
		if opcode == "OpenRead" {
			tables = append(tables, roots[p2])
		}
		return err
	})
	return tables
}

func query(t *testing.T, db *sqldb.DB, text string, args []any, row func(scan func(...any) error) error) {
	t.Helper()
	if err := db.QueryAll(t.Context(), sqldb.Query{Doing: "explain", Text: text, Args: args, Row: row}); err != nil {
		t.Fatal(err)
	}
}
