package usage

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// race records n times at once, through two instances of the service, and counts
// the outcomes.
func race(t *testing.T, w *world, n int, tenantID func(i int) uuid.UUID, r func(i int) Recording) (stored, duplicates, exceeded int) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = w.instances[i%2].Record(t.Context(), tenantID(i), r(i)) })
	}
	wg.Wait()
	for _, err := range errs {
		switch {
		case err == nil:
			stored++
		case errors.Is(err, ErrDuplicate):
			duplicates++
		case errors.Is(err, ErrQuotaExceeded):
			exceeded++
		default:
			t.Errorf("unexpected: %v", err)
		}
	}
	return stored, duplicates, exceeded
}

func TestOneEventPerKeyUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"calls": 3}})
		stored, duplicates, _ := race(t, w, 50,
			func(int) uuid.UUID { return tenantID },
			func(int) Recording { return recording("calls", "2").keyed("once") })
		if stored != 1 || duplicates != 49 {
			t.Errorf("%d stored, %d duplicates", stored, duplicates)
		}
		if got := w.count(t, tenantID); got != 1 {
			t.Errorf("%d rows", got)
		}
		if got := w.detail(t, tenantID, "calls").Current; got != quantity("2") {
			t.Errorf("shows %s", got)
		}
	})
}

func TestQuotaHoldsUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		for limit := int64(1); limit <= 10; limit++ {
			w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"calls": limit}})
			stored, _, exceeded := race(t, w, 50,
				func(int) uuid.UUID { return tenantID },
				func(int) Recording { return recording("calls", "1") })
			if stored != 1 || exceeded != 49 {
				t.Errorf("limit %d: %d stored, %d exceeded", limit, stored, exceeded)
			}
			if got, _ := money.Whole(limit); w.detail(t, tenantID, "calls").Current != got {
				t.Errorf("limit %d: shows %s", limit, w.detail(t, tenantID, "calls").Current)
			}
		}
	})
}

// Many tenants and meters at once, in every order: nobody waits for each other
// in a circle and nothing is lost.
func TestManyStreamsUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		var codes []string
		for i := range 4 {
			codes = append(codes, fmt.Sprint("meter-", i))
			w.apply(t, meter(codes[i], Sum, Daily, Hard))
		}
		var tenants []uuid.UUID
		for range 5 {
			tenants = append(tenants, w.newTenant(t))
		}
		stored, _, _ := race(t, w, 400,
			func(i int) uuid.UUID { return tenants[i*7%5] },
			func(i int) Recording { return recording(codes[i*3%4], "0.5").keyed(strconv.Itoa(i)) })
		if stored != 400 {
			t.Errorf("%d stored", stored)
		}
		for _, tenantID := range tenants {
			for _, code := range codes {
				if got := w.detail(t, tenantID, code).Current; got != quantity("10") {
					t.Errorf("%s of %s shows %s", code, tenantID, got)
				}
			}
		}
	})
}

// Of a batch that the database refuses only what is wrong fails.
func TestBadEventFailsAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		var failed int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				owner := tenantID
				if i%10 == 0 {
					owner = uuid.New() // no such tenant
				}
				if _, err := w.Record(t.Context(), owner, recording("calls", "1")); err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if failed != 3 || w.count(t, tenantID) != 27 {
			t.Errorf("%d failed, %d stored", failed, w.count(t, tenantID))
		}
	})
}
