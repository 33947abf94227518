package operation

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// The refusals that callers are told.
var (
	errBusy          = fault.Coded(fault.Conflict, fault.SubscriptionBusy)
	errNotCancelable = fault.Coded(fault.Malformed, fault.SubscriptionNotCancelable)
	errNotResumable  = fault.Coded(fault.Invalid, fault.SubscriptionNotResumable)
	errNotUpgradable = fault.Coded(fault.Invalid, fault.SubscriptionNotUpgradable)
	errNoProration   = fault.Coded(fault.Invalid, fault.ProrationNotSupported)
	errSamePlan      = changeError("error.plan_change_same_plan")
	errUsagePlan     = changeError("error.plan_change_usage")
	errNotEligible   = changeError("error.plan_change_not_eligible")
	errDeclined      = changeError("error.plan_change_declined")
	errChangeRefused = changeError("error.plan_change_error")
)

// What stores return where there is no such row.
var (
	errNoOperation = errors.New("the subscription has no pending operation")
	errNoPreview   = errors.New("the change has no valid preview")
)

// changeError is a plan_change_error with a message that says why.
func changeError(message string) *fault.Error {
	e := fault.Coded(fault.Invalid, fault.PlanChangeError)
	e.Message = message
	return e
}
