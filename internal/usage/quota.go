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

// isAdditive reports whether the meter adds up or counts its events, so that units can be granted and
// reserved.
func (m Meter) isAdditive() bool { return m.Aggregation == Sum || m.Aggregation == Count }

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

// units returns the units that an event adds to a sum or count meter.
func (m Meter) units(quantity money.Quantity) money.Total {
	if m.Aggregation == Count {
		return money.Total{Units: 1}
	}
	return money.TotalOf(quantity)
}

// judge returns the part of an event that is drawn from grants, or the reason why the event must be
// rejected. w is the window of the event. The new value is compared with the limit: the new total,
// count or maximum, or for last_value the quantity of the event, even if it is older than the last
// event.
func judge(m Meter, w window, quantity money.Quantity, b bounds) (drawn money.Quantity, err error) {
	level, fits, isOver := money.TotalOf(quantity), true, false
	switch m.Aggregation {
	case Sum, Count:
		units := m.units(quantity)
		level, fits = w.used.Value.Add(units)
		from, isCovered := w.cover(m, units, b.limit)
		drawn, _ = from.Quantity() // at most the quantity
		// An event of 0 is always covered, but it is rejected while usage exceeds the limit.
		isOver = !isCovered || units == money.Total{} && b.limit != nil && minus(w.used.Value, w.used.Granted).Exceeds(*b.limit)
	case Max:
		level = maxTotal(w.used.Value, level)
		isOver = b.limit != nil && level.Exceeds(*b.limit)
	case LastValue:
		isOver = b.limit != nil && level.Exceeds(*b.limit)
	}
	if !w.isSettlement {
		held, _ := level.Add(w.reserved)
		if limit, by := b.exceededLimit(m, isOver, held); by != "" {
			return 0, quotaExceeded(m, limit, by, w)
		}
	}
	if !fits {
		return 0, errTotalTooLarge
	}
	return drawn, nil
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
