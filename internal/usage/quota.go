package usage

import "github.com/tenantry/tenantry/internal/money"

// Aggregation defines how a meter combines the events of a period (rules: usage#meters).
type Aggregation string

// The aggregation types.
const (
	Sum       Aggregation = "sum"        // the total of the quantities
	Max       Aggregation = "max"        // the highest single quantity
	Count     Aggregation = "count"      // the number of events, regardless of quantity
	LastValue Aggregation = "last_value" // the most recent quantity
)

// Enforcement defines how a meter enforces its quota (rules: usage#quotas).
type Enforcement string

// The enforcements.
const (
	EnforcementUnenforced Enforcement = "none" // usage is only tracked
	EnforcementSoft       Enforcement = "soft" // raises alerts, never rejects
	EnforcementHard       Enforcement = "hard" // rejects events that would exceed the quota
)

// Status is the quota status of a meter (rules: usage#quotas).
type Status string

// The quota statuses.
const (
	QuotaOK       Status = "ok"
	QuotaWarning  Status = "warning"  // from 80 percent
	QuotaExceeded Status = "exceeded" // from 100 percent
)

// judge returns the reason why an event must be rejected, or nil. current is the value of the meter
// in the period of the event. The new level decides:
// the new total, count or maximum, or for last_value the quantity itself, even if the event is
// older than the last one.
func judge(m Meter, current money.Total, quantity money.Quantity, b bounds) error {
	level, fits := money.TotalOf(quantity), true
	switch m.Aggregation {
	case Sum:
		level, fits = current.Add(level)
	case Count:
		level, fits = current.Add(money.Total{Units: 1})
	case Max:
		level = maxTotal(current, level)
	case LastValue:
	}
	if limit, by := b.exceeded(m, level); by != "" {
		return quotaExceeded(m, limit, by, current)
	}
	if !fits {
		return errTotalTooLarge
	}
	return nil
}

// statusOf compares usage with its limit, exactly. With a limit of 0, zero usage is ok and any
// other usage exceeds it.
func statusOf(current money.Total, limit *int64) Status {
	switch {
	case limit == nil, *limit <= 0 && current == (money.Total{}):
		return QuotaOK
	case current.Units >= *limit:
		return QuotaExceeded
	case current.Compare(warningLevel(*limit)) >= 0:
		return QuotaWarning
	default:
		return QuotaOK
	}
}

// warningLevel returns 80 percent of a limit.
func warningLevel(limit int64) money.Total {
	fifths := limit % 5 * 4
	return money.Total{Units: limit/5*4 + fifths/5, Millionths: fifths % 5 * int64(money.One/5)}
}

// percentOf returns usage in percent of its limit, rounded half up to two decimals. It returns nil
// if unlimited.
func percentOf(current money.Total, limit *int64) *float64 {
	if limit == nil {
		return nil
	}
	percent := money.Percent(current, *limit)
	return &percent
}
