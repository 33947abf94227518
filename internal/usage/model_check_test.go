package usage

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Whatever is recorded, by whom, for when, alone or in batches, under whatever
// changing subscriptions and meters, while time goes by: every verdict, every
// figure and every alert is that of the model, and every counter is what the
// events of its period come to, shown or not.
func TestUsageIsThatOfTheModel(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		dialect sqldb.Dialect
		steps   int
	}{{sqldb.SQLite, dbtest.Rounds(12, 60)}, {sqldb.Postgres, dbtest.Rounds(4, 20)}} {
		t.Run(string(size.dialect), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, dbtest.New(t, size.dialect), "2026-11-21 12:00")
			rapid.Check(t, func(t *rapid.T) { checkModel(t, w, size.steps) })
		})
	}
}

func checkModel(t *rapid.T, w *world, maxSteps int) {
	w.clock.Set(at("2026-11-21 12:00"))
	c := &modelCheck{T: t, world: w, model: newModel(), tenants: []uuid.UUID{w.newTenant(t), w.newTenant(t)}}
	for _, code := range codes() {
		c.changeMeter(code)
	}
	for range rapid.IntRange(1, maxSteps).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1:
			tenantID := rapid.SampledFrom(c.tenants).Draw(t, "tenant")
			c.allowances[tenantID] = c.drawAllowance()
			w.plans.grant(tenantID, c.allowances[tenantID])
		case 2:
			c.changeMeter(rapid.SampledFrom(codes()).Draw(t, "meter"))
		case 3:
			w.clock.Set(w.clock.Now().Add(time.Duration(rapid.IntRange(1, 30*24).Draw(t, "hours")) * time.Hour))
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
		requests[i] = c.drawRequest(tenantID)
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
		if !sameRefusal(verdicts[i].err, want) {
			c.Fatalf("recording %+v: got %v, want %v", requests[i], verdicts[i].err, want)
		}
	}
}

func (c *modelCheck) drawRequest(tenantID uuid.UUID) *request {
	code := rapid.SampledFrom(codes()).Draw(c.T, "meter")
	r := &request{
		Recording: Recording{MeterCode: code, Quantity: money.Quantity(rapid.Int64Range(0, 4_000_000).Draw(c.T, "quantity"))},
		tenantID:  tenantID,
		at:        c.clock.Now(),
	}
	if age := rapid.Int64Range(-1, 72).Draw(c.T, "age"); age != 0 {
		r.at = r.at.Add(-time.Duration(age) * 12 * time.Hour)
		if age < 0 {
			r.at = c.clock.Now().Add(maxAhead)
		}
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
		rapid.SampledFrom([]Enforcement{Unenforced, Soft, Hard, Soft, Hard}).Draw(c.T, "enforcement"))
	m.Active = rapid.IntRange(0, 9).Draw(c.T, "inactive") != 0
	applyMeters(c, c.Service, m)
	c.meters[code] = m
}

func (c *modelCheck) drawAllowance() Allowance {
	a := Allowance{Limits: map[string]int64{}}
	for _, code := range codes() {
		if rapid.Bool().Draw(c.T, "limited") {
			a.Limits[code] = rapid.Int64Range(0, 12).Draw(c.T, "limit")
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
