package usage

import "github.com/tenantry/tenantry/internal/money"

// bounds are the limits of a meter in whole units; nil is unlimited.
type bounds struct {
	limit *int64 // the effective limit: the override, otherwise the plan's quota
	cap   *int64 // the tenant's own limit
}

// Which limit rejected an event.
const (
	limitedByPlan = "plan"
	limitedByCap  = "cap"
)

// exceeded returns the limit that an event would exceed, and whose it is. The effective limit
// rejects events only on a hard meter, a cap on every meter. If the event exceeds both, the lower
// one counts, and the effective limit if they are equal.
func (b bounds) exceeded(m Meter, level money.Total) (limit int64, by string) {
	isOverCap := b.cap != nil && level.Exceeds(*b.cap)
	if b.limit != nil && m.Enforcement == EnforcementHard && level.Exceeds(*b.limit) && (!isOverCap || *b.limit <= *b.cap) {
		return *b.limit, limitedByPlan
	}
	if isOverCap {
		return *b.cap, limitedByCap
	}
	return 0, ""
}

// quotaExceeded is ErrQuotaExceeded with the limit that the event would exceed.
func quotaExceeded(m Meter, limit int64, by string, current money.Total) error {
	return ErrQuotaExceeded.With("meter_code", m.Code).With("limited_by", by).With("limit", limit).
		With("current_usage", shapeTotal(current)).With("grants_remaining", shapeTotal(money.Total{}))
}
