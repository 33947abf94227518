package operation

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/subscription"
)

// The refusals that callers are told.
var (
	errBusy          = fault.Coded(fault.Conflict, fault.SubscriptionBusy)
	errNotCancelable = fault.Coded(fault.Malformed, fault.SubscriptionNotCancelable)
	errNotResumable  = fault.Coded(fault.Invalid, fault.SubscriptionNotResumable)
	errNotUpgradable = fault.Coded(fault.Invalid, fault.SubscriptionNotUpgradable)
	errNoProration   = fault.Coded(fault.Invalid, fault.ProrationNotSupported)
	errOutdated      = fault.Coded(fault.Conflict, fault.PreviewOutdated)
	errSamePlan      = subscription.ChangeError("error.plan_change_same_plan")
	errDeclined      = subscription.ChangeError("error.plan_change_declined")
	errChangeRefused = subscription.ChangeError("error.plan_change_error")
)

// What stores return where there is no such row.
var (
	errNoOperation = errors.New("the subscription has no pending operation")
	errNoPreview   = errors.New("the change has no valid preview")
)

// errOtherUsage means that the invoice of a change would have other usage than its preview.
var errOtherUsage = errors.New("the usage is not the one that the preview showed")
