package usage_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

func TestOneEventPerKeyUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 3}})
		stored, duplicates, _ := w.Race(t, 50,
			func(int) uuid.UUID { return tenantID },
			func(int) usage.Recording { return usagetest.WithKey(usagetest.Recording("calls", "2"), "once") })
		if stored != 1 || duplicates != 49 {
			t.Errorf("%d stored, %d duplicates", stored, duplicates)
		}
		if got := w.Count(t, tenantID); got != 1 {
			t.Errorf("%d rows", got)
		}
		if got := w.Detail(t, tenantID, "calls").Current; got != usagetest.Total("2") {
			t.Errorf("shows %s", got)
		}
	})
}

func TestQuotaIsEnforcedUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		for limit := int64(1); limit <= 10; limit++ {
			w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": limit}})
			stored, _, exceeded := w.Race(t, 50,
				func(int) uuid.UUID { return tenantID },
				func(int) usage.Recording { return usagetest.Recording("calls", "1") })
			if stored != 1 || exceeded != 49 {
				t.Errorf("limit %d: %d stored, %d exceeded", limit, stored, exceeded)
			}
			if w.Detail(t, tenantID, "calls").Current != (money.Total{Units: limit}) {
				t.Errorf("limit %d: shows %s", limit, w.Detail(t, tenantID, "calls").Current)
			}
		}
	})
}

// Concurrent recording on many tenants and meters in any order causes no deadlocks and loses no
// events.
func TestManyStreamsUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		var codes []string
		for i := range 4 {
			codes = append(codes, fmt.Sprint("meter-", i))
			w.Apply(t, usagetest.Meter(codes[i], usage.Sum, usage.ResetDaily, usage.EnforcementHard))
		}
		var tenants []uuid.UUID
		for range 5 {
			tenants = append(tenants, w.NewTenant(t))
		}
		stored, _, _ := w.Race(t, 400,
			func(i int) uuid.UUID { return tenants[i*7%5] },
			func(i int) usage.Recording {
				return usagetest.WithKey(usagetest.Recording(codes[i*3%4], "0.5"), strconv.Itoa(i))
			})
		if stored != 400 {
			t.Errorf("%d stored", stored)
		}
		for _, tenantID := range tenants {
			for _, code := range codes {
				if got := w.Detail(t, tenantID, code).Current; got != usagetest.Total("10") {
					t.Errorf("%s of %s shows %s", code, tenantID, got)
				}
			}
		}
	})
}

// If the database rejects a batch, only the invalid events fail.
func TestInvalidEventDoesNotFailOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		var failed int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				owner := tenantID
				if i%10 == 0 {
					owner = uuid.New() // no such tenant
				}
				if _, err := w.Record(t.Context(), owner, usagetest.Recording("calls", "1")); err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if failed != 3 || w.Count(t, tenantID) != 27 {
			t.Errorf("%d failed, %d stored", failed, w.Count(t, tenantID))
		}
	})
}
