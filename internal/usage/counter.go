package usage

import (
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// Counter is what a meter shows of a tenant's events of one period.
type Counter struct {
	Period Period
	Value  money.Total
	// LastRecordedAt is the recorded_at of the value of a last_value meter; nil
	// before the first event, and for other meters.
	LastRecordedAt *time.Time

	absent  bool // it was counted from the events, and is only stored once it changes
	changed bool // by the batch that is being stored
	alerted int  // the highest threshold that the batch reached, in percent
}

// add counts one more event. A total that would be too large stays at the largest.
// judge keeps that from happening in the period that an event counts in,
// but the periods of a former subscription may be longer.
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
		// Of events recorded for the same time the one that is stored last counts.
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
