package catalog

// Interval is the time that a price pays for: Count of Unit. It is the
// canonical form; billing_cycle is a legacy name for four of them (spec:
// Enumerations).
type Interval struct {
	Unit  string // day, week, month or year
	Count int32
}

// BillingCycles lists the legacy names of intervals.
func BillingCycles() []string { return []string{"monthly", "yearly", "quarterly", "weekly"} }

// CycleInterval returns the interval that a billing cycle stands for; ok is
// false for a name that is none.
func CycleInterval(cycle string) (interval Interval, ok bool) {
	switch cycle {
	case "monthly":
		return Interval{Unit: "month", Count: 1}, true
	case "quarterly":
		return Interval{Unit: "month", Count: 3}, true
	case "yearly":
		return Interval{Unit: "year", Count: 1}, true
	case "weekly":
		return Interval{Unit: "week", Count: 1}, true
	default:
		return Interval{}, false
	}
}
