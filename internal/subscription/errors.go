package subscription

import "github.com/tenantry/tenantry/internal/fault"

var (
	errNotFound          = fault.New(fault.NotFound, "error.not_found")
	errNotCancelable     = fault.Coded(fault.Malformed, fault.SubscriptionNotCancelable)
	errAlreadyExists     = fault.Coded(fault.Invalid, fault.SubscriptionAlreadyExists)
	errBillingNotReady   = fault.Coded(fault.Invalid, fault.BillingNotReady)
	errNotInCurrency     = fault.Coded(fault.Invalid, fault.PlanNotInCurrency)
	errSeatMisconfigured = fault.Coded(fault.Invalid, fault.SeatPricingMisconfigured)
	errUnknownPlan       = fault.OnField("plan_id", "validation.exists")
	errUnknownCurrency   = fault.OnField("currency", "validation.exists")
	errFewerThanMembers  = fault.OnField("quantity", "validation.quantity_below_members")
)
