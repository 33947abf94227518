package sqldb_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// InCondition finds each matching row once for any number of keys of each type, including
// duplicates. On PostgreSQL the text does not depend on the number of keys, so a connection
// prepares and plans it only once.
func TestAmong(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		texts := map[string]bool{}
		for _, names := range [][]string{{"owner"}, {"owner", "owner", "nobody"}, {"member", "owner", "member", "a", "b", "c", "d", "e", "f"}} {
			among, args := sqldb.InCondition(db, 2, "text", names)
			texts[among] = true
			ids := find[int64](t, db, `SELECT id FROM roles WHERE $1::bigint = 1 AND name `+among, append([]any{1}, args...))
			amongIDs, idArgs := sqldb.InCondition(db, 1, "bigint", ids)
			found := find[string](t, db, `SELECT name FROM roles WHERE id `+amongIDs, idArgs)
			slices.Sort(found)
			want := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool { return name != "owner" && name != "member" })
			if !slices.Equal(found, want) {
				t.Errorf("%v: %v, want %v", names, found, want)
			}
		}
		one := uuid.New()
		among, args := sqldb.InCondition(db, 2, "uuid", []uuid.UUID{uuid.New(), one})
		if n := find[int64](t, db, `SELECT count(*) FROM (VALUES ($1::uuid)) v WHERE v.column1 `+among, append([]any{one}, args...)); n[0] != 1 {
			t.Errorf("%d ids", n[0])
		}
		if db.Dialect() == sqldb.Postgres && len(texts) != 1 {
			t.Errorf("texts %v", texts)
		}
	})
}

// Values returns every row for any number of rows, with values of every type and NULLs. On SQLite
// the last row may be repeated. On PostgreSQL the text does not depend on the number of rows.
func TestValues(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		types := []string{"bigint", "uuid", "text", "jsonb", "timestamptz", "integer", "boolean"}
		at := time.Date(2026, 11, 26, 23, 0, 0, 123456000, time.UTC)
		texts := map[string]bool{}
		for _, n := range []int{1, 2, 3, 13, 100} {
			type row struct {
				n     int64
				id    uuid.UUID
				name  *string
				doc   sqldb.JSON
				then  bool // the given time equals the parameter
				small int
				yes   bool
			}
			rows := map[int64]row{}
			var values []any
			for i := range int64(n) {
				r := row{n: i, id: uuid.New(), small: int(i % 5), yes: i%2 == 0}
				var given *time.Time
				if i%3 == 0 {
					r.name, r.doc, r.then, given = new("{a,\"b\"}"), sqldb.JSON(`{"a": "<ü>"}`), true, &at
				}
				rows[i] = r
				values = append(values, r.n, r.id, r.name, r.doc, given, r.small, r.yes)
			}
			query, args := sqldb.Values(db, 2, values, types...)
			texts[query] = true
			found := map[int64]row{}
			err := db.QueryAll(t.Context(), sqldb.Query{
				Doing: "read the given values",
				Text:  `SELECT v.column1, v.column2, v.column3, v.column4, COALESCE(v.column5 = $1::timestamptz, false), v.column6, v.column7 FROM (` + query + `) v`,
				Args:  append([]any{at}, args...),
				Row: func(scan func(...any) error) error {
					var r row
					err := scan(&r.n, &r.id, &r.name, &r.doc, &r.then, &r.small, &r.yes)
					found[r.n] = r
					return err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rows, found, cmp.AllowUnexported(row{})); diff != "" {
				t.Errorf("%d rows: -given +found\n%s", n, diff)
			}
		}
		if db.Dialect() == sqldb.Postgres && len(texts) != 1 {
			t.Errorf("texts %v", texts)
		}
	})
}

// find returns the first column of all rows.
func find[T any](t *testing.T, db *sqldb.DB, query string, args []any) (all []T) {
	t.Helper()
	err := db.QueryAll(t.Context(), sqldb.Query{Doing: "find", Text: query, Args: args, Row: func(scan func(...any) error) error {
		var one T
		err := scan(&one)
		all = append(all, one)
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
