package usage

import (
	"math"
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// counter is what a meter shows of a tenant's events of one period.
type counter struct {
	period Period
	value  money.Quantity
	// last is when the value of a last_value meter was recorded; nil before the
	// first event, and for other meters.
	last    *time.Time
	changed bool
	// alerted is the highest threshold that the batch has seen reached.
	alerted int
}

// add counts one more event. A total beyond what an int64 holds stays at its
// limit: judge never lets one through for the period that an event counts in,
// but the periods of a former subscription may be longer.
func (c *counter) add(aggregation Aggregation, quantity money.Quantity, at time.Time) {
	c.changed = true
	switch aggregation {
	case Sum:
		c.value = addUpTo(c.value, quantity)
	case Count:
		c.value = addUpTo(c.value, money.One)
	case Max:
		c.value = max(c.value, quantity)
	case LastValue:
		// Of events recorded for the same time the one that is stored last counts.
		if c.last == nil || !at.Before(*c.last) {
			c.value, c.last = quantity, &at
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
