package account

import (
	"context"
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A cached credential must depend on every table that it is read from.
func TestCredentialTables(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	read := dbtest.TablesRead(t, db, func(ctx context.Context) error {
		_, err := store{db}.credentialsByHash(ctx, []string{"hash"})
		return err
	})
	if want := slices.Sorted(slices.Values(credentialTables())); !slices.Equal(read, want) {
		t.Errorf("reads %v, declares %v", read, want)
	}
}
