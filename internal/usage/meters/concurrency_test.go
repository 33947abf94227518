package meters_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// Of concurrent requests to create a meter with the same code, or rename meters to it, exactly one
// succeeds.
func TestOneMeterPerCodeUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("other", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		other := w.Detail(t, w.NewTenant(t), "other").Meter.ID
		for range dbtest.Rounds(3, 20) {
			var mu sync.Mutex
			var made []uuid.UUID
			var wg sync.WaitGroup
			for i := range 10 {
				wg.Go(func() {
					var e meters.Entry
					var err error
					if i == 0 {
						e, err = w.Meters.Update(t.Context(), other, func(e meters.Entry) meters.Entry { e.Code = "wanted"; return e })
					} else {
						e, err = w.Meters.Create(t.Context(), meters.Entry{Meter: usagetest.Meter("wanted", usage.Sum, usage.ResetMonthly, usage.EnforcementHard)})
					}
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						made = append(made, e.ID)
					case err != meters.ErrCodeTaken: //nolint:errorlint // Errors with fields only equal themselves.
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(made) != 1 {
				t.Fatalf("%d meters have the same code", len(made))
			}
			if made[0] != other {
				if err := w.Meters.Delete(t.Context(), made[0]); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if _, err := w.Meters.Update(t.Context(), other, func(e meters.Entry) meters.Entry { e.Code = "other"; return e }); err != nil {
				t.Fatal(err)
			}
		}
	})
}
