// Package timeline reads what has happened, the newest first and by a cursor: anywhere, or
// in one tenant (rules: impersonation#time-lines). It writes nothing. The entries are those
// of the audit trail, of payments, of quotas and what was refused for them, and of webhooks,
// with the names of who and what is in them.
package timeline

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Kind is a group of entries that readers ask for.
type Kind string

// The kinds.
const (
	Changes  Kind = "changes"  // of the audit trail
	Payments Kind = "payments" // invoices, payments and refunds
	Usage    Kind = "usage"    // quotas that are nearly or wholly used, and what was refused for them
	Webhooks Kind = "webhooks" // deliveries that were given up
)

var (
	errBadCursor = fault.OnField("cursor", "validation.cursor")
	errNoTenant  = fault.New(fault.NotFound, "error.not_found")
)

// source is where entries come from. Its place in sources orders those of one moment.
type source struct {
	name string // begins the ids of entries, and stands in cursors
	kind Kind
	keys form
	// read returns the first entries after a moment and a key, of one tenant unless that is
	// nil. It reads them by an index.
	read func(s store, ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error)
}

var sources = []source{
	{"audit", Changes, byNumber, store.changes},
	{"payment", Payments, byNumber, store.payments},
	{"alert", Usage, byID, store.alerts},
	{"refused", Usage, byStream, store.refusals},
	{"webhook", Webhooks, byID, store.webhookFailures},
}

// entry is something that has happened. Exactly one of change and facts is set.
type entry struct {
	cursor
	action string
	tenant *uuid.UUID
	change *change
	facts  facts
}

// change is what an entry of the audit trail has besides.
type change struct {
	actor, subject       *int64
	key                  *uuid.UUID
	resource, resourceID string
	before, after        sqldb.JSON
}
