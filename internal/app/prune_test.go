package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

var noon = time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC)

// fillAudit adds entries to the audit log, one per second, the last one at noon.
func fillAudit(t testing.TB, db *sqldb.DB, entries int) {
	t.Helper()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO audit_logs (action, resource, resource_id, before, after, ip, user_agent, created_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'x', 'y', 'z', $2, $2, '', '', $1 FROM n`, noon, sqldb.JSON(`{}`))
	for ; entries > 1000; entries -= 1000 {
		at := noon.Add(-time.Duration(entries) * time.Second)
		exec(`INSERT INTO audit_logs (action, resource, resource_id, before, after, ip, user_agent, created_at)
			SELECT 'tenant.updated', 'tenant', 'x', $1, $1, '192.0.2.1', 'a browser', $2 FROM audit_logs ORDER BY id LIMIT 1000`,
			sqldb.JSON(`{"settings":{"locale":"en","theme":"dark","x":"0123456789012345678901234567890123456789"}}`), at)
	}
}

func countAudit(t testing.TB, db *sqldb.DB, condition string) (n int64) {
	t.Helper()
	if err := db.Conn(t.Context()).QueryRowContext(t.Context(), "SELECT count(*) FROM audit_logs WHERE "+condition).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Old entries are deleted in batches under load, and no request waits long for a lock.
func TestPruningKeepsUpUnderLoad(t *testing.T) {
	t.Parallel()
	entries := 8_000
	if os.Getenv("TENANTRY_TEST_LONG") != "" {
		entries = 400_000
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		fillAudit(t, db, entries)
		at := clock.NewFixed(noon.Add(time.Hour))
		trail := audit.New(audit.Deps{DB: db, Clock: at})
		p := &pruner{clock: at, log: slog.New(slog.DiscardHandler), tables: []expiringTable{{Name: "audit_logs", Keep: time.Hour, Delete: trail.DeleteOld}}}
		ctx, stop := context.WithCancel(t.Context())
		waits := make(chan []time.Duration)
		machine := clock.System()
		go func() {
			var all []time.Duration
			for ctx.Err() == nil {
				began := machine.Now()
				err := db.Tx(ctx, func(ctx context.Context) error {
					return trail.Record(ctx, audit.Entry{Action: "beside", Resource: "r", ResourceID: "1"})
				})
				if err == nil {
					all = append(all, machine.Now().Sub(began))
				}
			}
			waits <- all
		}()
		before, began := countAudit(t, db, "action <> 'beside'"), machine.Now()
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := machine.Now().Sub(began)
		stop()
		all := <-waits
		slices.Sort(all)
		left := countAudit(t, db, "action <> 'beside'")
		if left != 1000 && took < 30*time.Second { // otherwise the disk is slow and the run hit its time limit
			t.Errorf("%d entries left, want the 1000 entries of the last hour", left)
		}
		longest := all[len(all)-1]
		t.Logf("%s: %d rows in %v, %.0f per second; meanwhile %d writes, median %v, longest %v", db.Dialect(), before-left, took,
			float64(before-left)/took.Seconds(), len(all), all[len(all)/2], longest)
		if longest > 10*time.Second {
			t.Errorf("a write waited for %v", longest)
		}
		if got := countAudit(t, db, "action = 'beside'"); got < int64(len(all)) {
			t.Errorf("%d of %d new entries exist", got, len(all))
		}
	})
}

// Each statement starts where the previous one ended, and a failing table does not block the
// others.
func TestPruningContinuesAfterErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var asked []time.Duration
	rows := 2500
	p := &pruner{clock: clock.NewFixed(noon), log: slog.New(slog.DiscardHandler), tables: []expiringTable{
		{Name: "first", Delete: func(context.Context, time.Time, time.Time, int32) ([]time.Time, error) { return nil, broken }},
		{Name: "second", Keep: time.Hour, Delete: func(_ context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
			if !before.Equal(noon.Add(-time.Hour)) {
				t.Errorf("before is %v", before)
			}
			if from.IsZero() {
				from = before.Add(-10 * time.Hour)
			}
			asked = append(asked, before.Sub(from))
			deleted := make([]time.Time, min(rows, int(limit)))
			rows -= len(deleted)
			for i := range deleted {
				deleted[i] = from.Add(time.Duration(i) * time.Millisecond)
			}
			return deleted, nil
		}},
	}}
	if err := p.Run(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "first") {
		t.Error(err)
	}
	ms := time.Millisecond
	if diff := cmp.Diff([]time.Duration{10 * time.Hour, 10*time.Hour - 999*ms, 10*time.Hour - 1998*ms}, asked); diff != "" || rows != 0 {
		t.Errorf("%d left: %s", rows, diff)
	}
}
