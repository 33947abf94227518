package apikey

import (
	"context"
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A cached key must depend on every table that it is read from.
func TestKeyTables(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	read := dbtest.TablesRead(t, db, func(ctx context.Context) error {
		_, err := store{db}.keysByHash(ctx, []lookup{{secretHash: "hash"}})
		return err
	})
	if want := slices.Sorted(slices.Values(keyTables())); !slices.Equal(read, want) {
		t.Errorf("reads %v, declares %v", read, want)
	}
}
