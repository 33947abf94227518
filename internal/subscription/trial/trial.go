// Package trial records the trials that tenants have had: at most one of each
// product, for ever (rules: subscription#trials).
package trial

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Record is the record of all trials.
type Record struct{ store store }

// NewRecord returns the record.
func NewRecord(db *sqldb.DB) *Record { return &Record{store{db}} }

// Had reports whether a tenant has had a trial of a plan's product. Who holds the
// tenant's lock is told of every trial that has begun.
func (r *Record) Had(ctx context.Context, tenantID, planID uuid.UUID) (bool, error) {
	return r.store.had(ctx, tenantID, planID)
}

// Trial is a trial that begins.
type Trial struct {
	TenantID       uuid.UUID
	PlanID         uuid.UUID // that was chosen, whatever plan the subscription has later
	SubscriptionID uuid.UUID
	BeganAt        time.Time
}

// Begin records a trial, in the transaction that stores its subscription. A product
// that the tenant has had a trial of keeps the record of the first one.
func (r *Record) Begin(ctx context.Context, t Trial) error { return r.store.begin(ctx, t) }
