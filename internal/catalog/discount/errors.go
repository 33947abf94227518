package discount

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// Reason is the reason why a code cannot be used.
type Reason string

// The reasons, in the order of the checks.
const (
	ReasonUnknown           Reason = "unknown"
	ReasonInactive          Reason = "inactive"
	ReasonExpired           Reason = "expired"
	ReasonNotForPlan        Reason = "not_for_plan"
	ReasonNotForCurrency    Reason = "not_for_currency"
	ReasonUsedUp            Reason = "used_up"
	ReasonAlreadyUsed       Reason = "already_used"
	ReasonFirstPurchaseOnly Reason = "first_purchase_only"
	ReasonBelowMinimum      Reason = "below_minimum"
)

// IsUsedUp reports whether an error means that redemptions and holds have reached the maximum.
func IsUsedUp(err error) bool {
	refused, ok := errors.AsType[*fault.Error](err)
	return ok && refused.Code == fault.PromotionCodeInvalid && refused.Extra["reason"] == ReasonUsedUp
}

// refusal returns promotion_code_invalid with a reason.
func refusal(reason Reason) error {
	e := fault.NewCoded(fault.Invalid, fault.PromotionCodeInvalid)
	e.Fields = []fault.Field{{Path: "promotion_code", Message: "validation.promotion_code." + string(reason)}}
	return e.With("reason", reason)
}
