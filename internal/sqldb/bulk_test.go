package sqldb_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Any number of keys of each kind finds the rows that have them, each once, repeated keys or
// not. On PostgreSQL it is one text, so that a connection does not prepare and plan another
// for each number of keys.
func TestAmong(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		texts := map[string]bool{}
		for _, names := range [][]string{{"owner"}, {"owner", "owner", "nobody"}, {"member", "owner", "member", "a", "b", "c", "d", "e", "f"}} {
			among, args := sqldb.Among(db, 2, "text", names)
			texts[among] = true
			ids := find[int64](t, db, `SELECT id FROM roles WHERE $1::bigint = 1 AND name `+among, append([]any{1}, args...))
			amongIDs, idArgs := sqldb.Among(db, 1, "bigint", ids)
			found := find[string](t, db, `SELECT name FROM roles WHERE id `+amongIDs, idArgs)
			slices.Sort(found)
			want := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool { return name != "owner" && name != "member" })
			if !slices.Equal(found, want) {
				t.Errorf("%v: %v, want %v", names, found, want)
			}
		}
		one := uuid.New()
		among, args := sqldb.Among(db, 2, "uuid", []uuid.UUID{uuid.New(), one})
		if n := find[int64](t, db, `SELECT count(*) FROM (VALUES ($1::uuid)) v WHERE v.column1 `+among, append([]any{one}, args...)); n[0] != 1 {
			t.Errorf("%d ids", n[0])
		}
		if db.Dialect() == sqldb.Postgres && len(texts) != 1 {
			t.Errorf("texts %v", texts)
		}
	})
}

// find returns the first column of all rows.
func find[T any](t *testing.T, db *sqldb.DB, query string, args []any) (all []T) {
	t.Helper()
	err := db.Each(t.Context(), sqldb.Query{Doing: "find", Text: query, Args: args, Row: func(scan func(...any) error) error {
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
