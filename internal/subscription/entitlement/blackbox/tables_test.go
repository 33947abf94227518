package blackbox_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Cached features, terms and memberships must depend on every table that they are read from.
func TestTermTables(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	s, ids := entitlement.NewService(entitlement.Deps{DB: db, Clock: clock.System()}), []uuid.UUID{uuid.New()}
	read := dbtest.TablesRead(t, db, func(ctx context.Context) error {
		if _, err := s.GrantedFeatures(ctx, ids[0]); !errors.Is(err, entitlement.ErrNone) {
			return err
		}
		queries, _ := s.TermsOf(ids)
		return db.QueryAll(ctx, queries...)
	})
	if want := slices.Sorted(slices.Values(entitlement.TermTables())); !slices.Equal(read, want) {
		t.Errorf("reads %v, declares %v", read, want)
	}
	read = dbtest.TablesRead(t, db, func(ctx context.Context) error {
		_, err := s.Overview(ctx, ids)
		return err
	})
	if want := []string{"plans", "subscriptions"}; !slices.Equal(read, want) {
		t.Errorf("Overview reads %v, cached memberships depend on %v", read, want)
	}
}
