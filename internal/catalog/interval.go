package catalog

// Interval is the period that a price covers, such as 3 months. A plan's billing cycle is a legacy
// name for one of four intervals (rules: catalog#intervals).
type Interval struct {
	Unit  string // day, week, month or year
	Count int32
}

// LongerThanMonth reports whether the interval is longer than any calendar month.
func (i Interval) LongerThanMonth() bool {
	const longestMonth = 31 // days
	switch i.Unit {
	case "day":
		return i.Count > longestMonth
	case "week":
		return 7*i.Count > longestMonth
	case "month":
		return i.Count > 1
	default:
		return true
	}
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

// maxIntervalCount is the maximum count per unit. The payment provider bills at most every three
// years.
var maxIntervalCount = map[string]int32{"day": 3 * 365, "week": 3 * 52, "month": 3 * 12, "year": 3}

// BillingCycles lists the legacy names of intervals.
func BillingCycles() []string {
	names := make([]string, len(cycles))
	for i, c := range cycles {
		names[i] = c.name
	}
	return names
}

// CycleInterval returns the interval of a billing cycle. ok is false if the cycle is unknown.
func CycleInterval(cycle string) (interval Interval, ok bool) {
	for _, c := range cycles {
		if c.name == cycle {
			return c.interval, true
		}
	}
	return Interval{}, false
}

// SetInterval changes the plan's interval. Nil arguments keep the current value. A cycle sets the
// unit and the count unless they are given too. The billing cycle follows the resulting interval; if
// no cycle has it, the billing cycle is the given one, or unchanged.
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
	for _, c := range cycles {
		if c.interval == p.Interval {
			p.BillingCycle = c.name
		}
	}
}
