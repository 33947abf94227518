package analytics

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/stats/rates"
)

// Figures are the amounts and customers of a month. Amounts are in minor units of the displayed
// currency.
//
// Invariant: Opening + New + Expansion + Contraction + Churn + Reactivation + Exchange = Closing, and
// CustomersOpening + CustomersNew - CustomersChurned + CustomersReactivated = CustomersClosing.
// Closing is the Opening of the next month.
type Figures struct {
	Opening, New, Expansion, Contraction, Churn, Reactivation, Exchange, Closing             int64
	CustomersOpening, CustomersNew, CustomersChurned, CustomersReactivated, CustomersClosing int64
	TrialsEnded, TrialsConverted                                                             int64
}

// Kind is the kind of a movement of a customer in a month.
type Kind string

// The kinds of movements.
const (
	New          Kind = "new"
	Expansion    Kind = "expansion"
	Contraction  Kind = "contraction"
	Churn        Kind = "churn"
	Reactivation Kind = "reactivation"
)

// Movement is the change of a customer's revenue in a month, at the closing rates.
type Movement struct {
	Customer      int64
	Subscription  uuid.UUID // one of the customer's subscriptions
	Kind          Kind      // empty without a change
	Before, After int64
}

// window is a month, or the part of the current month until now.
type window struct{ start, end Moment }

// conversion converts the amounts of a moment to the displayed currency.
type conversion []rates.Conversion // by index of the currency

// conversionAt returns the conversion at a moment.
func (h History) conversionAt(t rates.Table, m Moment) conversion {
	list := make(conversion, len(h.Currencies))
	for i, code := range h.Currencies {
		list[i], _ = t.ConversionAt(code, m.day())
	}
	return list
}

// position is the revenue of a customer at a moment. Whether a tenant is a customer does not depend on
// rates, so that numbers of customers add up.
type position struct {
	amount int64 // converted
	counts bool
}

// positionAt returns the revenue of a customer at a moment.
func positionAt(own []Subscription, m Moment, c conversion) (p position) {
	for _, s := range own {
		if step := s.stepAt(m); step.Amount > 0 {
			p.amount += c[s.Currency].Convert(step.Amount)
			p.counts = true
		}
	}
	return p
}

// eachCustomer calls f with the subscriptions of each customer.
func (h History) eachCustomer(f func(own []Subscription)) {
	for from := 0; from < len(h.Subscriptions); {
		to := from + 1
		for to < len(h.Subscriptions) && h.Subscriptions[to].Customer == h.Subscriptions[from].Customer {
			to++
		}
		f(h.Subscriptions[from:to])
		from = to
	}
}

// hadRevenueBefore reports whether a customer ever had revenue before a moment.
func hadRevenueBefore(own []Subscription, m Moment) bool {
	limit := m.limit()
	for _, s := range own {
		for _, step := range s.Steps {
			if step.At < limit && step.Amount > 0 {
				return true
			}
		}
	}
	return false
}

// classify returns the movement of a customer in a month. before is at the closing rates.
func classify(own []Subscription, w window, before, after position) Movement {
	m := Movement{Customer: own[0].Customer, Subscription: own[0].ID, Before: before.amount, After: after.amount}
	switch {
	case !before.counts && after.counts:
		m.Kind = New
		if hadRevenueBefore(own, w.start) {
			m.Kind = Reactivation
		}
	case before.counts && !after.counts:
		m.Kind = Churn
	case after.amount > before.amount:
		m.Kind = Expansion
	case after.amount < before.amount:
		m.Kind = Contraction
	}
	return m
}

// add adds a movement to the figures.
func (f *Figures) add(m Movement) {
	change := m.After - m.Before
	switch m.Kind {
	case New:
		f.New += change
		f.CustomersNew++
	case Reactivation:
		f.Reactivation += change
		f.CustomersReactivated++
	case Churn:
		f.Churn += change
		f.CustomersChurned++
	case Expansion:
		f.Expansion += change
	case Contraction:
		f.Contraction += change
	}
}

// monthlyFigures returns the figures of consecutive months, oldest first.
func (h History) monthlyFigures(t rates.Table, list []window) []Figures {
	moments := []Moment{list[0].start}
	for _, w := range list {
		moments = append(moments, w.end)
	}
	at := make([]conversion, len(moments))
	for i, m := range moments {
		at[i] = h.conversionAt(t, m)
	}
	figures := make([]Figures, len(list))
	h.eachCustomer(func(own []Subscription) {
		opening := positionAt(own, moments[0], at[0])
		for i, w := range list {
			f := &figures[i]
			revalued := positionAt(own, moments[i], at[i+1])
			closing := positionAt(own, moments[i+1], at[i+1])
			f.Opening += opening.amount
			f.Exchange += revalued.amount - opening.amount
			f.Closing += closing.amount
			f.CustomersOpening += oneIf(opening.counts)
			f.CustomersClosing += oneIf(closing.counts)
			f.add(classify(own, w, revalued, closing))
			opening = closing
		}
	})
	h.countTrials(list, figures)
	return figures
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// convertedWithin is how long after its end a trial can be converted, unless the month is longer.
const convertedWithin = 30 * 24 * time.Hour

// countTrials counts the trials that ended in each month, and how many of them led to a payment.
func (h History) countTrials(list []window, figures []Figures) {
	paid := map[uuid.UUID][]time.Time{}
	for _, m := range h.Milestones {
		if m.IsPayment {
			paid[m.Subscription] = append(paid[m.Subscription], m.At)
		}
	}
	for _, m := range h.Milestones {
		at := m.At.UnixMicro()
		for i, w := range list {
			if m.IsPayment || at < w.start.limit() || at >= w.end.limit() {
				continue
			}
			figures[i].TrialsEnded++
			figures[i].TrialsConverted += oneIf(isConverted(m.At, w.start.At, paid[m.Subscription]))
		}
	}
}

// isConverted reports whether a payment is in the month in which a trial ended, or within 30 days of
// its end.
func isConverted(end, month time.Time, paid []time.Time) bool {
	next := month.AddDate(0, 1, 0)
	for _, at := range paid {
		if !at.Before(month) && (at.Before(next) || !at.After(end.Add(convertedWithin))) {
			return true
		}
	}
	return false
}

// movements returns the movements of a kind in a month.
func (h History) movements(t rates.Table, w window, kind Kind) []Movement {
	c := h.conversionAt(t, w.end)
	list := []Movement{}
	h.eachCustomer(func(own []Subscription) {
		m := classify(own, w, positionAt(own, w.start, c), positionAt(own, w.end, c))
		if m.Kind == kind {
			list = append(list, m)
		}
	})
	return list
}

// retainedRevenue returns the revenue at an earlier moment and the later revenue of the same customers, both
// at the later rates.
func (h History) retainedRevenue(t rates.Table, earlier, later Moment) (before, after int64, exist bool) {
	c := h.conversionAt(t, later)
	h.eachCustomer(func(own []Subscription) {
		if p := positionAt(own, earlier, c); p.counts {
			exist = true
			before += p.amount
			after += positionAt(own, later, c).amount
		}
	})
	return before, after, exist
}
