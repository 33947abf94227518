// Package timeline lists past events, newest first and paginated by cursor, for the whole platform
// or for one tenant (rules: impersonation#time-lines). It is read-only. Entries come from the audit
// trail, payments, quota alerts, rejected usage and failed webhooks, and carry the names of the
// users, tenants and API keys involved.
package timeline

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Kind is a group of entries, used as a filter.
type Kind string

// The kinds of entries.
const (
	Changes  Kind = "changes"  // entries of the audit trail
	Payments Kind = "payments" // invoices, payments and refunds
	Usage    Kind = "usage"    // quotas that are almost or fully used, and rejected events
	Webhooks Kind = "webhooks" // abandoned deliveries
)

var (
	errBadCursor = fault.OnField("cursor", "validation.cursor")
	errNoTenant  = fault.New(fault.NotFound, "error.not_found")
)

// source is an origin of entries. The index in sources orders entries with the same timestamp.
type source struct {
	name string // prefix of entry IDs, also part of cursors
	kind Kind
	keys form
	// read returns up to most entries after the given time and key. A nil tenant selects all
	// tenants. The query must be served by an index.
	read func(s store, ctx context.Context, tenant *uuid.UUID, at time.Time, below key, most int32) ([]entry, error)
}

var sources = []source{
	{"audit", Changes, byNumber, store.changes},
	{"payment", Payments, byNumber, store.payments},
	{"alert", Usage, byID, store.alerts},
	{"refused", Usage, byStream, store.refusals},
	{"webhook", Webhooks, byID, store.webhookFailures},
}

// entry is one event of a timeline. Exactly one of change and facts is set.
type entry struct {
	cursor
	action string
	tenant *uuid.UUID
	change *change
	facts  facts
}

// change holds the details of an audit trail entry.
type change struct {
	actor, subject       *int64
	reason               *string // of the impersonation of subject
	key                  *uuid.UUID
	resource, resourceID string
	before, after        sqldb.JSON
}
