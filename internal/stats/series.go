package stats

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// Figure is a key figure with a time series.
type Figure string

// Figures. The first three are levels, with the value at the end of each period. The others are
// sums over the period.
const (
	MRR            Figure = "mrr"
	Tenants        Figure = "tenants"
	Subscriptions  Figure = "subscriptions"
	FailedPayments Figure = "failed_payments"
	QuotaRefusals  Figure = "quota_refusals"
)

// Interval is the length of a period in a series, in UTC.
type Interval string

// Intervals.
const (
	Day   Interval = "day"
	Month Interval = "month"
)

// maxPoints is the maximum number of points in a series.
const maxPoints = 400

var (
	errPoints   = fault.OnField("from", "validation.series_points")
	errNoPeriod = fault.OnField("from", "validation.before_to")
)

// span is a time range from start (inclusive) to end (exclusive).
type span struct{ start, end time.Time }

// period is a period of a series, cut to the requested days.
type period struct {
	at          time.Time // start of the whole period
	first, last int64     // days, see journal.DayOf; both inclusive
}

func (p period) span() span { return span{journal.StartOf(p.first), journal.StartOf(p.last + 1)} }

// periods divides a range of days, both ends inclusive, into periods. It returns errNoPeriod if
// from is after to, and errPoints if there are more than maxPoints periods.
func periods(i Interval, from, to time.Time) ([]period, error) {
	if from.After(to) {
		return nil, errNoPeriod
	}
	var list []period
	last := journal.DayOf(to)
	for at := i.start(from); !at.After(to); at = i.next(at) {
		if len(list) == maxPoints {
			return nil, errPoints
		}
		list = append(list, period{
			at: at, first: max(journal.DayOf(from), journal.DayOf(at)), last: min(last, journal.DayOf(i.next(at))-1),
		})
	}
	return list, nil
}

func (i Interval) start(at time.Time) time.Time {
	if i == Month {
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return journal.StartOf(journal.DayOf(at))
}

func (i Interval) next(start time.Time) time.Time {
	if i == Month {
		return start.AddDate(0, 1, 0)
	}
	return start.AddDate(0, 0, 1)
}

// defaultStart returns the default start of a series that ends on a day: 12 months or 30 days in
// total.
func (i Interval) defaultStart(to time.Time) time.Time {
	if i == Month {
		return i.start(to).AddDate(0, -11, 0)
	}
	return to.AddDate(0, 0, -29)
}

// line is a series, in one currency or without a currency.
type line struct {
	currency *string
	values   []int64 // one per period
}

// series returns the values of a figure for periods, limited to a currency unless currency is "".
// Only revenue has currencies.
func (s *Service) series(ctx context.Context, f Figure, of []period, currency string) ([]line, error) {
	var values []int64
	var err error
	switch f {
	case MRR:
		return s.revenueSeries(ctx, of, currency)
	case Subscriptions:
		values, err = s.subscriptionSeries(ctx, of)
	case Tenants:
		values, err = s.tenantSeries(ctx, of)
	case FailedPayments:
		values, err = s.store.failures(ctx, spansOf(of))
	case QuotaRefusals:
		values, err = s.refusalSeries(ctx, of)
	}
	return []line{{values: values}}, err
}

func spansOf(of []period) []span {
	list := make([]span, len(of))
	for i, p := range of {
		list[i] = p.span()
	}
	return list
}

// movements reads the journal for periods.
func (s *Service) movements(ctx context.Context, of []period) ([]journal.Movement, error) {
	return s.deps.Journal.Movements(ctx, of[0].first, of[len(of)-1].last)
}

func (s *Service) revenueSeries(ctx context.Context, of []period, currency string) ([]line, error) {
	moves, err := s.movements(ctx, of)
	if err != nil {
		return nil, err
	}
	changes := map[string][]int64{}
	if currency != "" {
		changes[currency] = make([]int64, len(of))
	}
	for _, m := range moves {
		if currency != "" && m.Currency != currency {
			continue
		}
		if changes[m.Currency] == nil {
			changes[m.Currency] = make([]int64, len(of))
		}
		changes[m.Currency][index(of, m.Day)] += m.Amount
	}
	lines := []line{}
	for _, code := range slices.Sorted(maps.Keys(changes)) {
		values := levels(changes[code])
		if currency == "" && !slices.ContainsFunc(values, func(v int64) bool { return v != 0 }) {
			continue
		}
		lines = append(lines, line{&code, values})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return compareLast(b.values, a.values) })
	return lines, nil
}

func compareLast(a, b []int64) int {
	x, y := a[len(a)-1], b[len(b)-1]
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	default:
		return 0
	}
}

func (s *Service) subscriptionSeries(ctx context.Context, of []period) ([]int64, error) {
	moves, err := s.movements(ctx, of)
	changes := make([]int64, len(of))
	for _, m := range moves {
		changes[index(of, m.Day)] += netStarts(m)
	}
	return levels(changes), err
}

// tenantSeries counts a tenant from the day of its creation until its deletion.
func (s *Service) tenantSeries(ctx context.Context, of []period) ([]int64, error) {
	list := spansOf(of)
	list[0].start = time.Time{} // includes everything before
	changes, err := s.store.tenantsBetween(ctx, list)
	if err != nil {
		return nil, err
	}
	return levels(changes), nil
}

func (s *Service) refusalSeries(ctx context.Context, of []period) ([]int64, error) {
	days, err := s.store.refusalDays(ctx, of[0].first, of[len(of)-1].last)
	sums := make([]int64, len(of))
	for day, n := range days {
		sums[index(of, day)] += n
	}
	return sums, err
}

// index returns the index of the period that contains a day, or 0 for earlier days.
func index(of []period, day int64) int {
	i, found := slices.BinarySearchFunc(of, day, func(p period, day int64) int { return int(p.first - day) })
	if !found {
		i--
	}
	return max(0, i)
}

// levels returns the cumulative sums of changes.
func levels(changes []int64) []int64 {
	values := make([]int64, len(changes))
	var level int64
	for i, c := range changes {
		level += c
		values[i] = level
	}
	return values
}
