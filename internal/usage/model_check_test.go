package usage_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// The test records and reserves at random: in single calls and in batches, at various times.
// Meanwhile, grants, caps, subscriptions, limits and meters change, time passes, and old events are
// deleted. Every verdict, value and alert matches the model, and every counter equals the aggregate
// of its period's events, including deleted ones.
func TestUsageMatchesTheModel(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		dialect sqldb.Dialect
		steps   int
	}{{sqldb.SQLite, dbtest.Rounds(12, 160)}, {sqldb.Postgres, dbtest.Rounds(5, 90)}} {
		t.Run(string(size.dialect), func(t *testing.T) {
			t.Parallel()
			w := usagetest.New(t, dbtest.New(t, size.dialect), "2026-11-21 12:00")
			seen := coverage{}
			rapid.Check(t, func(t *rapid.T) {
				draw := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) }
				c := newModelCheck(t, w, draw, seen)
				for range draw(size.steps/2, "steps") + size.steps/2 {
					c.step(6)
					c.compareAll()
				}
			})
			seen.judge(t)
		})
	}
}

// The test is like TestUsageMatchesTheModel, but with large batches and without shrinking. In the
// long test mode it records a million events on each database.
func TestManyEventsMatchTheModel(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := usagetest.New(t, dbtest.New(t, dialect), "2026-11-21 12:00")
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			seen := coverage{}
			c := newModelCheck(t, w, func(n int, _ string) int { return random.IntN(n) }, seen)
			c.isLarge = true
			for steps, events := 0, dbtest.Rounds(2_000, 1_000_000); seen["submissions"] < events; steps++ {
				c.step(dbtest.Rounds(40, 400))
				if steps%100 == 0 {
					c.compareAll()
				}
			}
			c.compareAll()
			if wrong := w.Recount(t); wrong != 0 {
				t.Errorf("%d counters are wrong", wrong)
			}
			t.Log(seen.summary())
		})
	}
}

// modelTest is a test or a property check.
type modelTest interface {
	usagetest.TB
	Fatalf(format string, args ...any)
}

// sold is the meter with a price.
const sold = "sold"

// codes returns the codes of the meters in a fixed order.
func codes() []string { return []string{"calls", "disk", sold} }

// modelCheck runs one sequence of steps on the service and the model.
type modelCheck struct {
	modelTest
	*usagetest.World
	*model
	draw    func(n int, what string) int // a number below n
	tenants []uuid.UUID
	seen    coverage
	isLarge bool // many keys, and larger limits
	grants  int
}

func newModelCheck(t modelTest, w *usagetest.World, draw func(int, string) int, seen coverage) *modelCheck {
	w.Clock.Set(usagetest.At("2026-11-21 12:00"))
	c := &modelCheck{modelTest: t, World: w, model: newModel(), draw: draw, tenants: []uuid.UUID{w.NewTenant(t), w.NewTenant(t)}, seen: seen}
	stored, err := w.Meters.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(stored) == 0 {
		w.Sell(t, usagetest.Meter(sold, usage.Sum, usage.ResetDaily, usage.EnforcementHard), "1")
	}
	for _, code := range codes() {
		c.changeMeter(code)
	}
	for _, tenantID := range c.tenants {
		c.changePlan(tenantID)
	}
	return c
}

func (c *modelCheck) Context() context.Context { return c.modelTest.Context() }

// choose returns one of the values.
func choose[T any](c *modelCheck, what string, values ...T) T {
	return values[c.draw(len(values), what)]
}

// step takes one random step. If the step submits events, it submits at most the given number.
func (c *modelCheck) step(events int) {
	switch choose(c, "step", 9, 0, 9, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6) {
	case 0:
		c.changePlan(choose(c, "tenant", c.tenants...))
	case 1:
		c.setCap()
	case 2:
		c.changeMeter(choose(c, "meter", codes()...))
		c.seen["a meter was changed"]++
	case 3:
		c.wait()
	case 4:
		if err := c.Retention("").Prune(c.Context()); err != nil {
			c.Fatal(err)
		}
		if c.prune(c.Clock.Now()) {
			c.seen["events were deleted"]++
		}
	case 5:
		c.giveUnits()
	case 6:
		c.releaseOne()
	default:
		c.submit(events)
	}
}

// wait lets time pass.
func (c *modelCheck) wait() {
	hours := choose(c, "hours", 1, 24, 5*24, 20*24, 30*24)
	if c.isLarge {
		hours /= 6
		since := c.Clock.Now().Add(-60 * day)
		c.forget(since)
		c.comparesSince = &since
	}
	c.Clock.Set(c.Clock.Now().Add(time.Duration(hours) * time.Hour))
}

func (c *modelCheck) compareAll() {
	for _, tenantID := range c.tenants {
		if diff := c.compare(c, c.World, c.Clock.Now(), tenantID); diff != "" {
			c.Fatal(diff)
		}
	}
}

// coverage counts the outcomes of all sequences.
type coverage map[string]int

func (c coverage) note(m usage.Meter, r *usage.Submission, refused *modelRefusal) {
	outcome := "stored"
	if refused != nil {
		outcome = refused.err.Error()
	}
	c["submissions"]++
	if r.Hold != nil {
		c["reserve: "+outcome]++
		return
	}
	if r.Settles != nil {
		c["settle: "+outcome]++
	}
	c[fmt.Sprint(m.Aggregation, " ", m.Reset, " ", m.Enforcement, " ", outcome)]++
	c[outcome]++
}

func (c coverage) summary() string {
	return fmt.Sprintf("%d stored (%d drew from grants), %d duplicates, %d beyond a limit, %d in the future, %d on inactive meters; %d reserved, %d settled; events deleted %d times, %d rules changed",
		c["stored"], c["drawn"], c[usage.ErrDuplicate.Error()], c[usage.ErrQuotaExceeded.Error()], c[usage.ErrInFuture.Error()], c[usage.ErrUnknownMeter.Error()],
		c["reserve: stored"], c["settle: stored"], c["events were deleted"], c["a meter was changed"])
}

// judge checks, in the long test mode, that every kind of meter has stored events, and that every
// kind that enforces quotas has rejected some.
func (c coverage) judge(t *testing.T) {
	t.Helper()
	missing, rarest := []string{}, math.MaxInt
	for _, a := range []usage.Aggregation{usage.Sum, usage.Count, usage.Max, usage.LastValue} {
		for _, r := range []usage.ResetInterval{usage.ResetMonthly, usage.ResetWeekly, usage.ResetDaily, usage.ResetNever} {
			for _, e := range []usage.Enforcement{usage.EnforcementUnenforced, usage.EnforcementSoft, usage.EnforcementHard} {
				kind := fmt.Sprint(a, " ", r, " ", e, " ")
				rarest = min(rarest, c[kind+"stored"])
				if c[kind+"stored"] == 0 {
					missing = append(missing, kind+"stored")
				}
				if e == usage.EnforcementHard && c[kind+usage.ErrQuotaExceeded.Error()] == 0 {
					missing = append(missing, kind+"refused")
				}
			}
		}
	}
	for _, outcome := range []string{"drawn", "reserve: stored", "settle: stored", "reserve: " + usage.ErrQuotaExceeded.Error(), "settle: " + usage.ErrSettled.Error()} {
		if c[outcome] == 0 {
			missing = append(missing, outcome)
		}
	}
	t.Logf("%s; %d of the rarest kind; missing: %v", c.summary(), rarest, missing)
	if dbtest.Rounds(0, 1) > 0 && (len(missing) > 0 || c["events were deleted"] == 0) {
		t.Error("the random steps did not reach every outcome")
	}
}

// submit submits a few recordings and reservations: of several tenants in one transaction, or events
// of one tenant in a batch.
func (c *modelCheck) submit(most int) {
	n := c.draw(most, "events") + 1
	tenantID := choose(c, "tenant", c.tenants...)
	inBatch := choose(c, "in a batch", false, true, false)
	submissions := make([]*usage.Submission, n)
	recordings := make([]usage.Recording, n)
	wants := make([]*modelRefusal, n)
	drawn := map[streamName]int{}
	for i := range n {
		if !inBatch {
			tenantID = choose(c, "tenant", c.tenants...)
		}
		r := c.drawSubmission(tenantID, inBatch)
		submissions[i], recordings[i] = r, r.Recording
		if r.Hold != nil {
			wants[i] = c.reserve(c.Clock.Now(), r)
		} else {
			wants[i] = c.record(c.Clock.Now(), r)
		}
		s := streamName{r.TenantID, r.MeterCode}
		if events := c.events[s]; wants[i] == nil && r.Hold == nil && events[len(events)-1].granted > 0 {
			drawn[s]++
			c.seen["drawn"]++
		}
	}
	outcomes, err := c.decide(inBatch, tenantID, recordings, submissions)
	if err != nil {
		c.Fatal(err)
	}
	for i, want := range wants {
		c.seen.note(c.meters[submissions[i].MeterCode], submissions[i], want)
		if !want.matches(outcomes[i].Err) {
			c.Fatalf("%+v at %s: got %v %v, want %+v", submissions[i], submissions[i].At, outcomes[i].Err, usage.ExtraOf(outcomes[i].Err), want)
		}
		c.checkReservation(submissions[i], outcomes[i], want)
	}
}

func (c *modelCheck) decide(inBatch bool, tenantID uuid.UUID, recordings []usage.Recording, submissions []*usage.Submission) ([]usage.Decided, error) {
	if !inBatch {
		return c.Decide(c.Context(), submissions)
	}
	outcomes, err := c.RecordBatch(c.Context(), tenantID, recordings)
	decided := make([]usage.Decided, len(outcomes))
	for i, o := range outcomes {
		decided[i].Outcome = o
	}
	return decided, err
}

// checkReservation compares the IDs of reservations and of the events that settle them.
func (c *modelCheck) checkReservation(r *usage.Submission, got usage.Decided, want *modelRefusal) {
	if r.Hold == nil && r.Settles == nil {
		return
	}
	pool := c.pool(streamName{r.TenantID, r.MeterCode})
	of := pool.reservations[*r.IdempotencyKey]
	switch {
	case want != nil && want.err == usage.ErrSettled: //nolint:errorlint // it is not wrapped
		if usage.ExtraOf(got.Err)["event_id"] != of.eventID.String() {
			c.Fatalf("%+v: settled by %v, want %s", r, usage.ExtraOf(got.Err), of.eventID)
		}
	case want != nil:
	case r.Settles != nil:
		of.eventID = got.Event.ID
	case of.id == uuid.Nil:
		of.id = got.Reservation.ID
		pool.named = append(pool.named, *r.IdempotencyKey)
	case of.id != got.Reservation.ID || of.quantity != got.Reservation.Quantity:
		c.Fatalf("%+v: reserved %+v, want %+v", r, got.Reservation, of)
	}
}

// amounts are few, so that sums often hit limits exactly or almost.
var amounts = []string{"1", "2.5", "0.000001", "0", "4", "7", "0.999999", "12"}

func (c *modelCheck) drawSubmission(tenantID uuid.UUID, inBatch bool) *usage.Submission {
	code := choose(c, "meter", codes()...)
	r := &usage.Submission{
		Recording: usage.Recording{MeterCode: code, Quantity: usagetest.Quantity(choose(c, "quantity", amounts...))},
		TenantID:  tenantID,
	}
	now, s := c.Clock.Now(), streamName{tenantID, code}
	r.At = now
	switch kind := choose(c, "kind", 9, 1, 9, 2, 9); {
	case kind == 1 && !inBatch:
		r.Hold = new(choose(c, "hold", time.Hour, 10*time.Hour, 24*time.Hour))
		r.Quantity = usagetest.Quantity(choose(c, "quantity", "1", "2.5", "4", "0.999999"))
		r.Recording = usagetest.WithKey(r.Recording, c.drawKey())
		return r
	case kind == 2 && !inBatch:
		if key := c.drawReservation(s); key != "" {
			r.Recording, r.Settles = usagetest.WithKey(r.Recording, key), &c.pool(s).reservations[key].id
		}
	}
	age := choose(c, "age", 0, 0, -usage.MaxAhead, -usage.MaxAhead-time.Microsecond, 12*time.Hour, 3*day, 20*day, 34*day, 45*day)
	if age += time.Duration(c.draw(3, "hours")) * 12 * time.Hour; age < -usage.MaxAhead && !inBatch {
		age = -usage.MaxAhead // the API would have rejected it earlier
	}
	r.At = now.Add(-age)
	// If a period is counted again after some of its events were deleted, a late event is judged by
	// the remaining events alone. The model always counts all events, so avoid this case.
	if !c.whole(s, c.period(s, r.At)) {
		r.At = now
	}
	r.RecordedAt = &r.At
	if r.Settles == nil && choose(c, "with key", false, true) {
		r.Recording = usagetest.WithKey(r.Recording, c.drawKey())
	}
	return r
}

func (c *modelCheck) drawKey() string {
	if c.isLarge {
		return fmt.Sprint(c.draw(300_000, "key"))
	}
	return choose(c, "key", "a", "b", "c", "d", "e", "f")
}

// drawReservation returns the key of one of the latest reservations of a stream, or "".
func (c *modelCheck) drawReservation(s streamName) string {
	named := c.pool(s).named
	if len(named) == 0 {
		return ""
	}
	return choose(c, "reservation", named[max(0, len(named)-100):]...)
}

// releaseOne releases a reservation.
func (c *modelCheck) releaseOne() {
	s := streamName{choose(c, "tenant", c.tenants...), choose(c, "meter", codes()...)}
	key := c.drawReservation(s)
	if key == "" {
		return
	}
	r := c.pool(s).reservations[key]
	var want *modelRefusal
	if r.settled {
		want = &modelRefusal{err: usage.ErrSettled}
	} else {
		r.released = true
	}
	if err := c.Release(c.Context(), s.tenantID, r.id); !want.matches(err) {
		c.Fatalf("releasing %+v: got %v, want %+v", r, err, want)
	}
}

// giveUnits grants units to a tenant.
func (c *modelCheck) giveUnits() {
	s := streamName{choose(c, "tenant", c.tenants...), choose(c, "meter", codes()...)}
	amount := usagetest.Quantity(choose(c, "amount", "1", "0.5", "3.000001", "20"))
	if c.isLarge {
		amount *= 50
	}
	g := &modelGrant{rest: amount, number: c.grants}
	p := usage.PurchasedGrant{TenantID: s.tenantID, FeatureCode: s.code, Amount: usagetest.Total(amount.String()), Pack: "pack", SessionID: uuid.NewString()}
	if hours := choose(c, "hours", 0, 1, 30, 700); hours > 0 {
		g.expiresAt = c.Clock.Now().Add(time.Duration(hours) * time.Hour)
		p.ExpiresAt = &g.expiresAt
	}
	if err := c.GrantPurchase(c.Context(), p); err != nil {
		c.Fatal(err)
	}
	c.grants++
	pool := c.pool(s)
	pool.grants = append(slices.DeleteFunc(pool.grants, func(g *modelGrant) bool { return g.rest == 0 }), g)
}

// setCap sets or removes the cap of a stream.
func (c *modelCheck) setCap() {
	s := streamName{choose(c, "tenant", c.tenants...), choose(c, "meter", codes()...)}
	limit := choose(c, "cap", nil, new(int64(20)), nil, new(int64(4)), new(int64(5)))
	if c.isLarge && limit != nil {
		*limit *= 200
	}
	if err := c.SetCap(c.Context(), s.tenantID, s.code, limit); err != nil && c.meters[s.code].Active {
		c.Fatal(err)
	} else if err == nil {
		c.pool(s).cap = limit
	}
}

func (c *modelCheck) changeMeter(code string) {
	aggregations := []usage.Aggregation{usage.Sum, usage.Count, usage.Max, usage.LastValue}
	if code == sold || choose(c, "adds", false, true) {
		aggregations = aggregations[:2] // a maximum that never resets cannot be sold
	}
	m := usagetest.Meter(code,
		choose(c, "aggregation", aggregations...),
		// Monthly twice, because it depends on the subscription.
		choose(c, "reset", usage.ResetMonthly, usage.ResetWeekly, usage.ResetDaily, usage.ResetNever, usage.ResetMonthly),
		choose(c, "enforcement", usage.EnforcementHard, usage.EnforcementSoft, usage.EnforcementHard, usage.EnforcementUnenforced, usage.EnforcementHard))
	m.Active = c.draw(10, "inactive") != 9
	c.Apply(c, m)
	c.meters[code] = m
}

// changePlan changes the allowance of a tenant.
func (c *modelCheck) changePlan(tenantID uuid.UUID) {
	a := usage.Allowance{Limits: map[string]int64{}, BillsUsage: choose(c, "bills", false, true), IsTrial: c.draw(5, "trial") == 4, Currency: "EUR"}
	for _, code := range codes() {
		limit := choose(c, "limit", int64(3), 12, 5, -1, 1, 0)
		if c.isLarge {
			limit *= 100
		}
		if limit >= 0 {
			a.Limits[code] = limit
		}
	}
	// Few choices, so that a tenant often returns to an earlier period.
	a.Billing = choose(c, "billing",
		nil,
		usagetest.Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10"),
		usagetest.Billing("2026-10-31", usage.Month, 1, "2026-10-31", "2026-11-30"),
		usagetest.Billing("2026-11-18 07:00", usage.Week, 1),
		usagetest.Billing("2026-12-01", usage.Year, 1, "2026-11-12", "2026-12-01"),
	)
	c.allowances[tenantID] = a
	c.Plans.Grant(tenantID, a)
}
