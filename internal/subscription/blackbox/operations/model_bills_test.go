package blackbox_test

import (
	"math/big"
	"slices"
	"time"
)

// account is the model of a tenant's money: what it has subscribed to and what it was
// billed, computed from prices and the calendar alone, with exact fractions. It knows
// neither the service nor the provider.
type account struct {
	plan     offered
	status   string // "" without a subscription
	unit     int64  // what a seat, or the plan, costs for a period: the price at the time of the purchase
	quantity int64
	anchor   time.Time // periods are counted from here
	start    time.Time // of the current period
	end      time.Time
	trial    bool // the current period is a trial
	ends     bool // with its period

	step    int64     // the smallest amount of the currency, in minor units
	away    bool      // the card pays without its owner
	pending []int64   // changes of seats that wait for the next invoice
	waits   time.Time // since when
	credit  int64     // what the provider owes the tenant
	bills   []bill    // all that are not void, the oldest first
}

// bill is an invoice of the model.
type bill struct {
	Total  int64
	Status string
}

// boundary is the end of the n-th period after an anchor. A month without the anchor's
// day ends on its last day.
func boundary(anchor time.Time, cycle string, n int) time.Time {
	if cycle == "weekly" {
		return anchor.AddDate(0, 0, 7*n)
	}
	months := map[string]int{"monthly": 1, "quarterly": 3, "yearly": 12}[cycle] * n
	y, m, d := anchor.Date()
	last := time.Date(y, m+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(y, m+time.Month(months), min(d, last), anchor.Hour(), anchor.Minute(), anchor.Second(), 0, time.UTC)
}

// share is the part of a price that falls on the rest of the current period, rounded
// to what the currency can pay, half away from zero.
func (a *account) share(price int64, at time.Time) int64 {
	whole, rest := int64(a.end.Sub(a.start)/time.Second), int64(a.end.Sub(at)/time.Second)
	steps := new(big.Rat).SetFrac(big.NewInt(price*rest), big.NewInt(whole*a.step))
	steps.Add(steps, big.NewRat(1, 2)) // prices are not negative
	return new(big.Int).Quo(steps.Num(), steps.Denom()).Int64() * a.step
}

// price is what the current plan costs for a whole period.
func (a *account) price() int64 { return a.unit * a.quantity }

// cost is what a change to a plan at a moment is credited and charged. pending is what
// of it was waiting before.
func (a *account) cost(to offered, unit, quantity int64, at time.Time) (credit, charge, pending int64) {
	for _, p := range a.pending {
		credit, charge, pending = credit-min(p, 0), charge+max(p, 0), pending+p
	}
	if a.trial {
		return credit, charge, pending
	}
	credit += a.share(a.price(), at)
	if to.cycle == a.plan.cycle {
		return credit, charge + a.share(unit*quantity, at), pending
	}
	return credit, charge + unit*quantity, pending // a new period begins, and is paid in full
}

// pays reports whether the card can pay what a change costs, which is nothing where
// there is credit enough.
func (a *account) pays(to offered, unit, quantity int64, at time.Time) bool {
	credit, charge, _ := a.cost(to, unit, quantity, at)
	return a.away || charge-credit <= a.credit
}

// change makes the change that cost has computed, and bills it as paid. Another cycle
// begins when the change is made, which may be later than the moment it was computed for.
func (a *account) change(to offered, unit, quantity int64, at, made time.Time) {
	credit, charge, _ := a.cost(to, unit, quantity, at)
	restarts := to.cycle != a.plan.cycle && !a.trial
	a.plan, a.unit, a.quantity = to, unit, quantity
	if restarts {
		a.anchor, a.start, a.end = made, made, boundary(made, to.cycle, 1)
	}
	if a.trial && len(a.pending) == 0 {
		return
	}
	a.bill(charge-credit, true)
	a.pending = nil
}

// seats changes the quantity; the difference waits for the next invoice.
func (a *account) seats(quantity int64, at time.Time) {
	if !a.trial {
		if len(a.pending) == 0 {
			a.waits = at
		}
		a.pending = append(a.pending, -a.share(a.price(), at), a.share(a.unit*quantity, at))
	}
	a.quantity = quantity
}

// buy begins a subscription at a moment. trial is how many days it is free.
func (a *account) buy(plan offered, unit, quantity int64, at time.Time, trial int) {
	*a = account{
		step: a.step, away: a.away, credit: a.credit, bills: a.bills,
		plan: plan, status: "active", unit: unit, quantity: quantity, anchor: at, start: at, end: boundary(at, plan.cycle, 1),
	}
	if trial > 0 {
		a.status, a.trial, a.end = "trialing", true, at.AddDate(0, 0, trial)
		a.anchor = a.end
		a.bill(0, true)
		return
	}
	a.bill(a.price(), true)
}

// monthly is when what waits is billed before the period ends: every month, where the
// cycle is longer. Zero means with the period.
func (a *account) monthly() time.Time {
	if len(a.pending) == 0 || a.plan.cycle != "quarterly" && a.plan.cycle != "yearly" {
		return time.Time{}
	}
	for n := 1; ; n++ {
		if at := boundary(a.anchor, "monthly", n); at.After(a.waits) {
			if at.Before(a.end) {
				return at
			}
			return time.Time{}
		}
	}
}

// pass lets time go by up to a moment: periods end, and the next ones are billed.
func (a *account) pass(now time.Time) {
	for a.status != "" && !a.end.After(now) || !a.monthly().IsZero() && !a.monthly().After(now) {
		if !a.monthly().IsZero() {
			if !a.billPending() {
				a.status = "past_due"
			}
			continue
		}
		if a.ends {
			a.status = ""
			if len(a.pending) > 0 {
				a.billPending()
			}
			return
		}
		a.start, a.trial = a.end, false
		if a.status == "trialing" {
			a.status = "active"
		}
		for n := 1; ; n++ {
			if a.end = boundary(a.anchor, a.plan.cycle, n); a.end.After(a.start) {
				break
			}
		}
		total := a.price()
		for _, p := range a.pending {
			total += p
		}
		a.pending = nil
		if !a.bill(total, a.away) {
			a.status = "past_due"
		}
	}
}

// settled is told that all that was owed is paid.
func (a *account) settled() {
	for i := range a.bills {
		a.bills[i].Status = "paid"
	}
	if a.status == "past_due" {
		a.status = "active"
	}
}

// owes reports whether there is a bill that is not paid.
func (a *account) owes() bool {
	return slices.ContainsFunc(a.bills, func(b bill) bool { return b.Status == "open" })
}

// endNow ends the subscription and bills what waits.
func (a *account) endNow() {
	if len(a.pending) > 0 {
		a.billPending()
	}
	a.status = ""
}

func (a *account) billPending() (paid bool) {
	total := int64(0)
	for _, p := range a.pending {
		total += p
	}
	a.pending = nil
	return a.bill(total, a.away)
}

// bill makes an invoice and reports whether it is paid: from the credit first, the rest
// by the card if that pays. An invoice below zero becomes credit.
func (a *account) bill(total int64, pays bool) (paid bool) {
	paid = pays || total <= a.credit
	status := map[bool]string{true: "paid", false: "open"}[paid]
	a.bills = append(a.bills, bill{total, status})
	a.credit = max(0, a.credit-total)
	return paid
}
