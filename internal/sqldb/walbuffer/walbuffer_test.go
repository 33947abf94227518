package walbuffer_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tenantry/tenantry/internal/sqldb/walbuffer"
)

// open opens a database with one connection, with the files of this package.
func open(t *testing.T, path, more string) *sql.Conn {
	t.Helper()
	if err := walbuffer.Register(); err != nil {
		t.Fatal(err)
	}
	return connect(t, path, "&vfs="+walbuffer.VFS+more)
}

func connect(t *testing.T, path, more string) *sql.Conn {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+more)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func run(t *testing.T, conn *sql.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func number(t *testing.T, conn *sql.Conn, query string) (n int) {
	t.Helper()
	if err := conn.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Whatever a commit consists of, from a row to more than is gathered at once and more than the
// cache holds, when it is answered a copy of the files has it: as they are after a process was
// killed. Others see it as well, and nothing of what was undone.
func TestEveryCommitIsInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	conn := open(t, path, "&_pragma=cache_size(8)&_pragma=wal_autocheckpoint(100)")
	run(t, conn, "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT)")
	run(t, conn, "CREATE INDEX b ON a (text)")
	other := connect(t, path, "&_query_only=1")
	random := rand.New(rand.NewPCG(1, 2))
	rows := 0
	for range 25 {
		run(t, conn, "BEGIN IMMEDIATE")
		added := insert(t, conn, random)
		switch random.IntN(4) {
		case 0:
			run(t, conn, "SAVEPOINT s")
			insert(t, conn, random)
			run(t, conn, "ROLLBACK TO s")
		case 1:
			run(t, conn, "ROLLBACK")
			run(t, conn, "BEGIN IMMEDIATE")
			added = 0
		case 2:
			run(t, conn, "UPDATE a SET text = text || 'x' WHERE id % 7 = 0")
		}
		run(t, conn, "COMMIT")
		rows += added
		if random.IntN(5) == 0 {
			run(t, conn, "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		if n := number(t, other, "SELECT count(*) FROM a"); n != rows {
			t.Fatalf("another connection sees %d rows, want %d", n, rows)
		}
		if n := inCopy(t, path); n != rows {
			t.Fatalf("a copy of the files has %d rows, want %d", n, rows)
		}
	}
}

// insert adds rows of different lengths and returns how many.
func insert(t *testing.T, conn *sql.Conn, random *rand.Rand) int {
	t.Helper()
	n := []int{1, 20, 300, 1500}[random.IntN(4)]
	run(t, conn, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO a (text) SELECT hex(randomblob(1 + abs(random()) % 200)) FROM n`, n)
	return n
}

// inCopy copies the files of a database and returns how many rows the copy has.
func inCopy(t *testing.T, path string) int {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		bytes, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conn := connect(t, copied, "")
	var state string
	if err := conn.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&state); err != nil || state != "ok" {
		t.Fatalf("the copy's integrity: %s, %v", state, err)
	}
	return number(t, conn, "SELECT count(*) FROM a")
}

// A log that cannot be written fails the commit, which leaves nothing; the next succeeds.
func TestFullDisk(t *testing.T) { //nolint:paralleltest // writes of all logs fail
	path := filepath.Join(t.TempDir(), "a.db")
	conn := open(t, path, "")
	run(t, conn, "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT)")
	for _, rows := range []int{1, 5000} { // the second is written in pieces
		walbuffer.Refuse(true)
		err := commit(t.Context(), conn, rows)
		walbuffer.Refuse(false)
		var failed *sqlite.Error
		if !errors.As(err, &failed) || failed.Code() != sqlite3.SQLITE_FULL {
			t.Errorf("%d rows with a full disk: %v, want SQLITE_FULL", rows, err)
		}
		_, _ = conn.ExecContext(t.Context(), "ROLLBACK")
		if n := number(t, conn, "SELECT count(*) FROM a"); n != 0 {
			t.Fatalf("%d rows are left, want none", n)
		}
	}
	if err := commit(t.Context(), conn, 10); err != nil {
		t.Fatal(err)
	}
	if n := inCopy(t, path); n != 10 {
		t.Errorf("a copy of the files has %d rows, want 10", n)
	}
}

func commit(ctx context.Context, conn *sql.Conn, rows int) error {
	for _, statement := range []string{
		"BEGIN IMMEDIATE",
		fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO a (text) SELECT hex(randomblob(100)) FROM n`, rows),
		"COMMIT",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
