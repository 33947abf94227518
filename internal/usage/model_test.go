package usage

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// model is the domain without a database: it keeps every event and computes
// what a meter shows from all of them, each time anew.
type model struct {
	events map[streamName][]Event
	keys   map[string]bool
}

type streamName struct {
	tenantID uuid.UUID
	code     string
}

func (m *model) current(s streamName, meter Meter, p Period) money.Quantity {
	var value money.Quantity
	var last time.Time
	for _, e := range m.events[s] {
		if !p.Contains(e.RecordedAt) {
			continue
		}
		switch meter.Aggregation {
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

func (m *model) record(s streamName, meter Meter, a Allowance, r *request) error {
	if r.IdempotencyKey != nil && m.keys[fmt.Sprint(s, *r.IdempotencyKey)] {
		return ErrDuplicate
	}
	if limit := a.limit(s.code); limit != nil && meter.Enforcement == Hard {
		level := m.current(s, meter, PeriodOf(meter.Reset, a.Billing, r.at))
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
	return nil
}

// Whatever is recorded, by whom, for when, under whatever changing subscription:
// every verdict and every figure is that of the model, and every counter
// is what the events of its period come to, shown or not.
func TestUsageIsThatOfTheModel(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		dialect sqldb.Dialect
		steps   int
	}{{sqldb.SQLite, 16}, {sqldb.Postgres, 4}} {
		t.Run(string(size.dialect), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, dbtest.New(t, size.dialect), "2026-11-21 12:00")
			var meters []Meter
			for _, aggregation := range []Aggregation{Sum, Count, Max, LastValue} {
				for _, reset := range []ResetInterval{Monthly, Weekly, Daily, Never} {
					m := meter(fmt.Sprint(aggregation, "-", reset), aggregation, reset, Hard)
					meters = append(meters, m)
					w.apply(t, m)
				}
			}
			rapid.Check(t, func(t *rapid.T) { checkModel(t, w, meters, size.steps) })
		})
	}
}

func checkModel(t *rapid.T, w *world, meters []Meter, maxSteps int) {
	m := &model{events: map[streamName][]Event{}, keys: map[string]bool{}}
	tenants := []uuid.UUID{w.newTenant(t), w.newTenant(t)}
	// Every fourth meter is monthly, the reset that depends on the subscription.
	first := 4 * rapid.IntRange(0, 3).Draw(t, "monthly meter")
	used := []Meter{meters[first], meters[first+rapid.IntRange(1, 3).Draw(t, "other meter")]}
	for range rapid.IntRange(1, maxSteps).Draw(t, "steps") {
		if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
			w.plans.grant(rapid.SampledFrom(tenants).Draw(t, "tenant"), drawAllowance(t, used))
		}
		var batch []*request
		var wants []error
		for range rapid.IntRange(1, 5).Draw(t, "batch") {
			meter := rapid.SampledFrom(used).Draw(t, "meter")
			r := drawRequest(t, w, rapid.SampledFrom(tenants).Draw(t, "tenant"), meter)
			allowance, _ := w.plans.Allowance(t.Context(), r.tenantID)
			batch = append(batch, r)
			wants = append(wants, m.record(streamName{r.tenantID, meter.Code}, meter, allowance, r))
		}
		verdicts, err := w.writer.decide(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range wants {
			if !errors.Is(verdicts[i].err, want) {
				t.Fatalf("recording %+v: got %v, want %v", batch[i], verdicts[i].err, want)
			}
		}
		for _, tenantID := range tenants {
			for _, meter := range used {
				compareModel(t, w, m, streamName{tenantID, meter.Code}, meter)
			}
		}
	}
}

func drawRequest(t *rapid.T, w *world, tenantID uuid.UUID, m Meter) *request {
	r := &request{
		Recording: Recording{MeterCode: m.Code, Quantity: money.Quantity(rapid.Int64Range(0, 4_000_000).Draw(t, "quantity"))},
		tenantID:  tenantID,
		at:        w.clock.Now().Add(-time.Duration(rapid.Int64Range(0, 72).Draw(t, "age")) * 12 * time.Hour),
	}
	if rapid.Bool().Draw(t, "with key") {
		r.Recording = r.keyed(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "key"))
	}
	return r
}

func compareModel(t *rapid.T, w *world, m *model, s streamName, meter Meter) {
	a, _ := w.plans.Allowance(t.Context(), s.tenantID)
	d, err := w.Detail(t.Context(), s.tenantID, s.code)
	if err != nil {
		t.Fatal(err)
	}
	if want := m.current(s, meter, PeriodOf(meter.Reset, a.Billing, w.clock.Now())); d.Current != want {
		t.Fatalf("%s shows %s, want %s", s.code, d.Current, want)
	}
	key := streamKey{s.tenantID, d.Meter.ID}
	counters, err := w.store.counters(t.Context(), []streamKey{key}, time.Time{}, w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counters[key] {
		if want := m.current(s, meter, c.period); c.value != want {
			t.Fatalf("the counter of %s in %v is %s, want %s", s.code, c.period, c.value, want)
		}
	}
	recent := slices.DeleteFunc(slices.Clone(m.events[s]), func(e Event) bool { return !d.Period.Contains(e.RecordedAt) })
	slices.Reverse(recent)
	slices.SortStableFunc(recent, func(a, b Event) int { return b.RecordedAt.Compare(a.RecordedAt) })
	recent = recent[:min(len(recent), recentEvents)]
	same := slices.EqualFunc(recent, d.Events, func(a, b Event) bool {
		return a.Quantity == b.Quantity && a.RecordedAt.Equal(b.RecordedAt)
	})
	if !same {
		t.Fatalf("%s lists %v, want %v", s.code, d.Events, recent)
	}
}

func drawAllowance(t *rapid.T, meters []Meter) Allowance {
	a := Allowance{Limits: map[string]int64{}}
	for _, m := range meters {
		if rapid.Bool().Draw(t, "limited") {
			a.Limits[m.Code] = rapid.Int64Range(0, 12).Draw(t, "limit")
		}
	}
	// Few, so that a tenant often returns to periods that it had before.
	a.Billing = rapid.SampledFrom([]*Billing{
		nil,
		billing("2026-11-10", Month, 1, "2026-11-10", "2026-12-10"),
		billing("2026-11-18 07:00", Week, 1),
		billing("2026-12-01", Year, 1, "2026-11-12", "2026-12-01"),
	}).Draw(t, "billing")
	return a
}
