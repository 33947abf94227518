package stripe

// renewal begins the next period of a subscription and returns what is billed
// for it: the period ahead, and what is pending. A trial is over by that. Of one
// that ends with its period only what is pending is left to bill. It stores
// nothing: a renewal carries it out, a preview shows it.
func (sub *subscription) renewal(cu *customer, pending []*invoiceItem, names productNames) bill {
	since, at := sub.period()
	b := bill{sub: sub, cu: cu, reason: reasonCycle, since: since, at: at, pending: pending, names: names}
	if sub.CancelAtPeriodEnd {
		return b
	}
	if sub.Status == subscriptionTrialing {
		sub.Status = subscriptionActive
	}
	_, end := sub.cycle().Period(at)
	sub.setPeriod(at, end)
	b.period = true
	return b
}
