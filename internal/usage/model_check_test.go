package usage_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// Random recordings, single and in batches, at various times, with changing subscriptions and
// meters, while time passes and old events are deleted: every verdict, value and alert matches the
// model, and every counter equals the aggregate of its period's events, including deleted ones.
func TestUsageIsThatOfTheModel(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		dialect sqldb.Dialect
		steps   int
	}{{sqldb.SQLite, dbtest.Rounds(12, 160)}, {sqldb.Postgres, dbtest.Rounds(5, 90)}} {
		t.Run(string(size.dialect), func(t *testing.T) {
			t.Parallel()
			w := usagetest.New(t, dbtest.New(t, size.dialect), "2026-11-21 12:00")
			seen := coverage{}
			rapid.Check(t, func(t *rapid.T) { checkModel(t, w, size.steps, seen) })
			seen.judge(t)
		})
	}
}

func checkModel(t *rapid.T, w *usagetest.World, maxSteps int, seen coverage) {
	w.Clock.Set(usagetest.At("2026-11-21 12:00"))
	c := &modelCheck{T: t, World: w, model: newModel(), tenants: []uuid.UUID{w.NewTenant(t), w.NewTenant(t)}, seen: seen}
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
			w.Clock.Set(w.Clock.Now().Add(time.Duration(hours) * time.Hour))
		case 4:
			if err := w.Retention("").Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.prune(w.Clock.Now()) {
				c.seen["events were deleted"]++
			}
		default:
			c.record()
		}
		for _, tenantID := range c.tenants {
			if diff := c.compare(t, w, w.Clock.Now(), tenantID); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// codes returns the codes of the meters in a fixed order.
func codes() []string { return []string{"calls", "disk"} }

// modelCheck runs one sequence of steps on the service and the model.
type modelCheck struct {
	*rapid.T
	*usagetest.World
	*model
	tenants []uuid.UUID
	seen    coverage
}

// coverage counts the outcomes of all sequences.
type coverage map[string]int

func (c coverage) note(m usage.Meter, refused error) {
	outcome := "stored"
	if refused != nil {
		outcome = refused.Error()
	}
	c[fmt.Sprint(m.Aggregation, " ", m.Reset, " ", m.Enforcement, " ", outcome)]++
	c[outcome]++
}

// judge checks, in the long test mode, that every kind of meter has stored events and, if it
// enforces quotas, rejected some.
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
	t.Logf("%d stored, %d duplicates, %d beyond a quota, %d in the future, %d on inactive meters; events deleted %d times, %d rules changed; %d of the rarest kind; missing: %v",
		c["stored"], c[usage.ErrDuplicate.Error()], c[usage.ErrQuotaExceeded.Error()], c[usage.ErrInFuture.Error()], c[usage.ErrUnknownMeter.Error()],
		c["events were deleted"], c["a meter was changed"], rarest, missing)
	if dbtest.Rounds(0, 1) > 0 && (len(missing) > 0 || c["events were deleted"] == 0) {
		t.Error("the random steps left something out")
	}
}

// record stores a few events: of several tenants in one transaction, or of one tenant in a batch.
func (c *modelCheck) record() {
	n := rapid.IntRange(1, 6).Draw(c.T, "events")
	tenantID := rapid.SampledFrom(c.tenants).Draw(c.T, "tenant")
	inBatch := rapid.Bool().Draw(c.T, "in a batch")
	submissions := make([]*usage.Submission, n)
	recordings := make([]usage.Recording, n)
	wants := make([]error, n)
	for i := range n {
		if !inBatch {
			tenantID = rapid.SampledFrom(c.tenants).Draw(c.T, "tenant")
		}
		submissions[i] = c.drawSubmission(tenantID, inBatch)
		recordings[i] = submissions[i].Recording
		wants[i] = c.model.record(c.Clock.Now(), submissions[i])
	}
	var outcomes []usage.Outcome
	var err error
	if inBatch {
		outcomes, err = c.RecordBatch(c.Context(), tenantID, recordings)
	} else {
		outcomes, err = c.Decide(c.Context(), submissions)
	}
	if err != nil {
		c.Fatal(err)
	}
	for i, want := range wants {
		c.seen.note(c.meters[submissions[i].MeterCode], want)
		if !sameRefusal(outcomes[i].Err, want) {
			c.Fatalf("recording %+v: got %v, want %v", submissions[i], outcomes[i].Err, want)
		}
	}
}

// amounts are few, so that sums often hit limits exactly or almost.
var amounts = []string{"1", "2.5", "0.000001", "0", "4", "7", "0.999999", "12"}

func (c *modelCheck) drawSubmission(tenantID uuid.UUID, inBatch bool) *usage.Submission {
	code := rapid.SampledFrom(codes()).Draw(c.T, "meter")
	r := &usage.Submission{
		Recording: usage.Recording{MeterCode: code, Quantity: usagetest.Quantity(rapid.SampledFrom(amounts).Draw(c.T, "quantity"))},
		TenantID:  tenantID,
	}
	now := c.Clock.Now()
	age := rapid.SampledFrom([]time.Duration{0, 0, -usage.MaxAhead, -usage.MaxAhead - time.Microsecond, 12 * time.Hour, 3 * day, 20 * day, 34 * day, 45 * day}).Draw(c.T, "age")
	if age += time.Duration(rapid.IntRange(0, 2).Draw(c.T, "hours")) * 12 * time.Hour; age < -usage.MaxAhead && !inBatch {
		age = -usage.MaxAhead // the API would have rejected it earlier
	}
	r.At = now.Add(-age)
	// A late event of a period that is counted again after some of its events were deleted is
	// judged by the remaining events, unlike in the model.
	if s := (streamName{tenantID, code}); !c.whole(s, c.period(s, r.At)) {
		r.At = now
	}
	r.RecordedAt = &r.At
	if rapid.Bool().Draw(c.T, "with key") {
		r.Recording = usagetest.WithKey(r.Recording, rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(c.T, "key"))
	}
	return r
}

func (c *modelCheck) changeMeter(code string) {
	m := usagetest.Meter(code,
		rapid.SampledFrom([]usage.Aggregation{usage.Sum, usage.Count, usage.Max, usage.LastValue}).Draw(c.T, "aggregation"),
		// Monthly twice, because it depends on the subscription.
		rapid.SampledFrom([]usage.ResetInterval{usage.ResetMonthly, usage.ResetWeekly, usage.ResetDaily, usage.ResetNever, usage.ResetMonthly}).Draw(c.T, "reset"),
		rapid.SampledFrom([]usage.Enforcement{usage.EnforcementHard, usage.EnforcementSoft, usage.EnforcementHard, usage.EnforcementUnenforced, usage.EnforcementHard}).Draw(c.T, "enforcement"))
	m.Active = rapid.IntRange(0, 9).Draw(c.T, "inactive") != 9
	c.Apply(c, m)
	c.meters[code] = m
}

// grant changes the allowance of a tenant.
func (c *modelCheck) grant(tenantID uuid.UUID) {
	c.allowances[tenantID] = c.drawAllowance()
	c.Plans.Grant(tenantID, c.allowances[tenantID])
}

func (c *modelCheck) drawAllowance() usage.Allowance {
	a := usage.Allowance{Limits: map[string]int64{}}
	for _, code := range codes() {
		if limit := rapid.SampledFrom([]int64{3, 12, 5, -1, 1, 0}).Draw(c.T, "limit"); limit >= 0 {
			a.Limits[code] = limit
		}
	}
	// Few choices, so that a tenant often returns to an earlier period.
	a.Billing = rapid.SampledFrom([]*usage.Billing{
		nil,
		usagetest.Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10"),
		usagetest.Billing("2026-10-31", usage.Month, 1, "2026-10-31", "2026-11-30"),
		usagetest.Billing("2026-11-18 07:00", usage.Week, 1),
		usagetest.Billing("2026-12-01", usage.Year, 1, "2026-11-12", "2026-12-01"),
	}).Draw(c.T, "billing")
	return a
}
