// Package usage measures the consumption of tenants. It covers meters, idempotent usage events, the
// quotas of the tenant's plan, and the usage API (rules: usage).
//
// Every quantity is an exact integer of millionths. A counter always equals the aggregate of the
// stored events of its period, because both change in one transaction.
package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// maxAhead is how far recorded_at can be in the future, to allow for clock differences.
const maxAhead = 5 * time.Minute

// recentEvents is the number of events in the detail of a meter (rules: usage#reading).
const recentEvents = 20

// Meter measures one kind of usage. It shares its code with the feature whose quota limits it
// (rules: usage#meters).
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

// Recording is a usage event to record.
type Recording struct {
	MeterCode string
	Quantity  money.Quantity // at least 0
	// IdempotencyKey is optional. It must be unique among a tenant's events on a meter.
	IdempotencyKey *string
	// RecordedAt determines the period in which the event counts; nil means now.
	RecordedAt *time.Time
	Metadata   sqldb.JSON // an object, or nil
}

// Event is a recorded usage event.
type Event struct {
	ID         uuid.UUID
	MeterCode  string
	Quantity   money.Quantity
	RecordedAt time.Time
	Metadata   sqldb.JSON
}

// Allowance is the usage that a tenant's subscription grants.
type Allowance struct {
	// Billing is nil for a tenant without an active or trialing subscription.
	Billing *Billing
	// Limits are the quotas of the subscription's plan by feature code, in whole units. A missing code
	// is unlimited, and so is a code whose entitlement is boolean or lacks a value.
	Limits map[string]int64
	// BillsUsage means that the plan bills usage; see planReader.Prices. Usage in a trial is free.
	BillsUsage, IsTrial bool
	Currency            string   // ISO 4217, of the subscription
	PriceIDs            []string // the provider's prices that bill usage; nil if unknown
	// ChangesAt is when an override expires or a grace period ends next; nil for never.
	ChangesAt *time.Time
}

// limit returns the quota of a meter in whole units, or nil if it is unlimited.
func (a Allowance) limit(meterCode string) *int64 {
	if limit, ok := a.Limits[meterCode]; ok {
		return &limit
	}
	return nil
}

// planReader loads the allowances of tenants. The subscription package implements it.
type planReader interface {
	// Allowances returns queries, and a function that returns the allowances once the queries have
	// run. They run in the transaction that stores usage, so that the current plan applies. Tenants
	// without a subscription can be missing; they have the zero Allowance. Callers must not modify
	// the result.
	Allowances(ctx context.Context, tenantIDs []uuid.UUID) (queries []sqldb.Query, read func(ctx context.Context) (map[uuid.UUID]Allowance, error))
	// Prices returns the unit prices of the meters that the plans of tenants bill, by tenant and
	// meter. It runs no query if no plan bills usage.
	Prices(ctx context.Context, allowances map[uuid.UUID]Allowance) (map[uuid.UUID]map[uuid.UUID]money.UnitPrice, error)
	// AllowanceTables returns all tables that Allowances reads.
	AllowanceTables() []string
}

// Reading is the current usage of a tenant on a meter.
type Reading struct {
	Meter   Meter
	Period  Period // contains now
	Current money.Total
	Limit   *int64 // in whole units; nil if unlimited
	Cap     *int64 // the tenant's own limit in whole units; nil for none
	// Granted is the part of Current that was drawn from grants. GrantsRemaining is the number of
	// remaining units of the valid grants.
	Granted, GrantsRemaining money.Total
	Reserved                 money.Total      // by open reservations; not part of Current
	Rejected                 int64            // events that the limit or the cap rejected in the period
	UnitPrice                *money.UnitPrice // nil unless the plan bills the meter
	Currency                 string           // of UnitPrice, ISO 4217
	alerts                   []quotaAlert
}

// UngrantedUsage returns the part of the usage that the limit has to cover.
func (r Reading) UngrantedUsage() money.Total { return minus(r.Current, r.Granted) }

// Percent returns the usage in percent of the limit, rounded half up to two decimals. It returns
// nil if unlimited.
func (r Reading) Percent() *float64 { return percentOf(r.Current, r.Limit) }

// Status returns the quota status.
func (r Reading) Status() Status { return statusOf(r.Current, r.Limit) }

// Summary holds the usage of a tenant on all active meters, ordered by code.
type Summary struct {
	TenantID uuid.UUID
	// Period is the period of monthly meters: the billing period, or a month of it.
	Period   Period
	Readings []Reading
}

// Detail is the usage on one meter with the newest events of its period.
type Detail struct {
	Reading
	Events []Event
}
