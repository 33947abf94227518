package usage_test

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// model is the domain without a database. It keeps every event and computes all results from them.
type model struct {
	meters     map[string]usage.Meter // by code
	allowances map[uuid.UUID]usage.Allowance
	events     map[streamName][]modelEvent
	sums       map[streamName]map[[2]int64]*modelSum // by period; computed when first needed
	pools      map[streamName]*modelPool
	keys       map[string]*modelKey
	pruned     map[streamName]time.Time // events recorded before this time may be deleted
	alerts     map[uuid.UUID][]modelAlert
	// comparesSince excludes counters whose periods ended before this time from the comparison; nil
	// compares all counters.
	comparesSince *time.Time
	raised        map[string]int // the highest threshold by stream, period and limit
}

type streamName struct {
	tenantID uuid.UUID
	code     string
}

// modelSum aggregates the events of a period.
type modelSum struct {
	period                             usage.Period
	sum, count, highest, last, granted money.Quantity
	lastAt                             time.Time
}

func (a *modelSum) add(e modelEvent) {
	a.sum += e.Quantity
	a.count += money.One
	a.highest = max(a.highest, e.Quantity)
	if !e.RecordedAt.Before(a.lastAt) {
		a.last, a.lastAt = e.Quantity, e.RecordedAt
	}
	a.granted += e.granted
}

// modelEvent counts permanently, and is listed until it is deleted.
type modelEvent struct {
	usage.Event
	granted money.Quantity // the part that was drawn from grants
	deleted bool
	key     *modelKey // nil without a key
}

// modelKey is an idempotency key that was used.
type modelKey struct {
	stored  time.Time
	expires time.Time // zero until its event is deleted
}

type modelAlert struct {
	code      string
	period    usage.Period
	threshold int
	limit     int64
	value     money.Quantity
}

const (
	day = 24 * time.Hour
	// keepKeys is how long an idempotency key outlives its event.
	keepKeys = 35 * day
)

func newModel() *model {
	return &model{
		meters: map[string]usage.Meter{}, allowances: map[uuid.UUID]usage.Allowance{},
		events: map[streamName][]modelEvent{}, sums: map[streamName]map[[2]int64]*modelSum{}, pools: map[streamName]*modelPool{}, keys: map[string]*modelKey{}, pruned: map[streamName]time.Time{}, alerts: map[uuid.UUID][]modelAlert{}, raised: map[string]int{},
	}
}

// period returns the period of a stream's meter that contains a time.
func (m *model) period(s streamName, at time.Time) usage.Period {
	return usage.PeriodOf(m.meters[s.code].Reset, m.allowances[s.tenantID].Billing, at)
}

func (m *model) limit(s streamName) *int64 {
	if limit, ok := m.allowances[s.tenantID].Limits[s.code]; ok {
		return &limit
	}
	return nil
}

// sum returns the aggregates of a period.
func (m *model) sum(s streamName, p usage.Period) *modelSum {
	key := [2]int64{p.Start.UnixMicro(), p.End.UnixMicro()}
	if m.sums[s] == nil {
		m.sums[s] = map[[2]int64]*modelSum{}
	}
	if m.sums[s][key] == nil {
		all := &modelSum{period: p}
		for _, e := range m.events[s] {
			if p.Contains(e.RecordedAt) {
				all.add(e)
			}
		}
		m.sums[s][key] = all
	}
	return m.sums[s][key]
}

func (m *model) current(s streamName, p usage.Period) money.Quantity {
	all := m.sum(s, p)
	return map[usage.Aggregation]money.Quantity{
		usage.Sum: all.sum, usage.Count: all.count, usage.Max: all.highest, usage.LastValue: all.last,
	}[m.meters[s.code].Aggregation]
}

// record performs a recording and returns the expected error.
func (m *model) record(now time.Time, r *usage.Submission) *modelRefusal {
	s := streamName{r.TenantID, r.MeterCode}
	pool := m.pool(s)
	if r.At.After(now.Add(usage.MaxAhead)) {
		return &modelRefusal{err: usage.ErrInFuture}
	}
	if r.Settles != nil {
		if refused := pool.settlement(now, r); refused != nil {
			return refused
		}
	} else if refused := m.refuseKey(s, r); refused != nil {
		return refused
	}
	p := m.period(s, r.At)
	granted, refused := m.judge(now, s, p, r)
	if refused != nil {
		return refused
	}
	pool.draw(now, granted)
	e := modelEvent{Event: usage.Event{MeterCode: s.code, Quantity: r.Quantity, RecordedAt: r.At}, granted: granted}
	if r.IdempotencyKey != nil {
		e.key = &modelKey{stored: now}
		m.keys[fmt.Sprint(s, *r.IdempotencyKey)] = e.key
	}
	m.events[s] = append(m.events[s], e)
	for _, all := range m.sums[s] {
		if all.period.Contains(r.At) {
			all.add(e)
		}
	}
	if p.Contains(now) && m.meters[s.code].Enforcement != usage.EnforcementUnenforced && m.limit(s) != nil {
		m.alert(s, p)
	}
	return nil
}

// refuseKey checks the meter and the key of an event that does not settle a reservation. It returns
// the expected refusal, or nil.
func (m *model) refuseKey(s streamName, r *usage.Submission) *modelRefusal {
	switch {
	case !m.meters[s.code].Active:
		return &modelRefusal{err: usage.ErrUnknownMeter}
	case r.IdempotencyKey != nil && (m.keys[fmt.Sprint(s, *r.IdempotencyKey)] != nil || m.pool(s).reservations[*r.IdempotencyKey] != nil):
		return &modelRefusal{err: usage.ErrDuplicate}
	}
	return nil
}

// prune deletes old events and reports whether there were any.
func (m *model) prune(now time.Time) (some bool) {
	cutoff := now.Add(-retention.MinRetention).Truncate(day)
	for s, events := range m.events {
		for i, e := range events {
			if e.deleted || !e.RecordedAt.Before(cutoff) {
				continue
			}
			events[i].deleted, m.pruned[s], some = true, cutoff, true
			if e.key == nil {
				continue
			}
			e.key.expires = e.key.stored.Add(retention.MinRetention)
			if e.key.expires.Before(now) {
				e.key.expires = now
			}
			e.key.expires = e.key.expires.Add(keepKeys)
		}
	}
	maps.DeleteFunc(m.keys, func(_ string, k *modelKey) bool { return !k.expires.IsZero() && !k.expires.After(now) })
	return some
}

// forget drops the sums of periods that ended before a time. They are computed again when needed.
func (m *model) forget(before time.Time) {
	for _, of := range m.sums {
		maps.DeleteFunc(of, func(_ [2]int64, a *modelSum) bool { return a.period.End.Before(before) })
	}
}

// whole reports whether all events of a period are still stored. It also returns true for the
// unbounded period, which does not need them.
func (m *model) whole(s streamName, p usage.Period) bool {
	return p.Unbounded() || !p.Start.Before(m.pruned[s])
}

func (m *model) alert(s streamName, p usage.Period) {
	value := m.current(s, p)
	threshold := 0
	switch m.status(s, value) {
	case usage.QuotaWarning:
		threshold = 80
	case usage.QuotaExceeded:
		threshold = 100
	case usage.QuotaOK:
		return
	}
	limit := *m.limit(s) // each limit has its own alerts
	key := fmt.Sprint(s, p.Start.UnixMicro(), p.End.UnixMicro(), limit)
	if m.raised[key] >= threshold {
		return
	}
	m.raised[key] = threshold
	m.alerts[s.tenantID] = append(m.alerts[s.tenantID], modelAlert{s.code, p, threshold, limit, value})
}

// share returns usage in percent of the limit, exactly, or nil if unlimited.
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

func (m *model) status(s streamName, value money.Quantity) usage.Status {
	share := m.share(s, value)
	switch {
	case share == nil || share.Cmp(big.NewRat(80, 1)) < 0:
		return usage.QuotaOK
	case share.Cmp(big.NewRat(100, 1)) < 0:
		return usage.QuotaWarning
	default:
		return usage.QuotaExceeded
	}
}

// compare returns the difference between the service and the model for a tenant, or "".
func (m *model) compare(t modelTest, w *usagetest.World, now time.Time, tenantID uuid.UUID) string {
	summary, err := w.Summary(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]usage.Reading{}
	for _, r := range summary.Readings {
		shown[r.Meter.Code] = r
	}
	for code, meter := range m.meters {
		s := streamName{tenantID, code}
		r, inSummary := shown[code]
		d, err := w.Service.Detail(t.Context(), tenantID, code)
		if err != nil {
			t.Fatal(err)
		}
		p := m.period(s, now)
		value := m.current(s, p)
		if inSummary != meter.Active {
			return fmt.Sprintf("%s is in the summary: %v", code, inSummary)
		}
		for _, r := range []usage.Reading{r, d.Reading} {
			if !inSummary && r.Meter.Code == "" {
				continue
			}
			if r.Current != money.TotalOf(value) || !r.Period.Equal(p) || r.Status() != m.status(s, value) || !samePercent(r.Percent(), m.share(s, value)) {
				return fmt.Sprintf("%s shows %s (%v, %s) in %v, want %s (%v, %s) in %v",
					code, r.Current, r.Percent(), r.Status(), r.Period, value, m.share(s, value), m.status(s, value), p)
			}
		}
		if diff := m.comparePool(s, now, p, d.Reading); diff != "" {
			return diff
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
	// Alerts of different streams in one transaction have no defined order.
	byMeter := func(a, b string) int { return strings.Compare(a[:1], b[:1]) }
	got := raised(t, w, tenantID)
	slices.SortStableFunc(got, byMeter)
	slices.SortStableFunc(want, byMeter)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("raised %v, want %v", got, want)
	}
	return ""
}

// samePercent compares a percentage rounded half up to two decimals with the exact one.
func samePercent(got *float64, share *big.Rat) bool {
	if got == nil || share == nil {
		return got == nil && share == nil
	}
	hundredths := new(big.Rat).Add(new(big.Rat).Mul(share, big.NewRat(100, 1)), big.NewRat(1, 2))
	floor := new(big.Int).Div(hundredths.Num(), hundredths.Denom())
	want, _ := new(big.Rat).SetFrac(floor, big.NewInt(100)).Float64()
	return *got == want
}

func (m *model) compareEvents(s streamName, d usage.Detail) string {
	recent := slices.DeleteFunc(slices.Clone(m.events[s]), func(e modelEvent) bool { return e.deleted || !d.Period.Contains(e.RecordedAt) })
	slices.Reverse(recent)
	slices.SortStableFunc(recent, func(a, b modelEvent) int { return b.RecordedAt.Compare(a.RecordedAt) })
	recent = recent[:min(len(recent), usage.RecentEvents)]
	same := slices.EqualFunc(recent, d.Events, func(a modelEvent, b usage.Event) bool {
		return a.Quantity == b.Quantity && a.RecordedAt.Equal(b.RecordedAt)
	})
	if !same {
		return fmt.Sprintf("%s lists %v, want %v", s.code, d.Events, recent)
	}
	return ""
}

// compareCounters checks every counter of a stream, shown or not.
func (m *model) compareCounters(t modelTest, w *usagetest.World, s streamName, meterID uuid.UUID) string {
	among := usage.AllTime()
	if m.comparesSince != nil {
		among.Start = *m.comparesSince
	}
	counters, err := w.Counters(t.Context(), usage.StreamKey{TenantID: s.tenantID, MeterID: meterID}, among)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counters {
		adds := m.meters[s.code].Aggregation == usage.Sum || m.meters[s.code].Aggregation == usage.Count
		if want := m.sum(s, c.Period).granted; adds && c.Granted != money.TotalOf(want) && m.whole(s, c.Period) {
			return fmt.Sprintf("the counter of %s in %v has %s granted, want %s", s.code, c.Period, c.Granted, want)
		}
		if want := m.current(s, c.Period); c.Value != money.TotalOf(want) && m.whole(s, c.Period) {
			return fmt.Sprintf("the counter of %s in %v is %s, want %s", s.code, c.Period, c.Value, want)
		}
	}
	return ""
}

// modelRefusal is an expected error.
type modelRefusal struct {
	err error
	// by, limit, used and left are set if a limit rejects the submission.
	by         string
	limit      int64
	used, left money.Quantity
}

// matches reports whether a submission was refused as expected; r is nil if it must be stored.
func (r *modelRefusal) matches(got error) bool {
	if r == nil {
		return got == nil
	}
	if got != r.err && !errors.Is(got, r.err) { //nolint:errorlint // errors on fields only equal themselves
		return false
	}
	extra := usage.ExtraOf(got)
	return r.by == "" || extra["limited_by"] == r.by && extra["limit"] == r.limit &&
		fmt.Sprint(extra["current_usage"]) == r.used.String() && fmt.Sprint(extra["grants_remaining"]) == r.left.String()
}
