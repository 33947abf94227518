// Package audit is the trail of changes: who changed what, as whom and from where
// (rules: impersonation#audit-trail). Whatever a tenant or the administration changes
// adds one entry in the same transaction, so that neither is stored without the other.
// Entries are never changed, and deleted only at the end of their retention.
package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Entry is one change. Who made it, as whom and from where comes from the context that
// it is recorded in.
type Entry struct {
	// Action is what was done, such as "tenant.updated".
	Action string
	// TenantID is the tenant that it concerns; nil where it concerns none.
	TenantID *uuid.UUID
	// Resource and ResourceID name what was changed, such as "role" and "12".
	Resource, ResourceID string
	// Before and After are the changed thing, or the part of it that was changed:
	// anything that encodes as a JSON object, or nil. Of two objects only the keys that
	// differ are stored, large values as their digests. Do not pass secrets; those under
	// well-known names are removed.
	Before, After any
	// ActorID is the actor of a change that has no caller in its context, such as a login.
	ActorID *int64
}

// Deps is what the log needs.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
}

// Log is the trail.
type Log struct {
	deps  Deps
	store store
}

// New returns the trail.
func New(d Deps) *Log { return &Log{deps: d, store: store{d.DB}} }

// Record adds an entry in the transaction of ctx. Without a caller in ctx, as on
// the command line, the entry has no actor.
func (l *Log) Record(ctx context.Context, e Entry) error {
	before, after, err := difference(e.Before, e.After)
	if err != nil {
		return fmt.Errorf("audit: %s: %w", e.Action, err)
	}
	r := record{Entry: e, before: before, after: after, source: authz.SourceOf(ctx), at: l.deps.Clock.Now(), actorID: e.ActorID}
	if caller := authz.FromContext(ctx); caller != nil {
		if caller.Key != nil {
			r.keyID = &caller.Key.ID
		} else {
			r.actorID = &caller.UserID
		}
		if caller.Impersonator != nil {
			r.actorID, r.subjectID = &caller.Impersonator.UserID, &caller.UserID
		}
	}
	return l.store.insert(ctx, r)
}

// CountDays is a periodic job: it counts the entries of days that are over, all and those of
// each tenant.
func (l *Log) CountDays(ctx context.Context) error {
	for _, count := range []func(context.Context, time.Time) (bool, error){l.store.countDays, l.store.countTenants} {
		for more := true; more; {
			var err error
			if more, err = count(ctx, l.deps.Clock.Now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// DeleteOld deletes at most limit entries of a time from (inclusive) to before (exclusive),
// the oldest first, and returns their times.
func (l *Log) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return l.store.deleteOld(ctx, from, before, limit)
}
