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

// gathering is a connection whose commits are gathered.
type gathering struct {
	*sql.Conn
	log *walbuffer.Log
}

func open(t *testing.T, path, more string) gathering {
	t.Helper()
	log, err := walbuffer.New()
	if err != nil {
		t.Fatal(err)
	}
	return gathering{connect(t, path, "&vfs="+log.VFS()+more), log}
}

func (g gathering) commit(ctx context.Context) error {
	g.log.Gather()
	defer g.log.Done()
	_, err := g.ExecContext(ctx, "COMMIT")
	return err
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
	run(t, conn.Conn, "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT)")
	run(t, conn.Conn, "CREATE INDEX b ON a (text)")
	other := connect(t, path, "&_query_only=1")
	random := rand.New(rand.NewPCG(1, 2))
	rows := 0
	for range 25 {
		run(t, conn.Conn, "BEGIN IMMEDIATE")
		added := insert(t, conn.Conn, random)
		switch random.IntN(4) {
		case 0:
			run(t, conn.Conn, "SAVEPOINT s")
			insert(t, conn.Conn, random)
			run(t, conn.Conn, "ROLLBACK TO s")
		case 1:
			run(t, conn.Conn, "ROLLBACK")
			run(t, conn.Conn, "BEGIN IMMEDIATE")
			added = 0
		case 2:
			run(t, conn.Conn, "UPDATE a SET text = text || 'x' WHERE id % 7 = 0")
		}
		if err := conn.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		rows += added
		if random.IntN(5) == 0 {
			run(t, conn.Conn, "PRAGMA wal_checkpoint(TRUNCATE)")
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
	run(t, conn.Conn, "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT)")
	for _, rows := range []int{1, 5000} { // the second is written in pieces
		walbuffer.Refuse(true)
		err := conn.add(t.Context(), rows)
		walbuffer.Refuse(false)
		var failed *sqlite.Error
		if !errors.As(err, &failed) || failed.Code() != sqlite3.SQLITE_FULL {
			t.Errorf("%d rows with a full disk: %v, want SQLITE_FULL", rows, err)
		}
		_, _ = conn.ExecContext(t.Context(), "ROLLBACK")
		if n := number(t, conn.Conn, "SELECT count(*) FROM a"); n != 0 {
			t.Fatalf("%d rows are left, want none", n)
		}
	}
	if err := conn.add(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	if n := inCopy(t, path); n != 10 {
		t.Errorf("a copy of the files has %d rows, want 10", n)
	}
}

// add commits some rows.
func (g gathering) add(ctx context.Context, rows int) error {
	if _, err := g.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if _, err := g.ExecContext(ctx, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO a (text) SELECT hex(randomblob(100)) FROM n`, rows)); err != nil {
		return err
	}
	return g.commit(ctx)
}

// What a transaction wrote that was undone, because it did not fit into the cache, is not
// written over what another process has written since.
func TestOthersWriteAfterARollback(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	conn := open(t, path, "&_pragma=cache_size(8)")
	run(t, conn.Conn, "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT)")
	other := connect(t, path, "")
	for i := range 3 {
		run(t, conn.Conn, "PRAGMA wal_checkpoint(TRUNCATE)") // so that undoing reads nothing from the log
		run(t, conn.Conn, "BEGIN IMMEDIATE")
		run(t, conn.Conn, numbers+"INSERT INTO a (text) SELECT hex(randomblob(1000)) FROM n WHERE i <= 100")
		run(t, conn.Conn, "ROLLBACK")
		run(t, other, numbers+"INSERT INTO a (text) SELECT hex(randomblob(1000)) FROM n WHERE i <= 200")
		if err := conn.add(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if n := inCopy(t, path); n != 201*(i+1) {
			t.Fatalf("a copy of the files has %d rows, want %d", n, 201*(i+1))
		}
	}
}

// numbers begins a statement with a table n of the numbers i.
const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
