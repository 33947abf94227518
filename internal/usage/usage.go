// Package usage measures what tenants consume: meters, idempotent usage events, the
// quotas of the tenant's plan, and what the API shows of them (rules: usage).
//
// Every quantity is an exact integer of millionths. At any time a counter is the
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

// recentEvents is how many events the detail of a meter shows (rules: usage#reading).
const recentEvents = 20

// Meter is something whose usage is measured. Its code is that of the feature whose
// quota limits it (rules: usage#meters).
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
	// IdempotencyKey is nil for none. Of a tenant's events on a meter only one can
	// have a key.
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
	// Limits are the quotas of the subscription's plan by feature code, in whole
	// units. A code that is missing is unlimited, as is one whose entitlement is
	// boolean or has no value.
	Limits map[string]int64
}

// limit is the quota of a meter in whole units, nil when it is unlimited.
func (a Allowance) limit(meterCode string) *int64 {
	if limit, ok := a.Limits[meterCode]; ok {
		return &limit
	}
	return nil
}

// planReader knows what tenants may use; the subscription domain implements it.
type planReader interface {
	// Allowances returns queries, and a function that returns the allowances once these have
	// run. They run in the transaction that stores usage, so that it is judged by the current
	// plan. Tenants without a subscription may be left out; they have the zero Allowance.
	// Callers must not change the result.
	Allowances(ctx context.Context, tenantIDs []uuid.UUID) (queries []sqldb.Query, read func(ctx context.Context) (map[uuid.UUID]Allowance, error))
	// AllowanceTables are all tables that Allowances reads.
	AllowanceTables() []string
}

// Reading is what a meter shows of a tenant.
type Reading struct {
	Meter   Meter
	Period  Period // the one that contains now
	Current money.Total
	Limit   *int64 // in whole units, nil when unlimited
}

// Percent is the usage in percent of the limit, rounded half up to two decimals;
// nil when unlimited.
func (r Reading) Percent() *float64 { return percentOf(r.Current, r.Limit) }

// Status says how near the usage is to the limit.
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
