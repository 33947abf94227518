package sqldb_test

import (
	"context"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Every commit on SQLite is synced to disk.
func TestCommitsAreSynced(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	const full = 2
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		var mode int
		if err := db.Conn(ctx).QueryRowContext(ctx, "PRAGMA synchronous").Scan(&mode); err != nil {
			return err
		}
		if mode != full {
			t.Errorf("synchronous is %d, want %d", mode, full)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
