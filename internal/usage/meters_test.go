package usage_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// When recordings and changes of a meter's rules run concurrently, the final value and every stored
// counter equal the aggregate of all events under the final rules.
func TestChangesOfAMeterUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rounds := dbtest.Rounds(4, 40)
		w := usagetest.New(t, db, "2026-11-21 12:00")
		for round := range rounds {
			code := "meter-" + uuid.NewString()
			w.Apply(t, usagetest.Meter(code, usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
			tenantID := w.NewTenant(t)
			id := w.Detail(t, tenantID, code).Meter.ID
			rules := []usage.Meter{usagetest.Meter(code, usage.Count, usage.ResetNever, usage.EnforcementHard), usagetest.Meter(code, usage.Max, usage.ResetDaily, usage.EnforcementSoft), usagetest.Meter(code, usage.Sum, usage.ResetWeekly, usage.EnforcementHard)}

			const events = 60
			var wg sync.WaitGroup
			for i := range events {
				wg.Go(func() {
					if _, err := w.Instances[i%2].Record(t.Context(), tenantID, usagetest.Recording(code, "2")); err != nil {
						t.Error(err)
					}
				})
			}
			for i := range 6 {
				wg.Go(func() {
					_, err := w.Meters.Update(t.Context(), id, func(e meters.Entry) meters.Entry {
						e.Aggregation, e.Reset = rules[i%3].Aggregation, rules[i%3].Reset
						return e
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()

			d := w.Detail(t, tenantID, code)
			want := map[usage.Aggregation]money.Total{usage.Sum: usagetest.Total("120"), usage.Count: usagetest.Total("60"), usage.Max: usagetest.Total("2")}[d.Meter.Aggregation]
			if d.Current != want {
				t.Errorf("round %d: %s of %d events shows %s, want %s", round, d.Meter.Aggregation, events, d.Current, want)
			}
			counters, err := w.Counters(t.Context(), usage.StreamKey{TenantID: tenantID, MeterID: id}, usage.Period{Start: w.Clock.Now(), End: w.Clock.Now()})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range counters {
				if c.Value != want {
					t.Errorf("round %d: the counter of %v has %s, want %s", round, c.Period, c.Value, want)
				}
			}
		}
	})
}
