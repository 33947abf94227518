package dbfile_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/dbfile"
)

// A copy is a single file and contains all earlier commits, including commits that are only in the
// write-ahead log. Writers continue, and each of their transactions appears in the copy completely
// or not at all.
func TestCopyLive(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	from := filepath.Join(folder, "live.db")
	made(t, from, "ours", "WAL")
	db, err := sql.Open("sqlite", dbfile.DSN(from, "_txlock=immediate&_busy_timeout=10000"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	pair := func(n int) {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		for range 2 { // both rows or none
			if _, err := tx.ExecContext(t.Context(), `INSERT INTO ours VALUES (?)`, n); err != nil {
				t.Error(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
	for n := range 200 {
		pair(n)
	}
	stop := make(chan struct{})
	written := 200
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				pair(written)
				written++
			}
		}
	})
	for _, name := range []string{"one", "two", "three"} {
		to := filepath.Join(folder, name)
		if err := dbfile.CopyLive(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
		copied, err := sql.Open("sqlite", dbfile.DSN(to, "mode=ro&immutable=1"))
		if err != nil {
			t.Fatal(err)
		}
		var rows, numbers, odd int
		var mode string
		err = errors.Join(
			copied.QueryRowContext(t.Context(), `SELECT count(*), count(DISTINCT a) FROM ours`).Scan(&rows, &numbers),
			copied.QueryRowContext(t.Context(), `SELECT count(*) FROM (SELECT 1 FROM ours GROUP BY a HAVING count(*) <> 2)`).Scan(&odd),
			copied.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&mode),
			copied.Close())
		if err != nil || numbers < 200 || rows != 2*numbers || odd != 0 || mode == "wal" {
			t.Errorf("%s: %d rows of %d numbers, %d halves, journal %q, %v", name, rows, numbers, odd, mode, err)
		}
	}
	close(stop)
	writer.Wait()
	if written == 200 {
		t.Error("no writes during the copy")
	}
	if err := dbfile.CopyLive(t.Context(), from, filepath.Join(folder, "one")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("copy to an existing file: %v", err)
	}
	if err := dbfile.CopyLive(t.Context(), filepath.Join(folder, "absent"), filepath.Join(folder, "four")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("copy of a missing file: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) != 6 { // three copies, the database, its log and its index
		t.Errorf("the folder contains %v, %v", left, err)
	}
}

// A damaged file is not copied, and no partial copy remains.
func TestCopyOfADamagedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	made(t, from, "ours", "DELETE")
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := dbfile.Check(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	clear(text[4096:]) // the page of the table
	if err := os.WriteFile(from, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"check": dbfile.Check(t.Context(), from), "copy": dbfile.Copy(t.Context(), from, to)} {
		if err == nil || !strings.Contains(err.Error(), "the database is corrupt") && !strings.Contains(err.Error(), "malformed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
}
