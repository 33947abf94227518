// Package subscription has what tenants subscribe to: checkout, the state that
// the payment provider reports, and the entitlements that follow from it (spec:
// Subscription endpoints, States and transitions).
package subscription

import (
	"time"

	"github.com/google/uuid"
)

// Status is the state of a subscription; it mirrors the provider's.
type Status string

// The states (spec: Enumerations).
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

// GrantsFeatures tells whether a subscription in this state gives its plan's
// features (spec: Subscription status).
func (s Status) GrantsFeatures() bool { return s == Active || s == Trialing }

// Running tells whether a subscription in this state can be changed, canceled and
// resumed (spec: Subscription status).
func (s Status) Running() bool { return s == Active || s == Trialing || s == PastDue }

// Over tells whether the state is final: another subscription may follow.
func (s Status) Over() bool { return s == Canceled || s == IncompleteExpired }

// known tells whether the provider's word is one that the spec has.
func (s Status) known() bool {
	switch s {
	case Active, Trialing, PastDue, Canceled, Unpaid, Paused, Incomplete, IncompleteExpired:
		return true
	default:
		return false
	}
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
	CancelAtPeriodEnd  bool
	CanceledAt         *time.Time
	CancellationReason *string
	PSPSubscriptionID  string
	// syncVersion counts the states taken over from the provider.
	syncVersion int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Violation says that a tenant uses more than a plan allows.
type Violation struct {
	FeatureCode  string `json:"feature_code"`
	CurrentUsage int64  `json:"current_usage"`
	PlanLimit    int64  `json:"plan_limit"`
}
