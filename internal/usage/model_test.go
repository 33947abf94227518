package usage

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
)

// model is the domain without a database: it keeps every event and computes
// what is shown from all of them, each time anew.
type model struct {
	meters     map[string]Meter // by code
	allowances map[uuid.UUID]Allowance
	events     map[streamName][]Event
	keys       map[string]bool
	alerts     map[uuid.UUID][]modelAlert
}

type streamName struct {
	tenantID uuid.UUID
	code     string
}

type modelAlert struct {
	code      string
	period    Period
	threshold int
	value     money.Quantity
}

func newModel() *model {
	return &model{
		meters: map[string]Meter{}, allowances: map[uuid.UUID]Allowance{},
		events: map[streamName][]Event{}, keys: map[string]bool{}, alerts: map[uuid.UUID][]modelAlert{},
	}
}

// period is the one of a stream's meter that contains a time.
func (m *model) period(s streamName, at time.Time) Period {
	return PeriodOf(m.meters[s.code].Reset, m.allowances[s.tenantID].Billing, at)
}

func (m *model) limit(s streamName) *int64 { return m.allowances[s.tenantID].limit(s.code) }

func (m *model) current(s streamName, p Period) money.Quantity {
	var value money.Quantity
	var last time.Time
	for _, e := range m.events[s] {
		if !p.Contains(e.RecordedAt) {
			continue
		}
		switch m.meters[s.code].Aggregation {
		case Sum:
			value += e.Quantity
		case Count:
			value += money.One
		case Max:
			value = max(value, e.Quantity)
		case LastValue:
			if !e.RecordedAt.Before(last) {
				value, last = e.Quantity, e.RecordedAt
			}
		}
	}
	return value
}

// record does what recording has to do, and returns its refusal.
func (m *model) record(now time.Time, r *request) error {
	s := streamName{r.tenantID, r.MeterCode}
	meter := m.meters[s.code]
	if !meter.Active {
		return ErrUnknownMeter
	}
	if r.IdempotencyKey != nil && m.keys[fmt.Sprint(s, *r.IdempotencyKey)] {
		return ErrDuplicate
	}
	p := m.period(s, r.at)
	if limit := m.limit(s); limit != nil && meter.Enforcement == Hard {
		level := m.current(s, p)
		switch meter.Aggregation {
		case Sum:
			level += r.Quantity
		case Count:
			level += money.One
		case Max:
			level = max(level, r.Quantity)
		case LastValue:
			level = r.Quantity
		}
		if level > money.Quantity(*limit)*money.One {
			return ErrQuotaExceeded
		}
	}
	if r.IdempotencyKey != nil {
		m.keys[fmt.Sprint(s, *r.IdempotencyKey)] = true
	}
	m.events[s] = append(m.events[s], Event{MeterCode: s.code, Quantity: r.Quantity, RecordedAt: r.at})
	if p.Contains(now) && meter.Enforcement == Soft {
		m.alert(s, p)
	}
	return nil
}

func (m *model) alert(s streamName, p Period) {
	value := m.current(s, p)
	threshold := 0
	switch m.status(s, value) {
	case Warning:
		threshold = 80
	case Exceeded:
		threshold = 100
	case OK:
		return
	}
	for _, a := range m.alerts[s.tenantID] {
		if a.code == s.code && a.period.equal(p) && a.threshold >= threshold {
			return
		}
	}
	m.alerts[s.tenantID] = append(m.alerts[s.tenantID], modelAlert{s.code, p, threshold, value})
}

// share is usage in percent of the limit, exactly; nil when unlimited.
func (m *model) share(s streamName, value money.Quantity) *big.Rat {
	limit := m.limit(s)
	switch {
	case limit == nil:
		return nil
	case *limit > 0:
		return big.NewRat(100*int64(value), *limit*int64(money.One))
	case value > 0:
		return big.NewRat(100, 1)
	default:
		return new(big.Rat)
	}
}

func (m *model) status(s streamName, value money.Quantity) Status {
	share := m.share(s, value)
	switch {
	case share == nil || share.Cmp(big.NewRat(80, 1)) < 0:
		return OK
	case share.Cmp(big.NewRat(100, 1)) < 0:
		return Warning
	default:
		return Exceeded
	}
}

// compare tells how what the service shows of a tenant differs from the model, ""
// when it does not.
func (m *model) compare(t *rapid.T, w *world, now time.Time, tenantID uuid.UUID) string {
	summary, err := w.Summary(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]Reading{}
	for _, r := range summary.Readings {
		shown[r.Meter.Code] = r
	}
	for code, meter := range m.meters {
		s := streamName{tenantID, code}
		r, inSummary := shown[code]
		d, err := w.Detail(t.Context(), tenantID, code)
		if err != nil {
			t.Fatal(err)
		}
		p := m.period(s, now)
		value := m.current(s, p)
		if inSummary != meter.Active {
			return fmt.Sprintf("%s is in the summary: %v", code, inSummary)
		}
		for _, r := range []Reading{r, d.Reading} {
			if !inSummary && r.Meter.Code == "" {
				continue
			}
			if r.Current != value || !r.Period.equal(p) || r.Status() != m.status(s, value) || !samePercent(r.Percent(), m.share(s, value)) {
				return fmt.Sprintf("%s shows %s (%v, %s) in %v, want %s (%v, %s) in %v",
					code, r.Current, r.Percent(), r.Status(), r.Period, value, m.share(s, value), m.status(s, value), p)
			}
		}
		if diff := m.compareEvents(s, d); diff != "" {
			return diff
		}
		if diff := m.compareCounters(t, w, s, d.Meter.ID); diff != "" {
			return diff
		}
	}
	want := []string{}
	for _, a := range m.alerts[tenantID] {
		want = append(want, fmt.Sprint(a.code, " ", a.threshold, " ", a.value))
	}
	// Streams of one transaction are in no order among each other.
	byMeter := func(a, b string) int { return strings.Compare(a[:1], b[:1]) }
	got := w.raised(t, tenantID)
	slices.SortStableFunc(got, byMeter)
	slices.SortStableFunc(want, byMeter)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("raised %v, want %v", got, want)
	}
	return ""
}

// samePercent compares with half up to two decimals.
func samePercent(got *float64, share *big.Rat) bool {
	if got == nil || share == nil {
		return got == nil && share == nil
	}
	hundredths := new(big.Rat).Add(new(big.Rat).Mul(share, big.NewRat(100, 1)), big.NewRat(1, 2))
	floor := new(big.Int).Div(hundredths.Num(), hundredths.Denom())
	want, _ := new(big.Rat).SetFrac(floor, big.NewInt(100)).Float64()
	return *got == want
}

func (m *model) compareEvents(s streamName, d Detail) string {
	recent := slices.DeleteFunc(slices.Clone(m.events[s]), func(e Event) bool { return !d.Period.Contains(e.RecordedAt) })
	slices.Reverse(recent)
	slices.SortStableFunc(recent, func(a, b Event) int { return b.RecordedAt.Compare(a.RecordedAt) })
	recent = recent[:min(len(recent), recentEvents)]
	same := slices.EqualFunc(recent, d.Events, func(a, b Event) bool {
		return a.Quantity == b.Quantity && a.RecordedAt.Equal(b.RecordedAt)
	})
	if !same {
		return fmt.Sprintf("%s lists %v, want %v", s.code, d.Events, recent)
	}
	return ""
}

// compareCounters looks at every counter of a stream, shown or not.
func (m *model) compareCounters(t *rapid.T, w *world, s streamName, meterID uuid.UUID) string {
	key := streamKey{s.tenantID, meterID}
	counters, err := w.store.counters(t.Context(), []streamKey{key}, time.Time{}, allTime().End)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counters[key] {
		if want := m.current(s, c.period); c.value != want {
			return fmt.Sprintf("the counter of %s in %v is %s, want %s", s.code, c.period, c.value, want)
		}
	}
	return ""
}

func sameRefusal(got, want error) bool {
	return got == want || want != nil && errors.Is(got, want) //nolint:errorlint // nil is no error
}
