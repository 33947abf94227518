package usage

import "github.com/tenantry/tenantry/internal/money"

// Aggregation says what a meter shows of the events of a period (rules: usage#meters).
type Aggregation string

// The aggregation types.
const (
	Sum       Aggregation = "sum"        // the total of the quantities
	Max       Aggregation = "max"        // the highest single quantity
	Count     Aggregation = "count"      // the number of events, whatever their quantity
	LastValue Aggregation = "last_value" // the most recent quantity
)

// Enforcement says what a meter does at its quota (rules: usage#quotas).
type Enforcement string

// The enforcements.
const (
	Unenforced Enforcement = "none" // usage is only tracked
	Soft       Enforcement = "soft" // alerts, never refuses
	Hard       Enforcement = "hard" // refuses what would exceed
)

// Status says how near usage is to its quota (rules: usage#quotas).
type Status string

// The quota statuses.
const (
	OK       Status = "ok"
	Warning  Status = "warning"  // from 80 percent
	Exceeded Status = "exceeded" // from 100 percent
)

// judge returns why an event may not be stored, nil when it may. current is what the
// meter shows for the event's period; limit is in whole units, nil for unlimited. The
// new level decides: the new total or number of events, the larger of the two maxima,
// or for last_value the quantity itself, even where the event is older than the last.
func judge(m Meter, current, quantity money.Quantity, limit *int64) error {
	var level money.Quantity
	fits := true
	switch m.Aggregation {
	case Sum:
		level, fits = current.Add(quantity)
	case Count:
		level, fits = current.Add(money.One)
	case Max:
		level = max(current, quantity)
	case LastValue:
		level = quantity
	}
	if m.Enforcement == Hard && limit != nil {
		// A limit beyond what a quantity can hold is larger than any level.
		most, representable := money.Whole(*limit)
		if representable && (!fits || level > most) {
			return ErrQuotaExceeded
		}
	}
	if !fits {
		return errTotalTooLarge
	}
	return nil
}

// statusOf compares usage with its limit, exactly. With a limit of 0, no usage is ok
// and any usage exceeds it.
func statusOf(current money.Quantity, limit *int64) Status {
	if limit == nil {
		return OK
	}
	used, most := sameUnit(current, *limit)
	switch {
	case most <= 0 && used <= 0:
		return OK
	case used >= most:
		return Exceeded
	case used >= most-most/5: // the least integer that is 80 percent or more
		return Warning
	default:
		return OK
	}
}

// percentOf is usage in percent of its limit, rounded half up to two decimals;
// nil when unlimited.
func percentOf(current money.Quantity, limit *int64) *float64 {
	if limit == nil {
		return nil
	}
	percent := money.Percent(sameUnit(current, *limit))
	return &percent
}

// sameUnit converts usage and limit to one unit: millionths, or whole units for a limit
// that millionths cannot hold (beyond 9.2 × 10^12). There fractions of the usage make no
// difference.
func sameUnit(current money.Quantity, limit int64) (used, most money.Quantity) {
	if most, ok := money.Whole(limit); ok {
		return current, most
	}
	return current / money.One, money.Quantity(limit)
}
