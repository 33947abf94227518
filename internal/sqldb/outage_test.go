package sqldb_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Errors of an unavailable database are distinguished from errors of a statement and of other
// external services.
func TestOutagesAreRecognised(t *testing.T) {
	t.Parallel()
	coded := func(code string) error { return &pgconn.PgError{Code: code} }
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for _, c := range []struct {
		name              string
		err               error
		unavailable, full bool
	}{
		{"nothing", nil, false, false},
		{"stopped by its administrator", coded("57P01"), true, false},
		{"crashed", coded("57P02"), true, false},
		{"starting", coded("57P03"), true, false},
		{"no connection left", coded("53300"), true, false},
		{"a standby", coded("25006"), true, false},
		{"connection failure", coded("08006"), true, false},
		{"protocol violation", coded("08P01"), true, false},
		{"a worker of Citus crashed", &pgconn.PgError{Code: "XX000", Message: "connection to the remote node failed: server closed the connection unexpectedly"}, true, false},
		{"a worker of Citus crashed at a commit", &pgconn.PgError{Code: "XX000", Message: "could not commit transaction for shard 102155 on at least one active node"}, true, false},
		{"a worker of Citus is away", &pgconn.PgError{Code: "XX000", Message: "failure on connection marked as essential: 127.0.0.1:25880"}, true, false},
		{"internal error", &pgconn.PgError{Code: "XX000", Message: "unexpected node"}, false, false},
		{"disk full", coded("53100"), false, true},
		{"out of memory", coded("53200"), false, false},
		{"unique violation", coded("23505"), false, false},
		{"canceled statement", coded("57014"), false, false},
		{"deadlock", coded("40P01"), false, false},
		{"refused", refused, true, false},
		{"refused to another user", &url.Error{Op: "Post", URL: "https://api.example.com", Err: refused}, false, false},
		{"bad connection", driver.ErrBadConn, true, false},
		{"connection given back", sql.ErrConnDone, true, false},
		{"cut", net.ErrClosed, true, false},
		{"ended in the middle", io.ErrUnexpectedEOF, true, false},
		{"ended", io.EOF, false, false},
		{"no row", sqldb.ErrNoRows, false, false},
		{"out of time", context.DeadlineExceeded, false, false},
		{"something else", errors.New("something else"), false, false},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("store: %w", sqldb.Wrap(err, "do something"))
		}
		if got := sqldb.IsUnavailable(err); got != c.unavailable {
			t.Errorf("%s: unavailable is %v", c.name, got)
		}
		if got := sqldb.IsFull(err); got != c.full {
			t.Errorf("%s: full is %v", c.name, got)
		}
	}
}

// When a server stops responding, pending statements and transactions end and new ones fail
// immediately. Both work again as soon as the server responds.
func TestAFrozenServer(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t, sqldb.Postgres)
	line, through := dbtest.NewLine(t, address)
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: through, Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ask := func(ctx context.Context) error {
		var one int
		return db.Conn(ctx).QueryRowContext(ctx, "SELECT 1").Scan(&one)
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	inside, ended := make(chan struct{}), make(chan error, 2)
	go func() {
		ended <- db.Tx(t.Context(), func(ctx context.Context) error {
			if err := ask(ctx); err != nil {
				return err
			}
			close(inside)
			for {
				if err := ask(ctx); err != nil {
					return err
				}
			}
		})
	}()
	<-inside
	line.Freeze()
	go func() { ended <- ask(t.Context()) }()
	for range 2 {
		select {
		case err := <-ended:
			if !sqldb.IsUnavailable(err) {
				t.Errorf("ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it still waits")
		}
	}
	if err := ask(t.Context()); !sqldb.IsUnavailable(err) {
		t.Errorf("query during the outage: %v", err)
	}
	if err := db.Ping(t.Context()); !sqldb.IsUnavailable(err) {
		t.Errorf("ping during the outage: %v", err)
	}
	line.Restore()
	for deadline := time.After(time.Minute); ; {
		err := ask(t.Context())
		if err == nil {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("not back: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := db.Tx(t.Context(), ask); err != nil {
		t.Errorf("a transaction afterwards: %v", err)
	}
}

// If one of two servers stops responding, the DB uses the other, even if the connections to the
// first stay open. It keeps using the other after the first responds again.
func TestAServerFallsSilentAndAnotherTakesItsPlace(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t, sqldb.Postgres)
	first, through := dbtest.NewLine(t, address)
	second, alsoThrough := dbtest.NewLine(t, address)
	u, err := url.Parse(through)
	if err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(alsoThrough)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("host", query.Get("host")+","+other.Query().Get("host"))
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: u.String(), Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ask := func(ctx context.Context) error {
		var one int
		return db.Conn(ctx).QueryRowContext(ctx, "SELECT 1").Scan(&one)
	}
	await := func() {
		t.Helper()
		testkit.Eventually(t, "the change to the other server", func() bool {
			err := ask(t.Context())
			if err != nil && !sqldb.IsUnavailable(err) {
				t.Fatal(err)
			}
			return err == nil
		})
	}
	await()
	for _, silent := range []*dbtest.Line{first, second} { // the second round switches back
		silent.Freeze()
		await()
		all := make(chan error, 20)
		for range cap(all) {
			go func() { all <- ask(t.Context()) }()
		}
		for range cap(all) {
			if err := <-all; err != nil {
				t.Error(err)
			}
		}
		silent.Restore()
		if err := ask(t.Context()); err != nil {
			t.Error(err)
		}
	}
	// A new process does not wait indefinitely for the unresponsive server.
	first.Freeze()
	late, err := sqldb.Open(t.Context(), sqldb.Config{URL: u.String(), Patience: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	first.Restore()
}

// Closing the DB while the server is away returns no error, because the watch has already closed
// the connections.
func TestCloseWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	line, through := dbtest.NewLine(t, dbtest.URL(t, sqldb.Postgres))
	away := make(told, 1)
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: through, Patience: dbtest.ConnTimeout, Log: slog.New(slog.NewTextHandler(away, nil))})
	if err != nil {
		t.Fatal(err)
	}
	var one int
	if err := db.Conn(t.Context()).QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil {
		t.Fatal(err)
	}
	line.Cut()
	select {
	case <-away:
	case <-time.After(time.Minute):
		t.Fatal("outage not detected")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// told is a log writer that receives a token when the database is logged as unavailable.
type told chan struct{}

func (c told) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("database unavailable")) {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// If the server is down, Open returns an error with the reason.
func TestOpenWithoutAServer(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = sqldb.Open(t.Context(), sqldb.Config{URL: "postgres://ada:hush@" + address + "/x"})
	if !sqldb.IsUnavailable(err) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v", err)
	}
}

// If the database was never full, the free space is not checked, so nothing is written to its
// folder.
func TestRoomIsLookedForOnlyAfterAFailure(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	db := dbtest.Open(t, sqldb.FileURL(filepath.Join(folder, "t.db")))
	if db.IsDiskFull() {
		t.Error("IsDiskFull is true before any write failed")
	}
	before, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		_ = db.IsDiskFull()
		if after, err := os.ReadDir(folder); err != nil || len(after) != len(before) {
			t.Errorf("check %s wrote something: %v, %v", strconv.Itoa(i), after, err)
		}
	}
}
