package subscription

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrNotFound means that there is no such subscription (404).
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// Errors that reject a request.
var (
	errAlreadyExists     = fault.NewCoded(fault.Invalid, fault.SubscriptionAlreadyExists)
	errBillingNotReady   = fault.NewCoded(fault.Invalid, fault.BillingNotReady)
	errSeatMisconfigured = fault.NewCoded(fault.Invalid, fault.SeatPricingMisconfigured)
	errUnknownCurrency   = fault.OnField("currency", "validation.exists")
	errFewerThanMembers  = fault.OnField("quantity", "validation.quantity_below_members")
	errNotInCurrency     = fault.NewCoded(fault.Invalid, fault.PlanNotInCurrency)
	errCurrencyMismatch  = fault.NewCoded(fault.Invalid, fault.CurrencyMismatch)
	errNotEligible       = newChangeError("error.plan_change_not_eligible")
	errBusy              = fault.NewCoded(fault.Conflict, fault.SubscriptionBusy)
	errNotCancelable     = fault.NewCoded(fault.Malformed, fault.SubscriptionNotCancelable)
	errNotResumable      = fault.NewCoded(fault.Invalid, fault.SubscriptionNotResumable)
	errNotUpgradable     = fault.NewCoded(fault.Invalid, fault.SubscriptionNotUpgradable)
	errNoSavedMethod     = fault.OnField("collection", "validation.no_saved_payment_method")
	errNoSeats           = fault.OnField("quantity", "validation.quantity_without_seats")
	errNotPermitted      = fault.New(fault.Forbidden, "error.forbidden")
	errNoTrial           = fault.NewCoded(fault.Invalid, fault.TrialNotAvailable)
	errNotTrialing       = fault.NewCoded(fault.Conflict, fault.SubscriptionNotTrialing)
	errTrialEndPast      = fault.OnField("trial_ends_at", "validation.after_now")
	errTrialEndFar       = fault.OnField("trial_ends_at", "validation.trial_end")
	errTrialEndFormat    = fault.OnField("trial_ends_at", "validation.datetime_or_now")
	errNoProration       = fault.NewCoded(fault.Invalid, fault.ProrationNotSupported)
	errOutdated          = fault.NewCoded(fault.Conflict, fault.PreviewOutdated)
	errSamePlan          = newChangeError("error.plan_change_same_plan")
	errDefaultPlan       = newChangeError("error.plan_change_default_plan")
	errNeedsCard         = newChangeError("error.plan_change_needs_card")
	errEndingChange      = newChangeError("error.plan_change_ending")
	errChangeWaits       = fault.NewCoded(fault.Conflict, fault.ChangeWaits)
	errCodeAtPeriodEnd   = fault.OnField("promotion_code", "validation.promotion_code_at_period_end")
	errDeclined          = newChangeError("error.plan_change_declined")
	errChangeRefused     = newChangeError("error.plan_change_error")
)

// errAboveSeatQuota rejects more seats than the plan allows.
func errAboveSeatQuota(quota int64) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "quantity", Message: "validation.quantity_above_seats", Args: map[string]any{"max": quota},
	}}}
}

// newChangeError returns a plan_change_error with a message that states the reason.
func newChangeError(message string) *fault.Error {
	e := fault.NewCoded(fault.Invalid, fault.PlanChangeError)
	e.Message = message
	return e
}

// Errors of store methods that find no row.
var (
	errNoCheckout  = errors.New("no such checkout")
	errNoOperation = errors.New("the subscription does not have a pending operation")
	errNoPreview   = errors.New("the change does not have a valid preview")
)

// errUsageChanged means that the invoice of a change would bill other usage than its preview showed.
var errUsageChanged = errors.New("the usage differs from the preview")
