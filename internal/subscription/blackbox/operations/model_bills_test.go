package blackbox_test

import (
	"math/big"
	"slices"
	"time"
)

// account is the model of a tenant's money: its subscription and its bills. It is computed only
// from prices and the calendar, with exact fractions, independently of the service and the
// provider.
type account struct {
	plan     offered
	status   string // "" without a subscription
	unit     int64  // the price of a seat or of the plan for a period, at the time of the purchase
	quantity int64
	anchor   time.Time // the start of the first period
	start    time.Time // of the current period
	end      time.Time
	trial    bool // the current period is a trial
	ends     bool // the subscription ends with its period

	discount *reduction
	off      int64 // the discount on the price of the whole current period
	next     *step // the scheduled change

	step    int64     // the smallest amount of the currency, in minor units
	away    bool      // the card pays without confirmation
	sent    bool      // the invoices are sent, and stay open until they are marked as paid
	frozen  bool      // the current period was changed without proration
	pending []line    // changes of seats that are pending for the next invoice
	waits   time.Time // when the first pending change was made
	credit  int64     // the customer's credit
	bills   []bill    // without void ones, oldest first
	cash    int64     // the sum of the payments by card
}

// step is a change at the end of the period, at the price that was shown.
type step struct {
	plan           offered
	unit, quantity int64
}

// bill is an invoice of the model.
type bill struct {
	Total  int64
	Status string
	due    int64 // the amount that no card has paid yet
	card   int64 // the amount that a card has paid and that was not refunded

	lines                 []line    // for the plan, until the end of the period
	until                 time.Time // the end of the period
	credited, creditedTax int64     // by credit notes
}

// boundary returns the end of the n-th period after an anchor. In a month without the anchor's day,
// it is the last day.
func boundary(anchor time.Time, cycle string, n int) time.Time {
	if cycle == "weekly" {
		return anchor.AddDate(0, 0, 7*n)
	}
	months := map[string]int{"monthly": 1, "quarterly": 3, "yearly": 12}[cycle] * n
	y, m, d := anchor.Date()
	last := time.Date(y, m+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(y, m+time.Month(months), min(d, last), anchor.Hour(), anchor.Minute(), anchor.Second(), 0, time.UTC)
}

// share returns the prorated part of a price for the rest of the current period, rounded to the
// step of the currency, half away from zero.
func (a *account) share(price int64, at time.Time) int64 {
	whole, rest := int64(a.end.Sub(a.start)/time.Second), int64(a.end.Sub(at)/time.Second)
	steps := new(big.Rat).SetFrac(big.NewInt(price*rest), big.NewInt(whole*a.step))
	steps.Add(steps, big.NewRat(1, 2)) // prices are not negative
	return new(big.Int).Quo(steps.Num(), steps.Denom()).Int64() * a.step
}

// price returns the price of the current plan for a whole period.
func (a *account) price() int64 { return a.unit * a.quantity }

// reduction is a discount.
type reduction struct {
	percent, amount int64     // one of them
	until           time.Time // zero: forever
}

// of returns the discount on the price of a period that begins, or is changed, at the given time. It is
// rounded half up to the step of the currency.
func (r *reduction) of(price, step int64, at time.Time) int64 {
	switch {
	case r == nil || !r.until.IsZero() && !at.Before(r.until):
		return 0
	case r.percent > 0:
		return min((2*price*r.percent+100*step)/(200*step)*step, price)
	default:
		return min(r.amount, price)
	}
}

// net returns the price of a period that begins at the given time, less the discount.
func (a *account) net(price int64, at time.Time) int64 {
	return price - a.discount.of(price, a.step, at)
}

// cost returns the credit and the charge of a change of plan at the given time. pending is the part
// of them that was already pending.
func (a *account) cost(to offered, unit, quantity int64, at time.Time) (credit, charge, pending int64) {
	for _, p := range a.pending {
		credit, charge, pending = credit-min(p.net, 0), charge+max(p.net, 0), pending+p.net
	}
	ch := a.prorate(to, unit, quantity, at)
	return credit + ch.credit - ch.unpaid, charge + ch.charge, pending
}

// pays reports whether the card can pay for a change. Any card can if the credit is sufficient.
func (a *account) pays(to offered, unit, quantity int64, at time.Time) bool {
	credit, charge, _ := a.cost(to, unit, quantity, at)
	return a.away || a.sent || charge-credit <= a.credit
}

// change makes the change that cost has computed for the time at, and bills it as paid. A new cycle
// begins when the change is made, which can be later than at.
func (a *account) change(to offered, unit, quantity int64, at, made time.Time) {
	credit, charge, _ := a.cost(to, unit, quantity, at)
	ch := a.prorate(to, unit, quantity, at)
	restarts := to.cycle != a.plan.cycle && !a.trial
	a.next = nil
	a.plan, a.unit, a.quantity = to, unit, quantity
	switch {
	case restarts:
		a.anchor, a.start, a.end = made, made, boundary(made, to.cycle, 1)
		a.off, a.pending = a.discount.of(a.price(), a.step, at), nil
		a.bill(charge-credit, !a.sent, line{ch.charge, made, to.slug, unit, quantity})
	case ch.unprorated:
		a.frozen = true
	case !a.trial:
		a.off = a.discount.of(a.price(), a.step, at)
		lines := append(a.pending, line{net: -ch.credit, from: at}, line{ch.charge, at, to.slug, unit, quantity}, line{net: ch.unpaid, from: at})
		a.pending = nil
		a.bill(charge-credit, !a.sent, lines...)
	case len(a.pending) > 0:
		a.pending = nil
		a.bill(charge-credit, true)
	}
}

// seats changes the quantity. The difference is pending for the next invoice.
func (a *account) seats(quantity int64, at time.Time) {
	if !a.trial {
		if len(a.pending) == 0 {
			a.waits = at
		}
		charge := a.share(a.net(a.unit*quantity, at), at)
		a.pending = append(a.pending, line{net: -a.share(a.price()-a.off, at), from: at}, line{charge, at, a.plan.slug, a.unit, quantity})
		a.off = a.discount.of(a.unit*quantity, a.step, at)
	}
	a.quantity = quantity
}

// buy starts a subscription. trial is the length of its trial in days.
func (a *account) buy(plan offered, unit, quantity int64, at time.Time, trial int) {
	*a = account{
		step: a.step, away: a.away, sent: a.sent, credit: a.credit, bills: a.bills, cash: a.cash, discount: a.discount,
		plan: plan, status: "active", unit: unit, quantity: quantity, anchor: at, start: at, end: boundary(at, plan.cycle, 1),
	}
	if trial > 0 {
		a.status, a.trial, a.end = "trialing", true, at.AddDate(0, 0, trial)
		a.anchor = a.end
		a.bill(0, true)
		return
	}
	a.off = a.discount.of(a.price(), a.step, at)
	a.bill(a.price()-a.off, !a.sent, a.whole())
}

// monthly returns when pending changes are billed before the end of the period, which happens monthly
// if the cycle is longer than a month. It returns zero if they are billed at the end of the period.
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

// begin makes the scheduled change at the start of a period. The quantity covers the team.
func (a *account) begin(members int64) {
	n := a.next
	if n == nil {
		return
	}
	if n.plan.cycle != a.plan.cycle {
		a.anchor = a.start
	}
	a.plan, a.unit, a.quantity, a.next = n.plan, n.unit, n.quantity, nil
	if a.plan.kind == "seat" {
		a.quantity = max(a.quantity, members)
	}
}

// pass advances the model to now: periods end, and the next ones are billed. members is the size of the
// team.
func (a *account) pass(now time.Time, members int64) {
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
		a.start, a.trial, a.frozen = a.end, false, false
		a.begin(members)
		if a.status == "trialing" {
			a.status = "active"
		}
		for n := 1; ; n++ {
			if a.end = boundary(a.anchor, a.plan.cycle, n); a.end.After(a.start) {
				break
			}
		}
		a.off = a.discount.of(a.price(), a.step, a.start)
		total := a.price() - a.off
		for _, p := range a.pending {
			total += p.net
		}
		a.pending = nil
		if !a.bill(total, a.away, a.whole()) && !a.sent {
			a.status = "past_due"
		}
	}
}

// settled marks all bills as paid.
func (a *account) settled() {
	for i := range a.bills {
		b := &a.bills[i]
		a.cash += b.due
		b.Status, b.card, b.due = "paid", b.card+b.due, 0
	}
	if a.status == "past_due" {
		a.status = "active"
	}
}

// owes reports whether there is an unpaid bill.
func (a *account) owes() bool {
	return slices.ContainsFunc(a.bills, func(b bill) bool { return b.Status == "open" })
}

// endNow ends the subscription and bills pending changes.
func (a *account) endNow() {
	if len(a.pending) > 0 {
		a.billPending()
	}
	a.status = ""
}

func (a *account) billPending() (paid bool) {
	total, lines := int64(0), a.pending
	for _, p := range lines {
		total += p.net
	}
	a.pending = nil
	return a.bill(total, a.away, lines...)
}

// bill creates an invoice and reports whether it is paid: from the credit first, and the rest by
// card if the card pays. A negative invoice becomes credit.
func (a *account) bill(total int64, pays bool, lines ...line) (paid bool) {
	paid = pays || total <= a.credit
	due := max(0, total-a.credit)
	b := bill{Total: total, Status: "open", due: due, lines: lines, until: a.end}
	if paid {
		b.Status, b.card, b.due = "paid", due, 0
		a.cash += due
	}
	a.bills = append(a.bills, b)
	a.credit = max(0, a.credit-total)
	return paid
}
