package prune_test

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
	"github.com/tenantry/tenantry/internal/prune"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

var noon = time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC)

// count returns the number of rows of a query.
func count(t testing.TB, db *sqldb.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := db.Conn(t.Context()).QueryRowContext(t.Context(), "SELECT count(*) FROM "+query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The service deletes expired rows and keeps the others.
func TestRetention(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Impersonate(s.Admin(), ada).Want(200)
		s.Call("POST", ada.Path("/team/invitations"), ada.Token, apptest.Object{"email": "eve@example.com", "role": "member"}).Want(201)
		entries, now := count(t, s.DB(), "audit_logs"), clock.System().Now()
		if entries == 0 || count(t, s.DB(), "impersonation_logs") == 0 || count(t, s.DB(), "invitations") != 1 {
			t.Fatal("no rows to delete")
		}
		apptest.Exec(t, s.DB(), `INSERT INTO psp_events (id, type, object_id, received_at, handled_at) VALUES ('evt_old', 'x', 'y', $1, $1), ('evt_new', 'x', 'y', $2, $2)`,
			now.Add(-20*apptest.Day), now.Add(5*apptest.Day))
		for id, died := range map[string]time.Time{"old": now.Add(-20 * apptest.Day), "new": now.Add(5 * apptest.Day)} {
			apptest.Exec(t, s.DB(), `INSERT INTO jobs (id, kind, payload, due_at, dead_at, created_at) VALUES ($1, $2, '{}', $3, $3, $3)`, sqldb.NewID(), id, died)
		}
		s.Advance(15 * apptest.Day)
		apptest.Eventually(t, "old deliveries and dead jobs are deleted", func() bool {
			return count(t, s.DB(), "psp_events WHERE id = 'evt_old'")+count(t, s.DB(), "jobs WHERE kind = 'old'") == 0
		})
		for _, kept := range []string{"psp_events WHERE id = 'evt_new'", "jobs WHERE kind = 'new'"} {
			if count(t, s.DB(), kept) != 1 {
				t.Errorf("gone before its time: %s", kept)
			}
		}
		if got := count(t, s.DB(), "audit_logs"); got < entries {
			t.Errorf("%d of %d entries after 15 days", got, entries)
		}
		apptest.Exec(t, s.DB(), `INSERT INTO psp_events (id, type, object_id, received_at) VALUES ('evt_waits', 'x', 'z', $1)`, now)
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"to": now.Add(435 * apptest.Day).Format(time.RFC3339)}).Want(200)
		apptest.Eventually(t, "the trail, the log and invitations end", func() bool {
			// A run in progress during the jump used the time before it. The next run is ten
			// minutes later.
			s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10m"}).Want(200)
			return count(t, s.DB(), "audit_logs WHERE created_at < $1", now.Add(apptest.Day))+
				count(t, s.DB(), "impersonation_logs WHERE created_at < $1", now.Add(apptest.Day))+count(t, s.DB(), "invitations") == 0
		})
		if count(t, s.DB(), "psp_events WHERE id = 'evt_waits'") != 1 {
			t.Error("a notification that was never handled is forgotten")
		}
	})
}

// A mail that can never be sent remains as a dead job for weeks, without the token of its link.
func TestDeadMailHasNoToken(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := strings.Repeat("tOk3n", 12) + "abcd"
		payload := `{"to":"no address","subject":"Reset","text":"Open https://x.example/reset-password?token=` + token + `&email=a"}`
		id := sqldb.NewID()
		apptest.Exec(t, s.DB(), `INSERT INTO jobs (id, kind, payload, due_at, created_at) VALUES ($1, 'mail.send', $2, $3, $3)`, id, payload, clock.System().Now())
		var kept string
		apptest.Eventually(t, "the job is dead", func() bool {
			row := s.DB().Conn(t.Context()).QueryRowContext(t.Context(), `SELECT payload FROM jobs WHERE id = $1 AND dead_at IS NOT NULL`, id)
			return row.Scan(&kept) == nil
		})
		if strings.Contains(kept, token) || !strings.Contains(kept, "token=[removed]") || !strings.Contains(kept, "Reset") {
			t.Errorf("a dead job is kept with %s", kept)
		}
	})
}

// fill adds entries to the audit log, one per second, the last one at noon.
func fill(t testing.TB, db *sqldb.DB, entries int) {
	t.Helper()
	apptest.Exec(t, db, `INSERT INTO audit_logs (action, resource, resource_id, before, after, ip, user_agent, created_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'x', 'y', 'z', $2, $2, '', '', $1 FROM n`, noon, sqldb.JSON(`{}`))
	for ; entries > 1000; entries -= 1000 {
		at := noon.Add(-time.Duration(entries) * time.Second)
		apptest.Exec(t, db, `INSERT INTO audit_logs (action, resource, resource_id, before, after, ip, user_agent, created_at)
			SELECT 'tenant.updated', 'tenant', 'x', $1, $1, '192.0.2.1', 'a browser', $2 FROM audit_logs ORDER BY id LIMIT 1000`,
			sqldb.JSON(`{"settings":{"locale":"en","theme":"dark","x":"0123456789012345678901234567890123456789"}}`), at)
	}
}

// Old entries are deleted in batches under load, and no request waits long for a lock.
func TestPruningKeepsUpUnderLoad(t *testing.T) {
	t.Parallel()
	entries := 8_000
	if os.Getenv("TENANTRY_TEST_LONG") != "" {
		entries = 400_000
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		fill(t, db, entries)
		at := clock.NewFixed(noon.Add(time.Hour))
		trail := audit.New(audit.Deps{DB: db, Clock: at})
		p := prune.New(at, slog.New(slog.DiscardHandler), prune.Table{Name: "audit_logs", Keep: time.Hour, Delete: trail.DeleteOld})
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
		before, began := count(t, db, "audit_logs WHERE action <> 'beside'"), machine.Now()
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := machine.Now().Sub(began)
		stop()
		all := <-waits
		slices.Sort(all)
		left := count(t, db, "audit_logs WHERE action <> 'beside'")
		if left != 1000 && took < 30*time.Second { // otherwise the disk is slow and the run hit its time limit
			t.Errorf("%d entries left, want the 1000 entries of the last hour", left)
		}
		longest := all[len(all)-1]
		t.Logf("%s: %d rows in %v, %.0f per second; meanwhile %d writes, median %v, longest %v", db.Dialect(), before-left, took,
			float64(before-left)/took.Seconds(), len(all), all[len(all)/2], longest)
		if longest > 10*time.Second {
			t.Errorf("a write waited for %v", longest)
		}
		if got := count(t, db, "audit_logs WHERE action = 'beside'"); got < int64(len(all)) {
			t.Errorf("%d of %d new entries exist", got, len(all))
		}
	})
}

// Each statement starts where the previous one ended, and a failing table does not block the
// others.
func TestRunContinuesAfterErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var asked []time.Duration
	rows := 2500
	err := prune.New(clock.NewFixed(noon), slog.New(slog.DiscardHandler),
		prune.Table{Name: "first", Delete: func(context.Context, time.Time, time.Time, int32) ([]time.Time, error) { return nil, broken }},
		prune.Table{Name: "second", Keep: time.Hour, Delete: func(_ context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
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
	).Run(t.Context())
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "first") {
		t.Error(err)
	}
	ms := time.Millisecond
	if diff := cmp.Diff([]time.Duration{10 * time.Hour, 10*time.Hour - 999*ms, 10*time.Hour - 1998*ms}, asked); diff != "" || rows != 0 {
		t.Errorf("%d left: %s", rows, diff)
	}
}
