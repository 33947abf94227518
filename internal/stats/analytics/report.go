package analytics

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/stats/rates"
)

// report has the figures of months. Ratios are nil if their divisor is 0.
type report struct {
	months       []Figures
	retention    *money.Quantity
	byPlan       []planRevenue
	byCurrency   []currencyRevenue
	missingRates []missingRate
}

// planRevenue is the revenue of a plan.
type planRevenue struct {
	id            uuid.UUID
	subscriptions int64
	amount        int64
}

// currencyRevenue is the revenue in a currency. rate and converted are nil without a rate.
type currencyRevenue struct {
	code      string
	amount    int64 // in the currency
	rate      *money.UnitPrice
	converted *int64
}

// missingRate is a month in which a currency in use did not have a rate.
type missingRate struct {
	code  string
	month time.Time
}

// report returns the figures of consecutive months, oldest first. The caller has already filtered
// the history.
func (h History) report(t rates.Table, list []window) report {
	last := list[len(list)-1]
	converted := h.convertible(t)
	r := report{months: converted.monthlyFigures(t, list), missingRates: h.missingRates(t, list), byCurrency: h.byCurrency(t, last.end)}
	before, after, exist := converted.retainedRevenue(t, last.end.yearEarlier(), last.end)
	if exist {
		r.retention = ratio(after, before)
	}
	r.byPlan = converted.byPlan(t, last.end)
	return r
}

// yearEarlier returns the same moment twelve months earlier. For 29 February, it is 28 February.
func (m Moment) yearEarlier() Moment {
	at := m.At.AddDate(-1, 0, 0)
	if at.Day() != m.At.Day() {
		at = at.AddDate(0, 0, -at.Day())
	}
	return Moment{at, m.Inclusive}
}

// convertible returns the history without the currencies that have no rate.
func (h History) convertible(t rates.Table) History {
	f := Filter{Currencies: map[string]bool{}}
	for _, code := range h.Currencies {
		f.Currencies[code] = t.Has(code)
	}
	return h.apply(f)
}

// usedCurrencies returns the currencies with revenue at any time in a window, sorted.
func (h History) usedCurrencies(w window) []string {
	found := map[int]bool{}
	for _, s := range h.Subscriptions {
		if found[s.Currency] {
			continue
		}
		isUsed := s.stepAt(w.start).Amount > 0
		for _, step := range s.Steps {
			isUsed = isUsed || step.Amount > 0 && step.At >= w.start.limit() && step.At < w.end.limit()
		}
		if isUsed {
			found[s.Currency] = true
		}
	}
	codes := make([]string, 0, len(found))
	for i := range found {
		codes = append(codes, h.Currencies[i])
	}
	slices.Sort(codes)
	return codes
}

func (h History) missingRates(t rates.Table, list []window) []missingRate {
	missing := []missingRate{}
	for _, w := range list {
		for _, code := range h.usedCurrencies(w) {
			if _, isMissing := t.ConversionAt(code, w.end.day()); isMissing {
				missing = append(missing, missingRate{code, w.start.At})
			}
		}
	}
	return missing
}

// byPlan returns the revenue by plan at a moment, largest first.
func (h History) byPlan(t rates.Table, m Moment) []planRevenue {
	c := h.conversionAt(t, m)
	of := map[int]*planRevenue{}
	for _, s := range h.Subscriptions {
		step := s.stepAt(m)
		if !step.Active {
			continue
		}
		p := of[step.Plan]
		if p == nil {
			p = &planRevenue{id: h.Plans[step.Plan]}
			of[step.Plan] = p
		}
		p.subscriptions++
		p.amount += c[s.Currency].Convert(step.Amount)
	}
	list := []planRevenue{}
	for _, p := range of {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b planRevenue) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), cmp.Compare(b.subscriptions, a.subscriptions), cmp.Compare(a.id.String(), b.id.String()))
	})
	return list
}

// byCurrency returns the revenue by currency at a moment, largest first. Currencies without a rate are
// last.
func (h History) byCurrency(t rates.Table, m Moment) []currencyRevenue {
	c := h.conversionAt(t, m)
	amounts, converted := make([]int64, len(h.Currencies)), make([]int64, len(h.Currencies))
	for _, s := range h.Subscriptions {
		amount := s.stepAt(m).Amount
		amounts[s.Currency] += amount
		converted[s.Currency] += c[s.Currency].Convert(amount)
	}
	list := []currencyRevenue{}
	for i, code := range h.Currencies {
		if amounts[i] == 0 {
			continue
		}
		r := currencyRevenue{code: code, amount: amounts[i]}
		if t.HasRates() && t.Has(code) {
			rate := c[i].Rate()
			r.rate, r.converted = &rate, &converted[i]
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b currencyRevenue) int {
		x, y := int64(-1), int64(-1)
		if a.converted != nil {
			x = *a.converted
		}
		if b.converted != nil {
			y = *b.converted
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.code, b.code))
	})
	return list
}

// ratioUnits is the number of millionths in the last decimal of a ratio.
const ratioUnits = 100

// ratio returns a ÷ b, rounded half up to four decimals, or nil if b is 0.
func ratio(a, b int64) *money.Quantity {
	if b == 0 {
		return nil
	}
	r := quotient(new(big.Int).Mul(big.NewInt(a), big.NewInt(int64(money.One)/ratioUnits)), b)
	q := money.Quantity(r * ratioUnits)
	return &q
}

// quotient returns a ÷ b for a positive b, rounded half up.
func quotient(a *big.Int, b int64) int64 {
	doubled := new(big.Int).Lsh(a, 1)
	doubled.Add(doubled, big.NewInt(b))
	return doubled.Div(doubled, new(big.Int).Lsh(big.NewInt(b), 1)).Int64()
}
