// Package audit implements the audit log. It records who changed what, on whose behalf and from
// where (rules: impersonation#audit-trail). Every change by a tenant or an admin adds one entry in
// the transaction of the change. Entries are never modified, and deleted only after their retention
// period.
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

// Entry describes one change. The actor, the impersonated user and the source of the request come
// from the context that is passed to Record.
type Entry struct {
	// Action is the kind of change, such as "tenant.updated".
	Action string
	// TenantID is the affected tenant, or nil if the change affects no tenant.
	TenantID *uuid.UUID
	// Resource and ResourceID identify the changed resource, such as "role" and "12".
	Resource, ResourceID string
	// Before and After are the resource, or the changed part of it, before and after the change.
	// They are nil or encode as JSON objects. If both are objects, only the keys that differ are
	// stored. Large values are stored as digests. Do not pass secrets: only values under well-known
	// names are redacted.
	Before, After any
	// ActorID is the actor if the context carries no caller, for example at login.
	ActorID *int64
}

// Deps holds the dependencies of a Log.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
}

// Log is the audit log.
type Log struct {
	deps  Deps
	store store
}

// New returns a new Log.
func New(d Deps) *Log { return &Log{deps: d, store: store{d.DB}} }

// Record adds an entry in the transaction of ctx. Without a caller in ctx, as in the CLI, the actor
// is e.ActorID, which can be nil.
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
			r.actorID, r.subjectID, r.reason = &caller.Impersonator.UserID, &caller.UserID, caller.Impersonator.Reason
		}
	}
	return l.store.insert(ctx, r)
}

// CountDays counts the entries of past days, in total and per tenant. It is a periodic job.
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

// DeleteOld deletes up to limit entries created between from (inclusive) and before (exclusive),
// the oldest first. It returns their creation times.
func (l *Log) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return l.store.deleteOld(ctx, from, before, limit)
}
