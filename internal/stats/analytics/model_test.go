package analytics

import (
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"
)

// The model computes every figure naively from the states of subscriptions: it scans all states at each
// moment and calculates with fractions. It shares no code with the service.

// state is a state of a subscription. It applies from the time at until the next state.
type state struct {
	at           time.Time
	status       string
	plan         int
	price, seats int64
	unit         string
	count        int
	anchor       time.Time
	off          int64 // discount on price × seats
	offEnds      *time.Time
	trialEnds    *time.Time
}

// modelSub is a subscription in the model.
type modelSub struct {
	id       uuid.UUID
	tenant   int
	currency string
	states   []state
	trials   []modelEvent // ends
	payments []modelEvent
}

type modelEvent struct {
	at   time.Time
	plan int
}

// modelRate is the rate of a currency on a date.
type modelRate struct {
	currency string
	date     time.Time
	rate     *big.Rat
}

type model struct {
	subs  []*modelSub
	rates []modelRate
	now   time.Time
	plan  int    // filter; -1 for all
	only  string // filter by currency; "" for all
}

var decimals = map[string]int{"EUR": 2, "USD": 2, "JPY": 0, "KWD": 3}

// boundary returns the start of the nth period after the anchor.
func (s state) boundary(n int) time.Time {
	a := s.anchor
	months := 0
	switch s.unit {
	case "day":
		return a.Add(time.Duration(n*s.count) * 24 * time.Hour)
	case "week":
		return a.Add(time.Duration(n*s.count) * 7 * 24 * time.Hour)
	case "month":
		months = n * s.count
	case "year":
		months = 12 * n * s.count
	}
	first := time.Date(a.Year(), a.Month()+time.Month(months), 1, a.Hour(), a.Minute(), a.Second(), 0, time.UTC)
	length := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(a.Day(), length)-1)
}

// offUntil returns the end of the last discounted period.
func (s state) offUntil() time.Time {
	n := 0
	for s.boundary(n).Before(*s.offEnds) {
		n++
	}
	return s.boundary(n)
}

// monthly returns the monthly amount that applies at the given time.
func (s state) monthly(at time.Time) int64 {
	total := big.NewRat(s.price*s.seats, 1)
	if s.off > 0 && (s.offEnds == nil || at.Before(s.offUntil())) {
		total.Sub(total, big.NewRat(s.off, 1))
	}
	factor := map[string]*big.Rat{"day": big.NewRat(365, 12), "week": big.NewRat(52, 12), "month": big.NewRat(1, 1), "year": big.NewRat(1, 12)}[s.unit]
	total.Mul(total, factor)
	return halfUp(total.Quo(total, big.NewRat(int64(s.count), 1)))
}

func halfUp(r *big.Rat) int64 {
	r = new(big.Rat).Add(r, big.NewRat(1, 2))
	q := new(big.Int)
	q.DivMod(r.Num(), r.Denom(), new(big.Int))
	return q.Int64()
}

// included reports whether an event at the given time is included in a moment.
func included(at time.Time, m Moment) bool { return at.Before(m.At) || m.Inclusive && at.Equal(m.At) }

// level returns the amount of a subscription at a moment in its currency, and whether it is active.
func (m model) level(s *modelSub, at Moment) (amount int64, plan int, active bool) {
	if m.only != "" && s.currency != m.only {
		return 0, 0, false
	}
	for _, st := range slices.Backward(s.states) {
		if !included(st.at, at) {
			continue
		}
		if st.status != "active" && st.status != "past_due" || m.plan >= 0 && st.plan != m.plan {
			return 0, 0, false
		}
		moment := at.At
		if !at.Inclusive {
			moment = moment.Add(-time.Microsecond)
		}
		return st.monthly(moment), st.plan, true
	}
	return 0, 0, false
}

// rate returns the rate of a currency on the day of a moment.
func (m model) rate(currency string, at Moment) (rate *big.Rat, own bool) {
	if currency == "EUR" {
		return big.NewRat(1, 1), true
	}
	day := at.At
	if !at.Inclusive {
		day = day.Add(-time.Microsecond)
	}
	day = day.Truncate(24 * time.Hour)
	var earlier, later *modelRate
	for i, r := range m.rates {
		switch {
		case r.currency != currency:
		case !r.date.After(day):
			if earlier == nil || r.date.After(earlier.date) {
				earlier = &m.rates[i]
			}
		case later == nil || r.date.Before(later.date):
			later = &m.rates[i]
		}
	}
	switch {
	case earlier != nil:
		return earlier.rate, day.Sub(earlier.date) <= 10*24*time.Hour
	case later != nil:
		return later.rate, false
	}
	return nil, false
}

// convert returns an amount in euros, at the rates of a moment.
func (m model) convert(amount int64, currency string, at Moment) int64 {
	rate, _ := m.rate(currency, at)
	if rate == nil {
		return 0
	}
	r := big.NewRat(amount, pow10(decimals[currency]))
	r.Mul(r, big.NewRat(pow10(decimals["EUR"]), 1))
	return halfUp(r.Quo(r, rate))
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// of returns a tenant's revenue at a moment, converted at the rates of another moment, and whether
// the tenant has revenue.
func (m model) of(tenant int, at, rates Moment) (amount int64, is bool) {
	for _, s := range m.subs {
		level, _, _ := m.level(s, at)
		if rate, _ := m.rate(s.currency, rates); s.tenant != tenant || rate == nil || level == 0 {
			continue
		}
		amount += m.convert(level, s.currency, rates)
		is = true
	}
	return amount, is
}

// everBefore reports whether a tenant had revenue at any time before a moment. Revenue changes only
// when the state changes or a discount ends.
func (m model) everBefore(tenant int, at Moment) bool {
	for _, s := range m.subs {
		for _, st := range s.states {
			times := []time.Time{st.at}
			if st.off > 0 && st.offEnds != nil {
				times = append(times, st.offUntil())
			}
			for _, t := range times {
				if included(t, at) {
					if _, is := m.of(tenant, Moment{t, true}, at); is {
						return true
					}
				}
			}
		}
	}
	return false
}

func (m model) tenants() []int {
	var list []int
	for _, s := range m.subs {
		if !slices.Contains(list, s.tenant) {
			list = append(list, s.tenant)
		}
	}
	return list
}

// month returns the figures of a month.
func (m model) month(w window) (f Figures) {
	for _, tenant := range m.tenants() {
		open, was := m.of(tenant, w.start, w.start)
		revalued, _ := m.of(tenant, w.start, w.end)
		end, is := m.of(tenant, w.end, w.end)
		f.Opening += open
		f.Exchange += revalued - open
		f.Closing += end
		change := end - revalued
		switch {
		case was && is && change > 0:
			f.Expansion += change
		case was && is:
			f.Contraction += change
		case was:
			f.Churn += change
			f.CustomersChurned++
		case is && m.everBefore(tenant, w.start):
			f.Reactivation += end
			f.CustomersReactivated++
		case is:
			f.New += end
			f.CustomersNew++
		}
		if was {
			f.CustomersOpening++
		}
		if is {
			f.CustomersClosing++
		}
	}
	next := w.start.At.AddDate(0, 1, 0)
	for _, s := range m.subs {
		if rate, _ := m.rate(s.currency, w.end); rate == nil || m.only != "" && m.only != s.currency {
			continue
		}
		for _, t := range s.trials {
			if m.plan >= 0 && t.plan != m.plan || t.at.Before(w.start.At) || !included(t.at, w.end) {
				continue
			}
			f.TrialsEnded++
			if slices.ContainsFunc(s.payments, func(p modelEvent) bool {
				inMonth := !p.at.Before(w.start.At) && p.at.Before(next)
				soon := !p.at.Before(t.at) && p.at.Sub(t.at) <= 30*24*time.Hour
				return !p.at.After(m.now) && (inMonth || soon)
			}) {
				f.TrialsConverted++
			}
		}
	}
	return f
}

// retention returns the revenue of the customers twelve months before a moment, and the revenue of
// the same customers at the moment.
func (m model) retention(at Moment) (before, after int64) {
	then := Moment{time.Date(at.At.Year()-1, at.At.Month(), at.At.Day(), at.At.Hour(), at.At.Minute(), at.At.Second(), 0, time.UTC), at.Inclusive}
	for _, tenant := range m.tenants() {
		if amount, was := m.of(tenant, then, at); was {
			later, _ := m.of(tenant, at, at)
			before, after = before+amount, after+later
		}
	}
	return before, after
}

// cohort returns the number of customers who first paid in a month, and how many of them remain at
// the end of each window.
func (m model) cohort(w window, list []window) (customers int64, counts []int64) {
	counts = make([]int64, len(list))
	for _, tenant := range m.tenants() {
		var first *time.Time
		for _, s := range m.subs {
			if rate, _ := m.rate(s.currency, w.end); s.tenant != tenant || rate == nil || m.only != "" && m.only != s.currency {
				continue
			}
			for _, p := range s.payments {
				if (m.plan < 0 || p.plan == m.plan) && (first == nil || p.at.Before(*first)) {
					first = &p.at
				}
			}
		}
		if first == nil || first.Before(w.start.At) || !included(*first, w.end) {
			continue
		}
		customers++
		for i, later := range list {
			if _, is := m.of(tenant, later.end, later.end); is {
				counts[i]++
			}
		}
	}
	return customers, counts
}
