package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/dbfile"
)

// sqliteParams are the settings of every SQLite connection. With _txlock=immediate a transaction
// takes the write lock at its start, so it cannot fail halfway because another transaction holds
// the lock. With synchronous(FULL) a committed transaction survives a power cut. temp_store(MEMORY)
// keeps the undo journal of savepoints and large statements in memory. cache_size is 16 MiB.
// wal_autocheckpoint counts pages of 4 KiB: a commit that finds 16 MiB in the write-ahead log
// copies them into the file. _time_format and _timezone make stored times sort as text. _texttotime
// stays off, because it would convert strings that look like times.
const sqliteParams = "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)" +
	"&_pragma=synchronous(FULL)&_busy_timeout=5000&_pragma=temp_store(MEMORY)&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(4000)&_dqs=0&_time_format=sqlite&_timezone=UTC"

// openSQLite opens two pools on one file. SQLite has a single writer, so one connection writes and
// callers queue for it in Go, which is fair and avoids busy errors. Readers see the last commit and
// never wait for the writer. There are as many readers as cores; more would only starve the writer.
func (db *DB) openSQLite(ctx context.Context, rawURL, table string) error {
	path, err := sqlitePath(rawURL)
	if err != nil {
		return err
	}
	if err := dbfile.EnsureOwned(ctx, path, table); err != nil {
		return err
	}
	db.dialect, db.path = SQLite, path
	db.changes = newChanges()
	if db.write, err = sqlitePool(path, sqliteParams, 1, db.changes.installHook); err != nil {
		return err
	}
	db.groups = newGrouped(db.write, db.changes)
	// The first connection switches the file to WAL mode before a read-only connection depends on
	// it.
	if err = db.write.PingContext(ctx); err == nil {
		db.read, err = sqlitePool(path, sqliteReads, max(2, runtime.GOMAXPROCS(0)), nil)
	}
	if err != nil {
		return errors.Join(err, db.write.Close())
	}
	return nil
}

func sqlitePath(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", err
	}
	if u.Host != "" || u.Path == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%q is not of the form sqlite:///path/to/file.db", rawURL)
	}
	return filepath.Abs(FilePath(u))
}

// sqliteReads are the settings of read connections.
const sqliteReads = sqliteParams + "&_query_only=1"

func sqliteDSN(path, params string) string {
	return dbfile.DSN(path, params)
}

func sqlitePool(path, params string, size int, connected func(driver.Conn) error) (*sql.DB, error) {
	pool, err := dbfile.Open(sqliteDSN(path, params), connected)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxLifetime(0)
	return pool, nil
}

// truncateTimes converts args to the form that SQLite stores. Times are truncated to microseconds,
// as in PostgreSQL, so that both databases return the same values. Times, UUIDs and JSON become the
// same texts that the driver and database/sql would produce, but in a third of the time, because
// statements with many rows repeat the same times. args itself is not modified.
func truncateTimes(args []any) []any {
	var times timeTexts
	changed := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case time.Time:
			arg = times.textOf(v)
		case *time.Time:
			if arg = nil; v != nil {
				arg = times.textOf(*v)
			}
		case uuid.UUID:
			arg = v.String()
		case JSON:
			if arg = nil; v != nil {
				arg = string(v)
			}
		}
		changed[i] = arg
	}
	return changed
}

// timeLayout is the layout of _time_format=sqlite in sqliteParams.
const timeLayout = "2006-01-02 15:04:05.999999999-07:00"

// timeTexts caches a few formatted times.
type timeTexts struct {
	times [4]time.Time
	texts [4]any
	next  int
}

// textOf returns a time in the format that SQLite stores.
func (t *timeTexts) textOf(at time.Time) any {
	for i, known := range t.times {
		if t.texts[i] != nil && known.Equal(at) {
			return t.texts[i]
		}
	}
	text := any(at.UTC().Truncate(time.Microsecond).Format(timeLayout))
	t.times[t.next], t.texts[t.next] = at, text
	t.next = (t.next + 1) % len(t.times)
	return text
}
