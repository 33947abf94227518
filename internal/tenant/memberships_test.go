package tenant

import (
	"context"
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Cached memberships must depend on every table that they are read from, and on the subscriptions
// that ListActive reads.
func TestMembershipTables(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	read := dbtest.TablesRead(t, db, func(ctx context.Context) error {
		_, err := store{db}.membershipsOf(ctx, []int64{1})
		return err
	})
	read = append(read, "subscriptions")
	if want := membershipTables(); !slices.Equal(slices.Sorted(slices.Values(read)), slices.Sorted(slices.Values(want))) {
		t.Errorf("reads %v, declares %v", read, want)
	}
}
