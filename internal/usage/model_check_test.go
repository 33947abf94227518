package usage

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Whatever is recorded, by whom, for when, alone or in batches, under whatever
// changing subscriptions and meters, while time goes by and old events are deleted:
// every verdict, every figure and every alert is that of the model, and every counter
// is what the events of its period come to, shown or not, the deleted ones too.
func TestUsageIsThatOfTheModel(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		dialect sqldb.Dialect
		steps   int
	}{{sqldb.SQLite, dbtest.Rounds(12, 160)}, {sqldb.Postgres, dbtest.Rounds(5, 90)}} {
		t.Run(string(size.dialect), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, dbtest.New(t, size.dialect), "2026-11-21 12:00")
			seen := coverage{}
			rapid.Check(t, func(t *rapid.T) { checkModel(t, w, size.steps, seen) })
			seen.judge(t)
		})
	}
}

func checkModel(t *rapid.T, w *world, maxSteps int, seen coverage) {
	w.clock.Set(at("2026-11-21 12:00"))
	c := &modelCheck{T: t, world: w, model: newModel(), tenants: []uuid.UUID{w.newTenant(t), w.newTenant(t)}, seen: seen}
	for _, code := range codes() {
		c.changeMeter(code)
	}
	for _, tenantID := range c.tenants {
		c.grant(tenantID)
	}
	for range rapid.IntRange(maxSteps/2, maxSteps).Draw(t, "steps") {
		switch rapid.SampledFrom([]int{9, 0, 9, 2, 9, 3, 9, 4}).Draw(t, "step") {
		case 0:
			c.grant(rapid.SampledFrom(c.tenants).Draw(t, "tenant"))
		case 2:
			c.changeMeter(rapid.SampledFrom(codes()).Draw(t, "meter"))
			c.seen["a meter was changed"]++
		case 3:
			hours := rapid.SampledFrom([]int{1, 24, 5 * 24, 20 * 24, 30 * 24}).Draw(t, "hours")
			w.clock.Set(w.clock.Now().Add(time.Duration(hours) * time.Hour))
		case 4:
			if err := w.retention("").Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.model.prune(w.clock.Now()) {
				c.seen["events were deleted"]++
			}
		default:
			c.record()
		}
		for _, tenantID := range c.tenants {
			if diff := c.compare(t, w, w.clock.Now(), tenantID); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// codes are those of the meters, in a fixed order.
func codes() []string { return []string{"calls", "disk"} }

// modelCheck runs one series of steps on both sides.
type modelCheck struct {
	*rapid.T
	*world
	*model
	tenants []uuid.UUID
	seen    coverage
}

// coverage counts what has come up in all series of steps.
type coverage map[string]int

func (c coverage) note(m Meter, refused error) {
	outcome := "stored"
	if refused != nil {
		outcome = refused.Error()
	}
	c[fmt.Sprint(m.Aggregation, " ", m.Reset, " ", m.Enforcement, " ", outcome)]++
	c[outcome]++
}

// judge holds in the long form that every kind of meter has stored events, and
// refused some for its quota where it does that.
func (c coverage) judge(t *testing.T) {
	t.Helper()
	missing, rarest := []string{}, math.MaxInt
	for _, a := range []Aggregation{Sum, Count, Max, LastValue} {
		for _, r := range []ResetInterval{Monthly, Weekly, Daily, Never} {
			for _, e := range []Enforcement{Unenforced, Soft, Hard} {
				kind := fmt.Sprint(a, " ", r, " ", e, " ")
				rarest = min(rarest, c[kind+"stored"])
				if c[kind+"stored"] == 0 {
					missing = append(missing, kind+"stored")
				}
				if e == Hard && c[kind+ErrQuotaExceeded.Error()] == 0 {
					missing = append(missing, kind+"refused")
				}
			}
		}
	}
	t.Logf("%d stored, %d duplicates, %d beyond a quota, %d in the future, %d on inactive meters; events deleted %d times, %d rules changed; %d of the rarest kind; missing: %v",
		c["stored"], c[ErrDuplicate.Error()], c[ErrQuotaExceeded.Error()], c[errInFuture.Error()], c[ErrUnknownMeter.Error()],
		c["events were deleted"], c["a meter was changed"], rarest, missing)
	if dbtest.Rounds(0, 1) > 0 && (len(missing) > 0 || c["events were deleted"] == 0) {
		t.Error("the random steps left something out")
	}
}

// record stores a few events: of several tenants in one transaction, or of one in
// a batch.
func (c *modelCheck) record() {
	n := rapid.IntRange(1, 6).Draw(c.T, "events")
	tenantID := rapid.SampledFrom(c.tenants).Draw(c.T, "tenant")
	inBatch := rapid.Bool().Draw(c.T, "in a batch")
	requests := make([]*request, n)
	recordings := make([]Recording, n)
	wants := make([]error, n)
	for i := range n {
		if !inBatch {
			tenantID = rapid.SampledFrom(c.tenants).Draw(c.T, "tenant")
		}
		requests[i] = c.drawRequest(tenantID, inBatch)
		recordings[i] = requests[i].Recording
		wants[i] = c.model.record(c.clock.Now(), requests[i])
	}
	var verdicts []verdict
	var err error
	if inBatch {
		var outcomes []Outcome
		outcomes, err = c.RecordBatch(c.Context(), tenantID, recordings)
		for _, o := range outcomes {
			verdicts = append(verdicts, verdict{o.Event, o.Err})
		}
	} else {
		verdicts, err = c.writer.decide(c.Context(), requests)
	}
	if err != nil {
		c.Fatal(err)
	}
	for i, want := range wants {
		c.seen.note(c.meters[requests[i].MeterCode], want)
		if !sameRefusal(verdicts[i].err, want) {
			c.Fatalf("recording %+v: got %v, want %v", requests[i], verdicts[i].err, want)
		}
	}
}

// amounts are few, so that series end exactly at limits, and beside them.
var amounts = []string{"1", "2.5", "0.000001", "0", "4", "7", "0.999999", "12"}

func (c *modelCheck) drawRequest(tenantID uuid.UUID, inBatch bool) *request {
	code := rapid.SampledFrom(codes()).Draw(c.T, "meter")
	r := &request{
		Recording: Recording{MeterCode: code, Quantity: quantity(rapid.SampledFrom(amounts).Draw(c.T, "quantity"))},
		tenantID:  tenantID,
	}
	now := c.clock.Now()
	age := rapid.SampledFrom([]time.Duration{0, 0, -maxAhead, -maxAhead - time.Microsecond, 12 * time.Hour, 3 * day, 20 * day, 34 * day, 45 * day}).Draw(c.T, "age")
	if age += time.Duration(rapid.IntRange(0, 2).Draw(c.T, "hours")) * 12 * time.Hour; age < -maxAhead && !inBatch {
		age = -maxAhead // else it would not have come this far
	}
	r.at = now.Add(-age)
	// A late event of a period that is made anew, some of whose events are deleted, is
	// judged by those that are left.
	if s := (streamName{tenantID, code}); !c.whole(s, c.period(s, r.at)) {
		r.at = now
	}
	r.RecordedAt = &r.at
	if rapid.Bool().Draw(c.T, "with key") {
		r.Recording = r.keyed(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(c.T, "key"))
	}
	return r
}

func (c *modelCheck) changeMeter(code string) {
	m := meter(code,
		rapid.SampledFrom([]Aggregation{Sum, Count, Max, LastValue}).Draw(c.T, "aggregation"),
		// Monthly is the reset that depends on the subscription.
		rapid.SampledFrom([]ResetInterval{Monthly, Weekly, Daily, Never, Monthly}).Draw(c.T, "reset"),
		rapid.SampledFrom([]Enforcement{Hard, Soft, Hard, Unenforced, Hard}).Draw(c.T, "enforcement"))
	m.Active = rapid.IntRange(0, 9).Draw(c.T, "inactive") != 9
	applyMeters(c, c.Service, m)
	c.meters[code] = m
}

// grant changes what a tenant's subscription grants.
func (c *modelCheck) grant(tenantID uuid.UUID) {
	c.allowances[tenantID] = c.drawAllowance()
	c.plans.grant(tenantID, c.allowances[tenantID])
}

func (c *modelCheck) drawAllowance() Allowance {
	a := Allowance{Limits: map[string]int64{}}
	for _, code := range codes() {
		if limit := rapid.SampledFrom([]int64{3, 12, 5, -1, 1, 0}).Draw(c.T, "limit"); limit >= 0 {
			a.Limits[code] = limit
		}
	}
	// Few, so that a tenant often returns to periods that it had before.
	a.Billing = rapid.SampledFrom([]*Billing{
		nil,
		billing("2026-11-10", Month, 1, "2026-11-10", "2026-12-10"),
		billing("2026-10-31", Month, 1, "2026-10-31", "2026-11-30"),
		billing("2026-11-18 07:00", Week, 1),
		billing("2026-12-01", Year, 1, "2026-11-12", "2026-12-01"),
	}).Draw(c.T, "billing")
	return a
}
