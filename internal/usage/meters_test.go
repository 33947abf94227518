package usage

import (
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// However recordings and changes of a meter's rules meet, what it shows in the
// end, and what each stored counter has, is the aggregate of all events by the
// rules of the end.
func TestChangesOfAMeterUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rounds := dbtest.Rounds(4, 40)
		w := newWorld(t, db, "2026-11-21 12:00")
		for round := range rounds {
			code := "meter-" + uuid.NewString()
			w.apply(t, meter(code, Sum, Monthly, Hard))
			tenantID := w.newTenant(t)
			id := w.detail(t, tenantID, code).Meter.ID
			rules := []Meter{meter(code, Count, Never, Hard), meter(code, Max, Daily, Soft), meter(code, Sum, Weekly, Hard)}

			const events = 60
			var wg sync.WaitGroup
			for i := range events {
				wg.Go(func() {
					if _, err := w.instances[i%2].Record(t.Context(), tenantID, recording(code, "2")); err != nil {
						t.Error(err)
					}
				})
			}
			for i := range 6 {
				wg.Go(func() {
					_, err := w.instances[i%2].UpdateMeter(t.Context(), id, func(e MeterEntry) MeterEntry {
						e.Aggregation, e.Reset = rules[i%3].Aggregation, rules[i%3].Reset
						return e
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()

			d := w.detail(t, tenantID, code)
			want := map[Aggregation]money.Quantity{Sum: quantity("120"), Count: quantity("60"), Max: quantity("2")}[d.Meter.Aggregation]
			if d.Current != want {
				t.Errorf("round %d: %s of %d events shows %s, want %s", round, d.Meter.Aggregation, events, d.Current, want)
			}
			counters, err := w.store.countersAt(t.Context(), []uuid.UUID{tenantID}, w.clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range counters[streamKey{tenantID, id}] {
				if c.value != want {
					t.Errorf("round %d: the counter of %v has %s, want %s", round, c.period, c.value, want)
				}
			}
		}
	})
}

// Of many who make a meter of one code, and rename theirs to one, one succeeds.
func TestOneMeterPerCodeUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("other", Sum, Monthly, Hard))
		other := w.detail(t, w.newTenant(t), "other").Meter.ID
		for range dbtest.Rounds(3, 20) {
			var mu sync.Mutex
			var made []uuid.UUID
			var wg sync.WaitGroup
			for i := range 10 {
				wg.Go(func() {
					var e MeterEntry
					var err error
					if i == 0 {
						e, err = w.UpdateMeter(t.Context(), other, func(e MeterEntry) MeterEntry { e.Code = "wanted"; return e })
					} else {
						e, err = w.instances[i%2].CreateMeter(t.Context(), MeterEntry{Meter: meter("wanted", Sum, Monthly, Hard)})
					}
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						made = append(made, e.ID)
					case err != errCodeTaken: //nolint:errorlint // Errors with fields are equal to nothing else.
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(made) != 1 {
				t.Fatalf("%d meters of one code", len(made))
			}
			if made[0] != other {
				if err := w.DeleteMeter(t.Context(), made[0]); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if _, err := w.UpdateMeter(t.Context(), other, func(e MeterEntry) MeterEntry { e.Code = "other"; return e }); err != nil {
				t.Fatal(err)
			}
		}
	})
}
