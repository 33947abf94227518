package usage

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Several instances on one PostgreSQL, each with connections of its own, and one
// on SQLite, where a second has no place: of 200 recordings at once with room for
// one, exactly one is stored.
func TestInstancesKeepTheQuotaTogether(t *testing.T) {
	t.Parallel()
	for dialect, instances := range map[sqldb.Dialect]int{sqldb.SQLite: 1, sqldb.Postgres: 3} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, dialect)
			w := newWorld(t, dbtest.Open(t, url), "2026-11-21 12:00")
			w.apply(t, meter("calls", Sum, Monthly, Hard))
			services := []*Service{w.Service}
			for len(services) < instances {
				other := *w
				other.db = dbtest.Open(t, url)
				services = append(services, other.instance(t))
			}
			for range dbtest.Rounds(5, 100) {
				tenantID := w.newTenant(t)
				w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"calls": 10}})
				if _, err := w.Record(t.Context(), tenantID, recording("calls", "9")); err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				errs := make([]error, 200)
				for i := range errs {
					wg.Go(func() { _, errs[i] = services[i%instances].Record(t.Context(), tenantID, recording("calls", "1")) })
				}
				wg.Wait()
				stored := 0
				for _, err := range errs {
					switch {
					case err == nil:
						stored++
					case !errors.Is(err, ErrQuotaExceeded):
						t.Errorf("unexpected: %v", err)
					}
				}
				if stored != 1 || w.count(t, tenantID) != 2 || w.detail(t, tenantID, "calls").Current != quantity("10") {
					t.Fatalf("%d stored, %d rows, shows %s", stored, w.count(t, tenantID), w.detail(t, tenantID, "calls").Current)
				}
			}
		})
	}
}

// A recording whose caller gives up is stored with its count or not at all, and
// asking again by its key tells which.
func TestGivenUpIsStoredWholeOrNot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		const n = 200
		outcomes := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*50*time.Microsecond)
				defer cancel()
				_, outcomes[i] = w.Record(ctx, tenantID, recording("calls", "1").keyed(strconv.Itoa(i)))
			})
		}
		wg.Wait()
		for i, first := range outcomes {
			_, again := w.Record(t.Context(), tenantID, recording("calls", "1").keyed(strconv.Itoa(i)))
			switch {
			case first == nil && !errors.Is(again, ErrDuplicate):
				t.Errorf("%d: acknowledged, and then %v", i, again)
			case first != nil && !errors.Is(first, context.DeadlineExceeded):
				t.Errorf("%d: %v", i, first)
			case again != nil && !errors.Is(again, ErrDuplicate):
				t.Errorf("%d: %v at the second try", i, again)
			}
		}
		if got := w.count(t, tenantID); got != n || w.detail(t, tenantID, "calls").Current != quantity(strconv.Itoa(n)) {
			t.Errorf("%d rows, shows %s", got, w.detail(t, tenantID, "calls").Current)
		}
	})
}

// A service with no room left says so and stores nothing of what it refused.
func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		// Nothing writes: what is recorded waits.
		idle := NewService(w.deps())
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range maxWaiting {
			wg.Go(func() { _, _ = idle.Record(ctx, tenantID, recording("calls", "1")) })
		}
		var refused error
		for refused == nil {
			short, end := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := idle.Record(short, uuid.New(), recording("calls", "1")); !errors.Is(err, context.DeadlineExceeded) {
				refused = err
			}
			end()
		}
		if !errors.Is(refused, ErrBusy) || ErrBusy.RetryAfter <= 0 {
			t.Errorf("got %v, want ErrBusy with a time to come back", refused)
		}
		cancel()
		wg.Wait()
		if got := w.count(t, tenantID); got != 0 {
			t.Errorf("%d rows", got)
		}
	})
}
