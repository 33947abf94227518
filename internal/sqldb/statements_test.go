package sqldb_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A statement can run again while its rows are being read. Statements beyond the size of the cache
// also run.
func TestPrepared(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	const query = `SELECT name FROM roles ORDER BY id`
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		var all []string
		outer, err := db.Conn(ctx).QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer outer.Close()
		for outer.Next() {
			var name, first string
			if err := outer.Scan(&name); err != nil {
				return err
			}
			if err := db.Conn(ctx).QueryRowContext(ctx, query).Scan(&first); err != nil {
				return err
			}
			all = append(all, first+"+"+name)
		}
		if got := fmt.Sprint(all); got != "[owner+owner owner+admin owner+member]" {
			t.Errorf("got %s", got)
		}
		return outer.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range 1200 {
			var n int
			if err := db.Conn(t.Context()).QueryRowContext(t.Context(), fmt.Sprintf(`SELECT $1::bigint + %d`, i), 1).Scan(&n); err != nil || n != i+1 {
				t.Fatalf("%d: %d, %v", i, n, err)
			}
		}
	}
}
