package catalog

// Interval is the time that a price pays for: Count of Unit. It is the
// canonical form; billing_cycle is a legacy name for four of them (spec:
// Enumerations).
type Interval struct {
	Unit  string // day, week, month or year
	Count int32
}

// cycles are the legacy names of intervals.
var cycles = []struct {
	name     string
	interval Interval
}{
	{"monthly", Interval{Unit: "month", Count: 1}},
	{"yearly", Interval{Unit: "year", Count: 1}},
	{"quarterly", Interval{Unit: "month", Count: 3}},
	{"weekly", Interval{Unit: "week", Count: 1}},
}

// longest is how much of a unit one interval can have: three years, the most
// that the payment provider bills at once.
var longest = map[string]int32{"day": 3 * 365, "week": 3 * 52, "month": 3 * 12, "year": 3}

// BillingCycles lists the legacy names of intervals.
func BillingCycles() []string {
	names := make([]string, len(cycles))
	for i, c := range cycles {
		names[i] = c.name
	}
	return names
}

// CycleInterval returns the interval that a billing cycle stands for; ok is
// false for a name that is none.
func CycleInterval(cycle string) (interval Interval, ok bool) {
	for _, c := range cycles {
		if c.name == cycle {
			return c.interval, true
		}
	}
	return Interval{}, false
}

// SetInterval changes how often a plan is paid for; nil leaves what it stands
// for. A cycle gives unit and count, which win where they are given too. Given
// without a cycle, they give the plan the cycle's name that fits them; where none
// does, the plan keeps the name that it had.
func (p *Plan) SetInterval(cycle, unit *string, count *int32) {
	if cycle != nil {
		p.BillingCycle = *cycle
		p.Interval, _ = CycleInterval(*cycle)
	}
	if unit != nil {
		p.Interval.Unit = *unit
	}
	if count != nil {
		p.Interval.Count = *count
	}
	if cycle != nil {
		return
	}
	for _, c := range cycles {
		if c.interval == p.Interval {
			p.BillingCycle = c.name
		}
	}
}
