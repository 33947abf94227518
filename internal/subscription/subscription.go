// Package subscription manages the tenants' subscriptions: it sells and changes them through the
// payment provider, and stores the state that it reads back from the provider.
package subscription

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// Status is the state of a subscription. The values are the provider's.
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

// IsOver reports whether the state is final. The tenant can then subscribe again.
func (s Status) IsOver() bool { return s == Canceled || s == IncompleteExpired }

// isKnown reports whether the provider's status is one of the constants above.
func (s Status) isKnown() bool {
	switch s {
	case Active, Trialing, PastDue, Canceled, Unpaid, Paused, Incomplete, IncompleteExpired:
		return true
	default:
		return false
	}
}

// seatsFor returns the number of seats that a seat plan bills for a team: at least the number of
// members. Extra seats that were bought remain until a member leaves (rules: subscription#seats).
func (s Subscription) seatsFor(members int64) int64 {
	if s.Departures > 0 {
		return members
	}
	return max(members, s.Quantity)
}

// Interval returns the length of a billing period.
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
	// CancelAt is when the subscription ends, or nil if no end is scheduled. CancelAtPeriodEnd means
	// that the end was scheduled for the end of the period rather than for a date. Operations stored
	// before CancelAt existed have only CancelAtPeriodEnd.
	CancelAt           *time.Time
	CancelAtPeriodEnd  bool
	CanceledAt         *time.Time
	CancellationReason *string
	PSPSubscriptionID  string
	PSPPriceID         string // empty if the subscription is older than the column
	HasPaymentMethod   bool
	Action             money.PaymentAction // the action that the latest invoice requires from the payer
	Pending            *PendingChange      // nil if no change is pending
	// Scheduled is a change at the end of the period, or nil. ScheduleID is the provider's schedule
	// that manages the subscription, empty without one.
	Scheduled   *scheduledChange
	ScheduleID  string
	Terms       Terms
	CustomPrice bool // the price was agreed with the customer and is not a list price
	// Unpaid is the oldest invoice whose payment has failed, while the subscription is past_due;
	// otherwise nil.
	Unpaid *UnpaidInvoice
	// Discount is the discount of the next invoices, or nil.
	Discount *Discount
	// discountCents is the part of PriceCents × Quantity that a lasting discount takes off.
	discountCents int64
	// Departures counts the members who left and whose seats are still billed.
	Departures int64
	// former holds the encoded billing terms that ended within the last month, ordered by their end,
	// including the terms of the tenant's earlier subscriptions.
	former sqldb.JSON
	// metered holds the encoded metered items, nil if they were never read.
	metered sqldb.JSON
	// meteredPeriod and terms hold the latest decision on the metered items.
	meteredPeriod *time.Time
	terms         sqldb.JSON
	// SyncVersion counts the states that were stored from the provider.
	SyncVersion int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// effectiveAt is when the state took effect, and pastDiscount the discount that applied then but has
	// ended since. They are set only if the state is about to be stored.
	effectiveAt  time.Time
	pastDiscount *journal.PastDiscount
}

// UnpaidInvoice is an invoice of the provider whose payment has failed. Since is the time of the
// first failure, or the due time of a sent invoice.
type UnpaidInvoice struct {
	PSPID string
	Since time.Time
}

// Discount is the discount of a subscription.
type Discount struct {
	ID uuid.UUID
	// PSPID is the provider's discount. It is empty if the invoice of a trial has used up a discount
	// with the duration once, until the discount is applied again.
	PSPID  string
	EndsAt *time.Time
}

// isOver reports whether a repeating discount has ended at the provider. Such a discount still reduces
// the recurring revenue of the period.
func (d *Discount) isOver() bool { return d.PSPID == "" && d.EndsAt != nil }

// liveDiscount returns the subscription's discount, or nil if it is over or missing.
func (s Subscription) liveDiscount() *Discount {
	if s.Discount == nil || s.Discount.isOver() {
		return nil
	}
	return s.Discount
}

// tookEffect returns when a state that was just read from the provider took effect. The ends of
// subscriptions and trials, and scheduled changes, have their exact date. Every other change counts
// from now.
func (s Subscription) tookEffect(known Subscription, endedAt *time.Time, now time.Time) time.Time {
	at := now
	switch {
	case s.Status.IsOver() && endedAt != nil:
		at = *endedAt
	case known.Status == Trialing && s.Status != Trialing && s.TrialEndsAt != nil:
		at = *s.TrialEndsAt
	case known.Scheduled != nil && s.Scheduled == nil && s.PlanID == known.Scheduled.PlanID:
		at = known.CurrentPeriodEnd
	}
	if at.After(now) {
		return now
	}
	return at
}

// PendingChange is a change of plan that takes effect once its invoice is paid.
type PendingChange struct {
	PlanID       uuid.UUID `json:"plan_id"`
	PSPPriceID   string    `json:"psp_price_id"`
	PSPInvoiceID string    `json:"psp_invoice_id"`
	ExpiresAt    time.Time `json:"expires_at"`
	Quantity     int64     `json:"quantity,omitzero"`
	PriceCents   int64     `json:"price_cents,omitzero"` // per unit
	// By is the caller who requested the change, or nil.
	By *authz.Origin `json:"by,omitempty"`
}

// BillsLike reports whether the provider's state has the stored status, price, quantity and period.
func (s Subscription) BillsLike(remote psp.Subscription) bool {
	return string(s.Status) == remote.Status && s.PSPPriceID == remote.PriceID && s.Quantity == remote.Quantity &&
		s.CurrentPeriodStart.Equal(remote.PeriodStart) && s.CurrentPeriodEnd.Equal(remote.PeriodEnd)
}

// hasPendingChange reports whether a change waits for its payment and has not expired.
func (s Subscription) hasPendingChange(now time.Time) bool {
	return s.Pending != nil && s.Pending.ExpiresAt.After(now)
}

// IsEnding reports whether an end is scheduled, at the end of the period or at a date.
func (s Subscription) IsEnding() bool { return s.CancelAtPeriodEnd || s.CancelAt != nil }
