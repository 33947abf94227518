// Package subscription has the tenants' subscriptions: how they are bought at the
// payment provider, how they are changed there, and their state, which is read back.
package subscription

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Status is the state of a subscription; it mirrors the provider's.
type Status string

// The states (rules: subscription#statuses).
const (
	Active            Status = "active"
	Trialing          Status = "trialing"
	PastDue           Status = "past_due"
	Canceled          Status = "canceled"
	Unpaid            Status = "unpaid"
	Paused            Status = "paused"
	Incomplete        Status = "incomplete"
	IncompleteExpired Status = "incomplete_expired"
)

// IsRunning reports whether a subscription in this state can be changed, canceled and
// resumed (rules: subscription#statuses).
func (s Status) IsRunning() bool { return s == Active || s == Trialing || s == PastDue }

// IsOver reports whether the state is final: another subscription may follow.
func (s Status) IsOver() bool { return s == Canceled || s == IncompleteExpired }

// isKnown reports whether the provider's word is one of the states.
func (s Status) isKnown() bool {
	switch s {
	case Active, Trialing, PastDue, Canceled, Unpaid, Paused, Incomplete, IncompleteExpired:
		return true
	default:
		return false
	}
}

// seatsFor returns how many seats a seat plan bills for a team: no fewer than the
// members. More that were bought stay until a member leaves
// (rules: subscription#seats).
func (s Subscription) seatsFor(members int64) int64 {
	if s.Departures > 0 {
		return members
	}
	return max(members, s.Quantity)
}

// Interval is what one period of the subscription lasts.
func (s Subscription) Interval() catalog.Interval {
	return catalog.Interval{Unit: s.IntervalUnit, Count: s.IntervalCount}
}

// Subscription is a tenant's subscription to a plan.
type Subscription struct {
	ID                 uuid.UUID
	TenantID           uuid.UUID
	PlanID             uuid.UUID
	Status             Status
	Currency           string // ISO 4217; never changes
	PriceCents         int64  // per unit, in minor units
	Quantity           int64
	IntervalUnit       string
	IntervalCount      int32
	BillingAnchor      time.Time
	CurrentPeriodStart time.Time
	CurrentPeriodEnd   time.Time
	TrialEndsAt        *time.Time
	// CancelAt is when the subscription ends, nil while it is to go on; operations from
	// before the column have only the flag. CancelAtPeriodEnd says that it was scheduled
	// for the end of the period, and not for a date.
	CancelAt           *time.Time
	CancelAtPeriodEnd  bool
	CanceledAt         *time.Time
	CancellationReason *string
	PSPSubscriptionID  string
	PSPPriceID         string              // empty for a subscription that is older than the column
	Action             money.PaymentAction // what the latest invoice asks of a person
	Pending            *PendingChange      // nil for none
	// Departures counts the members who left and whose seats are still billed.
	Departures int64
	// former are the terms of billing of the last month that hold no more, by their
	// end, encoded; those of the tenant's earlier subscriptions are among them.
	former sqldb.JSON
	// metered are the items that bill usage, encoded; nil before they were read.
	metered sqldb.JSON
	// meteredPeriod and terms are what was decided last about the items that bill usage.
	meteredPeriod *time.Time
	terms         sqldb.JSON
	// SyncVersion counts the states taken over from the provider.
	SyncVersion int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// PendingChange is a change of plan that is made once its invoice is paid.
type PendingChange struct {
	PlanID       uuid.UUID `json:"plan_id"`
	PSPPriceID   string    `json:"psp_price_id"`
	PSPInvoiceID string    `json:"psp_invoice_id"`
	ExpiresAt    time.Time `json:"expires_at"`
}

// BillsLike reports whether the provider's state of the subscription has the status, the
// price, the quantity and the period that are stored here.
func (s Subscription) BillsLike(remote psp.Subscription) bool {
	return string(s.Status) == remote.Status && s.PSPPriceID == remote.PriceID && s.Quantity == remote.Quantity &&
		s.CurrentPeriodStart.Equal(remote.PeriodStart) && s.CurrentPeriodEnd.Equal(remote.PeriodEnd)
}

// hasPendingChange reports whether a change of the subscription waits for its payment.
func (s Subscription) hasPendingChange(now time.Time) bool {
	return s.Pending != nil && s.Pending.ExpiresAt.After(now)
}

// IsEnding reports whether an end is scheduled, in whatever way.
func (s Subscription) IsEnding() bool { return s.CancelAtPeriodEnd || s.CancelAt != nil }
