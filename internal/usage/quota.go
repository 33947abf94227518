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
	EnforcementUnenforced Enforcement = "none" // usage is only tracked
	EnforcementSoft       Enforcement = "soft" // alerts, never refuses
	EnforcementHard       Enforcement = "hard" // refuses what would exceed
)

// Status says how near usage is to its quota (rules: usage#quotas).
type Status string

// The quota statuses.
const (
	QuotaOK       Status = "ok"
	QuotaWarning  Status = "warning"  // from 80 percent
	QuotaExceeded Status = "exceeded" // from 100 percent
)

// judge returns why an event may not be stored, nil when it may. current is what the
// meter shows for the event's period; limit is in whole units, nil for unlimited. The
// new level decides: the new total or number of events, the larger of the two maxima,
// or for last_value the quantity itself, even where the event is older than the last.
func judge(m Meter, current money.Total, quantity money.Quantity, limit *int64) error {
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
	if m.Enforcement == EnforcementHard && limit != nil && level.Exceeds(*limit) {
		return ErrQuotaExceeded
	}
	if !fits {
		return errTotalTooLarge
	}
	return nil
}

// statusOf compares usage with its limit, exactly. With a limit of 0, no usage is ok
// and any usage exceeds it.
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

// warningLevel is 80 percent of a limit.
func warningLevel(limit int64) money.Total {
	fifths := limit % 5 * 4
	return money.Total{Units: limit/5*4 + fifths/5, Millionths: fifths % 5 * int64(money.One/5)}
}

// percentOf is usage in percent of its limit, rounded half up to two decimals;
// nil when unlimited.
func percentOf(current money.Total, limit *int64) *float64 {
	if limit == nil {
		return nil
	}
	percent := money.Percent(current, *limit)
	return &percent
}
