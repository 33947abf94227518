package subscription

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrNotFound says that there is no such subscription (404).
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// ErrNotInCurrency refuses a plan that has no price in the currency.
var ErrNotInCurrency = fault.Coded(fault.Invalid, fault.PlanNotInCurrency)

// The refusals that callers are told.
var (
	errAlreadyExists     = fault.Coded(fault.Invalid, fault.SubscriptionAlreadyExists)
	errBillingNotReady   = fault.Coded(fault.Invalid, fault.BillingNotReady)
	errSeatMisconfigured = fault.Coded(fault.Invalid, fault.SeatPricingMisconfigured)
	errUnknownCurrency   = fault.OnField("currency", "validation.exists")
	errFewerThanMembers  = fault.OnField("quantity", "validation.quantity_below_members")
	errCurrencyMismatch  = fault.Coded(fault.Invalid, fault.CurrencyMismatch)
	errNotEligible       = ChangeError("error.plan_change_not_eligible")
)

// errAboveSeatQuota refuses more seats than a plan allows.
func errAboveSeatQuota(quota int64) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "quantity", Message: "validation.quantity_above_seats", Args: map[string]any{"max": quota},
	}}}
}

// ChangeError is a plan_change_error with a message that says why.
func ChangeError(message string) *fault.Error {
	e := fault.Coded(fault.Invalid, fault.PlanChangeError)
	e.Message = message
	return e
}

// errNoCheckout is what stores return where there is no such row.
var errNoCheckout = errors.New("no such checkout")
