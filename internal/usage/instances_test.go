package usage_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// Concurrent recordings on several instances respect the quota: of 200 recordings with room for
// one, exactly one is stored. SQLite has only one instance.
func TestInstancesKeepTheQuotaTogether(t *testing.T) {
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
			for range dbtest.Rounds(5, 100) {
				tenantID := w.NewTenant(t)
				w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 10}})
				if _, err := w.Record(t.Context(), tenantID, usagetest.Recording("calls", "9")); err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				errs := make([]error, 200)
				for i := range errs {
					wg.Go(func() {
						_, errs[i] = services[i%instances].Record(t.Context(), tenantID, usagetest.Recording("calls", "1"))
					})
				}
				wg.Wait()
				stored := 0
				for _, err := range errs {
					switch {
					case err == nil:
						stored++
					case !errors.Is(err, usage.ErrQuotaExceeded):
						t.Errorf("unexpected: %v", err)
					}
				}
				if stored != 1 || w.Count(t, tenantID) != 2 || w.Detail(t, tenantID, "calls").Current != usagetest.Total("10") {
					t.Fatalf("%d stored, %d rows, shows %s", stored, w.Count(t, tenantID), w.Detail(t, tenantID, "calls").Current)
				}
			}
		})
	}
}

// A recording whose caller gives up is stored together with its count or not at all. Retrying with
// the same key shows which.
func TestCanceledRecordingIsAtomic(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		const n = 200
		outcomes := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*50*time.Microsecond)
				defer cancel()
				_, outcomes[i] = w.Record(ctx, tenantID, usagetest.WithKey(usagetest.Recording("calls", "1"), strconv.Itoa(i)))
			})
		}
		wg.Wait()
		for i, first := range outcomes {
			_, again := w.Record(t.Context(), tenantID, usagetest.WithKey(usagetest.Recording("calls", "1"), strconv.Itoa(i)))
			switch {
			case first == nil && !errors.Is(again, usage.ErrDuplicate):
				t.Errorf("%d: acknowledged, but the retry returned %v", i, again)
			case first != nil && !errors.Is(first, context.DeadlineExceeded):
				t.Errorf("%d: %v", i, first)
			case again != nil && !errors.Is(again, usage.ErrDuplicate):
				t.Errorf("%d: the retry returned %v", i, again)
			}
		}
		if got := w.Count(t, tenantID); got != n || w.Detail(t, tenantID, "calls").Current != usagetest.Total(strconv.Itoa(n)) {
			t.Errorf("%d rows, shows %s", got, w.Detail(t, tenantID, "calls").Current)
		}
	})
}

// A full queue returns ErrBusy and stores none of the rejected events.
func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		// Run is not called, so recordings stay in the queue.
		idle := usage.NewService(w.Deps())
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range usage.MaxWaiting {
			wg.Go(func() { _, _ = idle.Record(ctx, tenantID, usagetest.Recording("calls", "1")) })
		}
		var refused error
		for refused == nil {
			short, end := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := idle.Record(short, uuid.New(), usagetest.Recording("calls", "1")); !errors.Is(err, context.DeadlineExceeded) {
				refused = err
			}
			end()
		}
		if !errors.Is(refused, usage.ErrBusy) || usage.ErrBusy.RetryAfter <= 0 {
			t.Errorf("got %v, want ErrBusy with RetryAfter", refused)
		}
		cancel()
		wg.Wait()
		if got := w.Count(t, tenantID); got != 0 {
			t.Errorf("%d rows", got)
		}
	})
}
