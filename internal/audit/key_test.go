package audit_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A change by an API key, or a later consequence of it, is recorded with the ID of the key.
func TestEntriesOfAKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		log := audit.New(audit.Deps{DB: db, Clock: clock.NewFixed(noon)})
		key := uuid.MustParse("01990000-0000-7000-8000-000000000001")
		at := authz.With(t.Context(), &authz.Caller{Key: &authz.Key{ID: key}})
		later := authz.OriginOf(at).NewContext(t.Context())
		for _, ctx := range []context.Context{at, later} {
			if err := log.Record(ctx, audit.Entry{Action: "a", Resource: "r", ResourceID: "1"}); err != nil {
				t.Fatal(err)
			}
		}
		found, err := db.Conn(t.Context()).QueryContext(t.Context(), `SELECT actor_id, api_key_id FROM audit_logs`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = found.Close() }()
		entries := 0
		for ; found.Next(); entries++ {
			var actor *int64
			var by *uuid.UUID
			if err := found.Scan(&actor, &by); err != nil || actor != nil || by == nil || *by != key {
				t.Errorf("by %v and the key %v: %v", actor, by, err)
			}
		}
		if err := found.Err(); err != nil || entries != 2 {
			t.Errorf("%d entries: %v", entries, err)
		}
	})
}
