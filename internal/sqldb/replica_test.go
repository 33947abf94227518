package sqldb_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// A report reads from the standby, and finds what anybody was answered before it, however many
// write meanwhile and whether the standby follows or not.
func TestReportsSeeWhatWasCommitted(t *testing.T) {
	t.Parallel()
	primary, standby := dbtest.WithStandby(t)
	db := dbtest.OpenWith(t, sqldb.Config{URL: primary, ReplicaURL: standby})
	second := dbtest.OpenWith(t, sqldb.Config{URL: standby})
	readsFromStandby(t, db)

	var all sync.WaitGroup
	for writer := range 8 {
		all.Go(func() {
			for n := range 40 {
				if err := put(t.Context(), db, fmt.Sprintf("%d-%d", writer, n)); err != nil {
					t.Error(err)
					return
				}
				if got := count(t, db, fmt.Sprintf("%d-%%", writer)); got != n+1 {
					t.Errorf("writer %d has written %d rows, and its report has %d", writer, n+1, got)
				}
			}
		})
	}
	all.Wait()
	if !onStandby(t, db) {
		t.Error("after the writers reports are not read from the standby")
	}

	run(t, second, "SELECT pg_wal_replay_pause()")
	for n := range 3 {
		if err := put(t.Context(), db, fmt.Sprintf("paused-%d", n)); err != nil {
			t.Fatal(err)
		}
		if got := count(t, db, "paused-%"); got != n+1 {
			t.Errorf("beside a standby that stands still %d rows are %d", n+1, got)
		}
	}
	if onStandby(t, db) {
		t.Error("a standby that stands still was read from")
	}
	run(t, second, "SELECT pg_wal_replay_resume()")
	readsFromStandby(t, db)

	err := db.Tx(t.Context(), func(ctx context.Context) error {
		if err := put(ctx, db, "inside"); err != nil {
			return err
		}
		if got := count(t, db, "inside", ctx); got != 1 {
			t.Errorf("a report within a transaction has %d of its rows", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What writes within a report writes to the database.
func TestTransactionOfAReport(t *testing.T) {
	t.Parallel()
	primary, standby := dbtest.WithStandby(t)
	db := dbtest.OpenWith(t, sqldb.Config{URL: primary, ReplicaURL: standby})
	readsFromStandby(t, db)
	report := db.Report(t.Context())
	if err := db.Tx(report, func(ctx context.Context) error { return put(ctx, db, "of a report") }); err != nil {
		t.Error(err)
	}
	if got := count(t, db, "of a report"); got != 1 {
		t.Errorf("%d rows", got)
	}
}

// A server that streams from no other one, or from another one, is never read from.
func TestAForeignReplica(t *testing.T) {
	t.Parallel()
	primary, standby := dbtest.WithStandby(t)
	for name, replica := range map[string]string{
		"another server's database": dbtest.URL(t, sqldb.Postgres),
		"the server itself":         primary,
		"another database":          strings.Replace(standby, "/tenantry?", "/postgres?", 1),
		"nobody":                    "postgres://127.0.0.1:1/tenantry",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.OpenWith(t, sqldb.Config{URL: primary, ReplicaURL: replica})
			for range 3 {
				if onStandby(t, db) || count(t, db, "none") != 0 {
					t.Error("it was read from")
				}
			}
		})
	}
}

func TestSQLiteHasNoReplica(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: dbtest.URL(t, sqldb.SQLite), ReplicaURL: "postgres://x/y"})
	if err == nil {
		t.Error("it was taken", db.Close())
	}
}

func put(ctx context.Context, db *sqldb.DB, key string) error {
	_, err := db.Conn(ctx).ExecContext(ctx, "INSERT INTO installation (key, value) VALUES ($1::text, '')", key)
	return err
}

// count returns how many keys a report finds.
func count(t *testing.T, db *sqldb.DB, like string, within ...context.Context) (n int) {
	t.Helper()
	ctx := t.Context()
	if len(within) > 0 {
		ctx = within[0]
	}
	ctx = db.Report(ctx)
	if err := db.Conn(ctx).QueryRowContext(ctx, "SELECT count(*) FROM installation WHERE key LIKE $1::text", like).Scan(&n); err != nil {
		t.Error(err)
	}
	return n
}

// onStandby reports whether a report is read from a standby.
func onStandby(t *testing.T, db *sqldb.DB) (is bool) {
	t.Helper()
	ctx := db.Report(t.Context())
	if err := db.Conn(ctx).QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&is); err != nil {
		t.Error(err)
	}
	return is
}

// readsFromStandby waits until reports are read from the standby.
func readsFromStandby(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for range 3000 {
		if onStandby(t, db) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("reports are not read from the standby")
}

func run(t *testing.T, db *sqldb.DB, statement string) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
