// Package billing reports billable usage to the payment provider and estimates its cost
// (rules: usage#billing).
//
// Recording queues a figure for each billable event, in the transaction that stores the event
// (Queue). In the background, the Reporter adds the figures that are due at the start of periods
// and reports all queued figures. Figures that the provider permanently rejects are stored
// (Rejections) until an operator decides about them.
package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/usage"
)

// Provider is the part of the payment provider's API that billing uses. *psp.Client implements it.
type Provider interface {
	GetPrice(ctx context.Context, id string) (psp.Price, error)
	GetMeter(ctx context.Context, id string) (psp.Meter, error)
	// ReportUsage reports one figure. The provider counts it once, even if it is reported several
	// times within psp.IdentifierLife.
	ReportUsage(ctx context.Context, u psp.UsageReport) error
	ListInvoices(ctx context.Context, q psp.InvoiceQuery) (psp.InvoicePage, error)
}

// ErrorReports reads the errors that the provider detected after it had accepted the usage. total
// is the number of all errors, including errors without a sample.
type ErrorReports interface {
	UsageErrors(ctx context.Context, eventID string) (samples []inbox.UsageError, total int, err error)
}

// Customers returns the tenants' customers at the payment provider.
type Customers interface {
	// Customer returns the customer's ID, or "" if the tenant has no customer.
	Customer(ctx context.Context, tenantID uuid.UUID) (string, error)
}

// Payer describes how a tenant pays.
type Payer struct {
	// Billing is nil for a tenant without a subscription that is active, trialing or past due.
	Billing *usage.Billing
	// Currency is the currency of the subscription or, without one, the tenant's preferred
	// currency.
	Currency string // ISO 4217
	// PaysUsage is true if current usage will be billed. It is false in a trial and for a plan that
	// does not bill usage.
	PaysUsage bool
	// Prices are the provider's prices that bill the usage of the subscription; nil if unknown.
	Prices []string
	// AddedAt holds the start times of prices that were added during the current period.
	AddedAt map[string]time.Time
	// Discount returns the part of the discount that applies to the usage lines of the next invoice,
	// given their amounts. It is nil without a discount.
	Discount func(lines []int64) int64
	// Metered describes how the usage of each period is billed. It is nil if the plan does not bill
	// usage. It is also set for an unpaid subscription.
	Metered *MeteredBilling
}

// MeteredBilling describes how a subscription bills usage (rules: usage#new-prices).
type MeteredBilling struct {
	Period  usage.Period // the current period, as last read from the provider
	Decided bool         // whether the prices of the period are decided
	// Since is when the prices took effect; zero means the start of the period.
	Since  time.Time
	Prices []string // prices that bill the current period
	Former []string // prices that billed the previous period
}

// isOnHold reports whether usage at the given time must not be reported yet, because the prices of
// its period are undecided.
func (m *MeteredBilling) isOnHold(at time.Time) bool {
	return m != nil && (!at.Before(m.Period.End) || !at.Before(m.Period.Start) && !m.Decided)
}

// reportTime returns the time to report for usage at the given time. Usage from before the prices
// of its period took effect is reported with the time at which they took effect.
func (m *MeteredBilling) reportTime(at time.Time) time.Time {
	if m == nil || !m.Period.Contains(at) || !at.Before(m.Since) {
		return at
	}
	if last := m.Period.End.Add(-time.Second); last.Before(m.Since) {
		return last
	}
	return m.Since
}

// areInCurrentPeriod reports whether both times are in the current period.
func (m *MeteredBilling) areInCurrentPeriod(a, b time.Time) bool {
	return m != nil && m.Period.Contains(a) && m.Period.Contains(b)
}

// Payers returns how tenants pay.
type Payers interface {
	Payer(ctx context.Context, tenantID uuid.UUID) (Payer, error)
	// IsBilled reports whether a time lies in a past billing period of a subscription that billed
	// the usage of that period, or before a change of plan that billed the usage of the current
	// period and that was made before queued.
	IsBilled(ctx context.Context, tenantID uuid.UUID, at, queued time.Time) (bool, error)
}

// Audit records decisions in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}
