package analytics

import (
	"time"

	"github.com/tenantry/tenantry/internal/stats/rates"
)

// cohort is the customers whose first payment was in a month.
type cohort struct {
	customers int64
	// counts and amounts are the number of customers with revenue, and their revenue, at the end of
	// the month and of each later month.
	counts, amounts []int64
}

// cohorts returns the cohorts of consecutive months, oldest first.
func (h History) cohorts(t rates.Table, list []window) []cohort {
	first := map[int64]time.Time{} // payment by customer
	for _, m := range h.Milestones {
		if !m.IsPayment || m.isOther {
			continue
		}
		if at, paid := first[m.Customer]; !paid || m.At.Before(at) {
			first[m.Customer] = m.At
		}
	}
	cohorts := make([]cohort, len(list))
	in := make(map[int64]int, len(first)) // index of the cohort by customer
	for customer, at := range first {
		for i, w := range list {
			if micros := at.UnixMicro(); micros >= w.start.limit() && micros < w.end.limit() {
				in[customer] = i
				cohorts[i].customers++
			}
		}
	}
	at := make([]conversion, len(list))
	for i, w := range list {
		at[i] = h.conversionAt(t, w.end)
		if cohorts[i].customers > 0 {
			cohorts[i].counts, cohorts[i].amounts = make([]int64, len(list)-i), make([]int64, len(list)-i)
		}
	}
	h.eachCustomer(func(own []Subscription) {
		n, is := in[own[0].Customer]
		if !is {
			return
		}
		for i := n; i < len(list); i++ {
			p := positionAt(own, list[i].end, at[i])
			cohorts[n].counts[i-n] += oneIf(p.counts)
			cohorts[n].amounts[i-n] += p.amount
		}
	})
	return cohorts
}
