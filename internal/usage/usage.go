// Package usage measures what tenants consume: meters, idempotent usage events,
// the quotas of the tenant's plan, and what of it the API shows (spec: Meter,
// Usage event, Quota status, Usage endpoints).
//
// Every figure is an exact integer of millionths. A counter is at any time the
// aggregate of the stored events of its period; both change in one transaction.
package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// maxAhead is how far a caller's clock may be ahead of the service's.
const maxAhead = 5 * time.Minute

// recentEvents is how many events the detail of a meter shows (spec: Limits).
const recentEvents = 20

// Meter is something whose usage is measured. Code ties it to the feature whose
// quota limits it.
type Meter struct {
	ID          uuid.UUID
	Code        string
	Name        string
	Aggregation Aggregation
	Reset       ResetInterval
	Enforcement Enforcement
	UnitLabel   *string
	Active      bool
}

// Recording is what a caller wants to be recorded.
type Recording struct {
	MeterCode string
	Quantity  money.Quantity // at least 0
	// IdempotencyKey makes the event the only one with this key on this meter
	// of this tenant.
	IdempotencyKey *string
	// RecordedAt decides the period in which the event counts; nil is now.
	RecordedAt *time.Time
	Metadata   sqldb.JSON // an object, or nil
}

// Event is recorded usage.
type Event struct {
	ID         uuid.UUID
	MeterCode  string
	Quantity   money.Quantity
	RecordedAt time.Time
	Metadata   sqldb.JSON
}

// Allowance is what a tenant's subscription grants.
type Allowance struct {
	// Billing is nil for a tenant without an active or trialing subscription.
	Billing *Billing
	// Limits are the quota entitlements of the subscription's plan by feature
	// code, in whole units. A code that is missing is unlimited: entitlements
	// that are boolean or have no value are left out.
	Limits map[string]int64
}

// limit is the quota of a meter, nil when it is unlimited.
func (a Allowance) limit(meterCode string) *int64 {
	if limit, ok := a.Limits[meterCode]; ok {
		return &limit
	}
	return nil
}

// Plans tells what tenants may use; the subscription domain implements it.
type Plans interface {
	// Allowances reads in the transaction of ctx where there is one, so that usage
	// is judged by the plan that holds when it is stored. Tenants without a
	// subscription, who have the zero Allowance, may be left out. Nobody changes
	// what it returns.
	Allowances(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Allowance, error)
}

// Reading is what a meter shows of a tenant.
type Reading struct {
	Meter   Meter
	Period  Period // the one that contains now
	Current money.Quantity
	Limit   *int64 // in whole units, nil when unlimited
}

// Percent is the usage in percent of the limit, rounded half up to two decimals;
// nil when unlimited.
func (r Reading) Percent() *float64 { return percentOf(r.Current, r.Limit) }

// Status tells how near the usage is to the limit.
func (r Reading) Status() Status { return statusOf(r.Current, r.Limit) }

// Summary is what all active meters show of a tenant, ordered by code.
type Summary struct {
	TenantID uuid.UUID
	// Period is that of a monthly meter: the billing period, or the month of it.
	Period   Period
	Readings []Reading
}

// Detail is what one meter shows, with the newest events of its period.
type Detail struct {
	Reading
	Events []Event
}
