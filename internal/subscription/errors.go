package subscription

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrNotFound says that there is no such subscription (404).
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// The refusals that callers are told.
var (
	errBusy              = fault.Coded(fault.Conflict, fault.SubscriptionBusy)
	errNotCancelable     = fault.Coded(fault.Malformed, fault.SubscriptionNotCancelable)
	errNotResumable      = fault.Coded(fault.Invalid, fault.SubscriptionNotResumable)
	errNotUpgradable     = fault.Coded(fault.Invalid, fault.SubscriptionNotUpgradable)
	errAlreadyExists     = fault.Coded(fault.Invalid, fault.SubscriptionAlreadyExists)
	errBillingNotReady   = fault.Coded(fault.Invalid, fault.BillingNotReady)
	errNotInCurrency     = fault.Coded(fault.Invalid, fault.PlanNotInCurrency)
	errSeatMisconfigured = fault.Coded(fault.Invalid, fault.SeatPricingMisconfigured)
	errNoProration       = fault.Coded(fault.Invalid, fault.ProrationNotSupported)
	errSamePlan          = changeError("error.plan_change_same_plan")
	errUsagePlan         = changeError("error.plan_change_usage")
	errNotEligible       = changeError("error.plan_change_not_eligible")
	errDeclined          = changeError("error.plan_change_declined")
	errChangeRefused     = changeError("error.plan_change_error")
	errUnknownCurrency   = fault.OnField("currency", "validation.exists")
	errFewerThanMembers  = fault.OnField("quantity", "validation.quantity_below_members")
)

// What stores return where there is no such row.
var (
	errNoCheckout  = errors.New("no such checkout")
	errNoOperation = errors.New("the subscription has no pending operation")
	errNoPreview   = errors.New("the change has no valid preview")
)

// changeError is a plan_change_error with a message that says why.
func changeError(message string) *fault.Error {
	e := fault.Coded(fault.Invalid, fault.PlanChangeError)
	e.Message = message
	return e
}
