package usage_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// Concurrent requests for summaries share queries, but each tenant gets its own usage, quota and
// period, even if it has recorded nothing.
func TestSummariesOfManyTenants(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		ids := make([]uuid.UUID, 9)
		want := map[uuid.UUID]string{}
		for i := range ids {
			ids[i] = w.NewTenant(t)
			start, end := fmt.Sprintf("2026-11-%02d", i+1), fmt.Sprintf("2026-12-%02d", i+1)
			w.Plans.Grant(ids[i], usage.Allowance{Billing: usagetest.Billing(start, usage.Month, 1, start, end), Limits: map[string]int64{"calls": int64(100 + i)}})
			if i > 0 {
				if _, err := w.Record(t.Context(), ids[i], usagetest.Recording("calls", strconv.Itoa(i))); err != nil {
					t.Fatal(err)
				}
			}
			want[ids[i]] = fmt.Sprint(ids[i], usagetest.Period(start, end), i, 100+i)
		}
		check := func(id uuid.UUID, s usage.Summary) {
			if len(s.Readings) != 1 {
				t.Errorf("%v is shown %+v", id, s)
				return
			}
			r := s.Readings[0]
			if got := fmt.Sprint(s.TenantID, s.Period, r.Current, *r.Limit); got != want[id] || !r.Period.Equal(s.Period) {
				t.Errorf("%v is shown %s, want %s", id, got, want[id])
			}
		}
		// One load reads all tenants, including some duplicates.
		together, err := w.Summarize(t.Context(), append(ids, ids[3:5]...))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			check(id, together[id])
		}
		// Concurrent requests return the same summaries.
		var asking sync.WaitGroup
		for range 10 {
			for _, id := range ids {
				asking.Go(func() {
					s, err := w.Summary(t.Context(), id)
					if err != nil {
						t.Error(err)
					}
					check(id, s)
				})
			}
		}
		asking.Wait()
	})
}

// Cached summaries must depend on every table that is read for them, both with stored counters and
// when counting from events.
func TestSummaryTables(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	w := usagetest.New(t, db, "2026-11-21 12:00")
	var applied []usage.Meter
	for _, aggregation := range []usage.Aggregation{usage.Sum, usage.LastValue} {
		for _, reset := range []usage.ResetInterval{usage.ResetMonthly, usage.ResetNever} {
			applied = append(applied, usagetest.Meter(string(aggregation)+string(reset), aggregation, reset, usage.EnforcementSoft))
		}
	}
	w.Apply(t, applied...)
	tenantID := w.NewTenant(t)
	for _, m := range applied {
		if _, err := w.Record(t.Context(), tenantID, usagetest.Recording(m.Code, "1")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `DELETE FROM usage_counters`); err != nil {
		t.Fatal(err)
	}
	read := dbtest.TablesRead(t, db, func(ctx context.Context) error {
		_, err := w.Summarize(ctx, []uuid.UUID{tenantID})
		return err
	})
	for _, table := range read {
		if !slices.Contains(w.SummaryTables(), table) {
			t.Errorf("reads %s, declares %v", table, w.SummaryTables())
		}
	}
}
