package usage

import (
	"math"
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// Counter is what a meter shows of a tenant's events of one period.
type Counter struct {
	Period Period
	Value  money.Quantity
	// LastRecordedAt is the recorded_at of the value of a last_value meter; nil
	// before the first event, and for other meters.
	LastRecordedAt *time.Time

	changed bool // by the batch that is being stored
	alerted int  // the highest threshold that the batch reached, in percent
}

// add counts one more event. A total that does not fit into an int64 stays at the
// largest. judge keeps that from happening in the period that an event counts in,
// but the periods of a former subscription may be longer.
func (c *Counter) add(aggregation Aggregation, quantity money.Quantity, at time.Time) {
	c.changed = true
	switch aggregation {
	case Sum:
		c.Value = addUpTo(c.Value, quantity)
	case Count:
		c.Value = addUpTo(c.Value, money.One)
	case Max:
		c.Value = max(c.Value, quantity)
	case LastValue:
		// Of events recorded for the same time the one that is stored last counts.
		if c.LastRecordedAt == nil || !at.Before(*c.LastRecordedAt) {
			c.Value, c.LastRecordedAt = quantity, &at
		}
	}
}

// addUpTo adds and stops at the largest quantity.
func addUpTo(a, b money.Quantity) money.Quantity {
	sum, fits := a.Add(b)
	if !fits {
		return math.MaxInt64
	}
	return sum
}
