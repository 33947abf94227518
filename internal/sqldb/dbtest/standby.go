package dbtest

import (
	"context"
	"net/url"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// streamed are the settings of servers that stream to a standby.
const streamed = "wal_level = replica\nmax_wal_senders = 4\nsynchronous_commit = on\n"

// WithStandby returns the URLs of a fresh, migrated database on a server of its own and of the
// same database on a standby that streams from it. Both go when t ends. It skips or fails t like
// New.
func WithStandby(t testing.TB) (primary, standby string) {
	t.Helper()
	if _, err := findPrograms(); err != nil {
		missing(t, err, t.Skipf)
	}
	first := leashed(t, "")
	second := leashed(t, first)
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	admin := OpenWith(t, sqldb.Config{URL: first})
	if _, err := admin.Conn(ctx).ExecContext(ctx, "CREATE DATABASE tenantry"); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	primary, standby = databaseOf(t, first), databaseOf(t, second)
	if err := migrate(primary); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return primary, standby
}

// leashed starts a server, of which primary is the one to follow, until t ends.
func leashed(t testing.TB, primary string) string {
	t.Helper()
	address, leash, err := startServer(streamed, primary)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { _ = leash.Close() })
	return address
}

func databaseOf(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/tenantry"
	return u.String()
}
