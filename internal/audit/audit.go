// Package audit is the trail of changes: who did what to what, as whom and from
// where. Every operation of a tenant or of the administration that changes
// something adds one entry, in the transaction that makes the change, so that
// neither is there without the other. Entries are never changed or deleted.
package audit

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit/auditsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Entry is one change. Who made it, as whom and from where is read from the
// context that it is recorded in.
type Entry struct {
	// Action is what was done, such as tenant.updated.
	Action string
	// TenantID is the tenant that it concerns; nil where it concerns none.
	TenantID *uuid.UUID
	// Resource and ResourceID name what was changed: "role" and "12".
	Resource, ResourceID string
	// Before and After are the changed thing, or what of it was changed: anything
	// that encodes as a JSON object, or nil. Of two objects only the keys that
	// differ are kept. Secrets do not belong here; see the package's deny list.
	Before, After any
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
	source := authz.SourceOf(ctx)
	row := auditsql.InsertEntryParams{
		TenantID: e.TenantID, Action: e.Action, Resource: e.Resource, ResourceID: e.ResourceID,
		Before: before, After: after, Ip: source.IP, UserAgent: source.UserAgent, CreatedAt: l.deps.Clock.Now(),
	}
	if caller := authz.From(ctx); caller != nil {
		row.ActorID = &caller.UserID
		if caller.Impersonator != nil {
			row.ActorID, row.SubjectID = &caller.Impersonator.UserID, &caller.UserID
		}
	}
	return l.store.insert(ctx, row)
}
