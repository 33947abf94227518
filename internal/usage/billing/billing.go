// Package billing reports billable usage to the payment provider and estimates what
// it will cost (rules: usage#billing).
//
// Recording queues a figure for each billable event, in the transaction that stores
// the event (Queue). In the background the Reporter adds the figures that follow from
// whole periods, and reports what is queued. What the provider rejects for good is kept
// (Rejections) until somebody decides about it.
package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/errorreport"
	"github.com/tenantry/tenantry/internal/usage"
)

// Provider is what billing needs of the payment provider; *psp.Client is one.
type Provider interface {
	GetPrice(ctx context.Context, id string) (psp.Price, error)
	GetMeter(ctx context.Context, id string) (psp.Meter, error)
	// ReportUsage reports one figure. The provider counts it once, however often it
	// is reported within psp.IdentifierLife.
	ReportUsage(ctx context.Context, u psp.UsageReport) error
	ListInvoices(ctx context.Context, q psp.InvoiceQuery) (psp.InvoicePage, error)
}

// ErrorReports reads what the provider found wrong later; total counts all of it.
type ErrorReports interface {
	UsageErrors(ctx context.Context, eventID string) (samples []errorreport.UsageError, total int, err error)
}

// Customers knows the tenants' customers at the payment provider.
type Customers interface {
	// Customer returns the customer's id, "" for a tenant that has none.
	Customer(ctx context.Context, tenantID uuid.UUID) (string, error)
}

// Payer says how a tenant pays.
type Payer struct {
	// Billing is nil for a tenant without a subscription that is active, trialing
	// or past due.
	Billing *usage.Billing
	// Currency is that of the subscription, else the one that the tenant prefers.
	Currency string // ISO 4217
	// PaysUsage says that what is used now will be billed: not in a trial, nor by a
	// plan that bills no usage.
	PaysUsage bool
	// Prices are the provider's prices that bill the usage of the subscription; nil
	// where they are not known.
	Prices []string
	// AddedAt says since when prices bill usage that were added during the current period.
	AddedAt map[string]time.Time
	// Metered says how the usage of each period is billed, nil where the plan bills none.
	// It is known for an unpaid subscription too.
	Metered *Metered
}

// Metered is how a subscription bills usage (rules: usage#new-prices).
type Metered struct {
	Period  usage.Period // the current one, as it was last read back
	Decided bool         // which prices bill it
	// Since is from when on they do, zero where that is the start of the period.
	Since  time.Time
	Prices []string // that bill the current period
	Former []string // that billed the one before
}

// isOnHold reports whether usage of a time is not to be reported yet: which prices bill its
// period is not decided.
func (m *Metered) isOnHold(at time.Time) bool {
	return m != nil && (!at.Before(m.Period.End) || !at.Before(m.Period.Start) && !m.Decided)
}

// reportTime returns the time that usage is reported with. What was used in a period
// before its prices took effect is reported as used right after that.
func (m *Metered) reportTime(at time.Time) time.Time {
	if m == nil || !m.Period.Contains(at) || !at.Before(m.Since) {
		return at
	}
	if last := m.Period.End.Add(-time.Second); last.Before(m.Since) {
		return last
	}
	return m.Since
}

// areInCurrentPeriod reports whether both times are in the current period.
func (m *Metered) areInCurrentPeriod(a, b time.Time) bool {
	return m != nil && m.Period.Contains(a) && m.Period.Contains(b)
}

// Payers knows how tenants pay.
type Payers interface {
	Payer(ctx context.Context, tenantID uuid.UUID) (Payer, error)
	// IsBilled reports whether a time was in a billing period that is over, of a
	// subscription whose usage was billed then.
	IsBilled(ctx context.Context, tenantID uuid.UUID, at time.Time) (bool, error)
}

// Audit is the trail of decisions.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}
