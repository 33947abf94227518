package querycache_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Lookup returns stored values until their table changes, also in the transaction that changes it.
func TestLookup(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &source{db: db}
		c := newCache(s)
		mustSet(t, db, "a", 1)
		keys := []string{"a", "b"}
		values, missing, store := c.Lookup(t.Context(), keys)
		if diff := cmp.Diff(keys, missing); len(values) > 0 || diff != "" {
			t.Errorf("an empty cache has %v\n%s", values, diff)
		}
		store(map[string]int64{"a": 1})
		wantMissing := keys
		if db.Dialect() == sqldb.SQLite {
			wantMissing = []string{"b"}
		}
		values, missing, _ = c.Lookup(t.Context(), keys)
		if diff := cmp.Diff(wantMissing, missing); len(values)+len(missing) != len(keys) || diff != "" {
			t.Errorf("values %v\n%s", values, diff)
		}
		undone := errors.New("undone")
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if err := set(ctx, db, "a", 2); err != nil {
				return err
			}
			if values, _, _ := c.Lookup(ctx, keys); len(values) > 0 {
				t.Errorf("the transaction that changes the table sees %v", values)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Error(err)
		}
		mustSet(t, db, "a", 3)
		if values, _, _ := c.Lookup(t.Context(), keys); len(values) > 0 {
			t.Errorf("after a change: %v", values)
		}
	})
}
