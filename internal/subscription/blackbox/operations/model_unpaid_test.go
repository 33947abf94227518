package blackbox_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// line is a part of a bill for the time from a moment to the end of the period. The plan, its price and
// its quantity are set for a charge of the plan.
type line struct {
	net            int64 // after the discount, negative for a credit
	from           time.Time
	plan           string
	unit, quantity int64
}

// whole returns the line for the whole current period.
func (a *account) whole() line {
	return line{a.price() - a.off, a.start, a.plan.slug, a.unit, a.quantity}
}

// rest returns the value of a line from a time to the end of the period.
func (a *account) rest(l line, at time.Time) *big.Rat {
	return big.NewRat(l.net*int64(a.end.Sub(at)/time.Second), int64(a.end.Sub(l.from)/time.Second))
}

// received returns the part of a bill that was paid and not returned, from 0 to 1.
func (b bill) received() *big.Rat {
	switch {
	case b.Status != "paid":
		return new(big.Rat)
	case b.Total <= 0:
		return big.NewRat(1, 1)
	}
	return big.NewRat(b.Total-b.credited, b.Total)
}

// isPaid reports whether the bills of the current period are paid in full.
func (a *account) isPaid() bool {
	return !slices.ContainsFunc(a.bills, func(b bill) bool {
		return b.until.Equal(a.end) && len(b.lines) > 0 && b.received().Cmp(big.NewRat(1, 1)) != 0
	})
}

// paidShare returns the paid part of the rest of the current period, from 0 to 1. Each line is rounded, so
// a missing unit per line counts as paid. It is called only if no seats are pending.
func (a *account) paidShare(at time.Time) *big.Rat {
	paid, value, lines := new(big.Rat), new(big.Rat), int64(0)
	var latest time.Time
	for _, b := range slices.Backward(a.bills) {
		if !b.until.Equal(a.end) {
			continue
		}
		for _, l := range b.lines {
			if l.net == 0 {
				continue
			}
			lines++
			paid.Add(paid, new(big.Rat).Mul(a.rest(l, at), b.received()))
			if l.plan == a.plan.slug && l.unit == a.unit && l.quantity == a.quantity && l.from.After(latest) {
				value, latest = a.rest(l, at), l.from
			}
		}
	}
	missing := new(big.Rat).Sub(value, paid)
	switch {
	case value.Sign() <= 0 || missing.Cmp(big.NewRat(lines, 1)) <= 0:
		return big.NewRat(1, 1)
	case paid.Sign() <= 0:
		return new(big.Rat)
	}
	return new(big.Rat).Quo(paid, value)
}

// proration is the cost of a change of plan, without the seats that are pending. unpaid is the part of the
// credit that was never paid, which is not given.
type proration struct {
	credit, charge, unpaid int64
	// unprorated means that the change credits and charges nothing for the rest of the period.
	unprorated bool
}

// prorate returns the cost of a change at the given time. A change to another cycle begins a period, which
// is charged in full. A change that would give a credit for unpaid time is not prorated.
func (a *account) prorate(to offered, unit, quantity int64, at time.Time) proration {
	if a.trial {
		return proration{}
	}
	begins := to.cycle != a.plan.cycle
	p := proration{credit: a.share(a.price()-a.off, at), charge: a.net(unit*quantity, at)}
	if !begins {
		p.charge = a.share(p.charge, at)
	}
	if a.isPaid() {
		return p
	}
	share := a.paidShare(at)
	left := new(big.Rat).Sub(big.NewRat(1, 1), share)
	left.Mul(left, big.NewRat(p.credit, a.step))
	steps := new(big.Int).Quo(new(big.Int).Add(left.Num(), new(big.Int).Sub(left.Denom(), big.NewInt(1))), left.Denom())
	p.unpaid = min(steps.Int64()*a.step, p.credit)
	costs := begins || p.charge > p.credit
	switch {
	case share.Sign() == 0 && begins:
		return proration{charge: p.charge}
	case !costs && (share.Sign() == 0 || p.charge-p.credit+p.unpaid > 0):
		return proration{unprorated: true}
	}
	return p
}

// buySent subscribes a tenant that pays its invoices by transfer.
func (v *sale) buySent() {
	p, quantity := v.pick("")
	v.admin.AdminCall("POST", "/tenants/"+v.Tenant+"/subscriptions", apptest.Object{
		"plan_id": v.ids[p.slug], "currency": modelCurrencies[v.currency].code, "quantity": quantity,
		"collection": "invoice", "days_until_due": 180,
	}).Want(201)
	v.AwaitNotifications()
	v.money.buy(p, v.unit(p.slug), quantity, v.startedAt(), 0)
	v.note("sent purchase", "has the contract %s × %d", p.slug, quantity)
	v.agrees("contract for " + p.slug)
}

// markPaid marks the oldest open invoice as paid. It reports whether there was one.
func (v *sale) markPaid() bool {
	at := slices.IndexFunc(v.money.bills, func(b bill) bool { return b.Status == "open" })
	if at < 0 {
		return false
	}
	remote := slices.DeleteFunc(v.ProviderObjects(v.Owner, "invoice"), func(in apptest.Reply) bool { return in.At("status") == "void" })
	v.admin.AdminCall("POST", "/tenants/"+v.Tenant+"/invoices/"+v.invoiceOf(remote[at].Str("id"))+"/mark-paid", apptest.Object{}).Want(200)
	v.money.bills[at].Status, v.money.bills[at].due = "paid", 0
	v.AwaitNotifications()
	v.note("transfer", "pays %d by transfer", v.money.bills[at].Total)
	v.agrees("paid by transfer")
	return true
}
