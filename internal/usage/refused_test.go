package usage_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// refusedEvents returns the number of rejected events of a tenant in an hour, and of all tenants on
// a day.
func refusedEvents(t *testing.T, db *sqldb.DB, tenantID uuid.UUID, at time.Time) (hour, day int64) {
	t.Helper()
	read := func(into *int64, query string, args ...any) {
		if err := db.Conn(t.Context()).QueryRowContext(t.Context(), query, args...).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	read(&hour, `SELECT COALESCE(sum(refused), 0) FROM quota_refusals WHERE tenant_id = $1 AND hour = $2`, tenantID, usage.HourOf(at))
	read(&day, `SELECT COALESCE(sum(refused), 0) FROM quota_refusal_days WHERE day = $1`, usage.HourOf(at)/24)
	return hour, day
}

// An event rejected because of a quota is counted once, in the hour of its rejection. Other
// rejections are not counted.
func TestRefusedEventsAreCounted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 23:50")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("soft", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft))
		tenantID, other := w.NewTenant(t), w.NewTenant(t)
		limits := usage.Allowance{Limits: map[string]int64{"calls": 10, "soft": 1}}
		w.Plans.Grant(tenantID, limits)
		w.Plans.Grant(other, limits)
		began := w.Clock.Now()
		record := func(of uuid.UUID, r usage.Recording, want error) {
			t.Helper()
			if _, err := w.Record(t.Context(), of, r); !errors.Is(err, want) {
				t.Fatalf("%v, want %v", err, want)
			}
		}
		wantCounted := func(at time.Time, hour, day int64) {
			t.Helper()
			if h, d := refusedEvents(t, db, tenantID, at); h != hour || d != day {
				t.Errorf("counted %d in the hour and %d on the day, want %d and %d", h, d, hour, day)
			}
		}
		record(tenantID, usagetest.WithKey(usagetest.Recording("calls", "9"), "a"), nil)
		record(tenantID, usagetest.WithKey(usagetest.Recording("calls", "9"), "a"), usage.ErrDuplicate)
		record(tenantID, usagetest.Recording("none", "9"), usage.ErrUnknownMeter)
		record(tenantID, usagetest.Recording("soft", "9"), nil)
		wantCounted(began, 0, 0)
		record(tenantID, usagetest.Recording("calls", "2"), usage.ErrQuotaExceeded)
		record(other, usagetest.Recording("calls", "11"), usage.ErrQuotaExceeded)
		wantCounted(began, 1, 2)
		outcomes, err := w.RecordBatch(t.Context(), tenantID, []usage.Recording{
			usagetest.Recording("calls", "2"), usagetest.Recording("calls", "1"), usagetest.Recording("calls", "1"),
		})
		if err != nil || outcomes[1].Err != nil || outcomes[0].Err == nil || outcomes[2].Err == nil {
			t.Fatal(outcomes, err)
		}
		wantCounted(began, 3, 4)
		w.Clock.Set(began.Add(20 * time.Minute)) // the next day
		record(tenantID, usagetest.RecordedAt(usagetest.Recording("calls", "1"), "2026-11-21 12:00"), usage.ErrQuotaExceeded)
		wantCounted(began, 3, 4)
		wantCounted(w.Clock.Now(), 1, 1)
		if err := w.Retention("").PurgeTenant(t.Context(), tenantID); err != nil {
			t.Fatal(err)
		}
		wantCounted(began, 0, 4) // the daily totals stay
	})
}

// Concurrent rejections of many tenants on several instances are all counted.
func TestRefusedEventsOfManyTenants(t *testing.T) {
	t.Parallel()
	for dialect, instances := range map[sqldb.Dialect]int{sqldb.SQLite: 1, sqldb.Postgres: 3} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, dialect)
			w := usagetest.New(t, dbtest.Open(t, url), "2026-11-21 12:00")
			w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
			services := []*usage.Service{w.Service}
			for len(services) < instances {
				other := *w
				other.DB = dbtest.Open(t, url)
				services = append(services, other.Start(t))
			}
			tenants := make([]uuid.UUID, 20)
			for i := range tenants {
				tenants[i] = w.NewTenant(t)
				w.Plans.Grant(tenants[i], usage.Allowance{Limits: map[string]int64{"calls": 0}})
			}
			var refused atomic.Int64
			var wg sync.WaitGroup
			for i := range dbtest.Rounds(300, 3000) {
				wg.Go(func() {
					r := usagetest.WithKey(usagetest.Recording("calls", "1"), strconv.Itoa(i))
					if _, err := services[i%instances].Record(t.Context(), tenants[i%len(tenants)], r); errors.Is(err, usage.ErrQuotaExceeded) {
						refused.Add(1)
					} else {
						t.Errorf("not refused: %v", err)
					}
				})
			}
			wg.Wait()
			var sum int64
			for _, id := range tenants {
				hour, _ := refusedEvents(t, w.DB, id, w.Clock.Now())
				sum += hour
			}
			if _, day := refusedEvents(t, w.DB, tenants[0], w.Clock.Now()); sum != refused.Load() || day != sum {
				t.Errorf("%d refused, %d counted by tenants and %d on the day", refused.Load(), sum, day)
			}
		})
	}
}
