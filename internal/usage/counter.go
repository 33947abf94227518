package usage

import (
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// Counter is the aggregate of a tenant's events on a meter in one period.
type Counter struct {
	Period Period
	Value  money.Total
	// Granted is the part of a sum or count that was drawn from grants.
	Granted money.Total
	// Rejected counts the events that a limit rejected. It cannot be computed from stored events.
	Rejected int64
	// LastRecordedAt is the recorded_at of the last value. It is nil before the first event and for
	// meters other than last_value.
	LastRecordedAt *time.Time

	absent  bool // not stored yet: computed from the events, and stored only when it changes
	changed bool // by the current batch
	alerted int  // the highest threshold reached in the batch, in percent
}

// add counts an event. A total that would overflow stays at the maximum. judge prevents that for
// the period of the event, but the periods of former subscriptions can be longer.
func (c *Counter) add(aggregation Aggregation, quantity money.Quantity, at time.Time) {
	c.changed = true
	switch aggregation {
	case Sum:
		c.Value, _ = c.Value.Add(money.TotalOf(quantity))
	case Count:
		c.Value, _ = c.Value.Add(money.Total{Units: 1})
	case Max:
		c.Value = maxTotal(c.Value, money.TotalOf(quantity))
	case LastValue:
		// Of events with the same time, the one stored last counts.
		if c.LastRecordedAt == nil || !at.Before(*c.LastRecordedAt) {
			c.Value, c.LastRecordedAt = money.TotalOf(quantity), &at
		}
	}
}

func maxTotal(a, b money.Total) money.Total {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}
