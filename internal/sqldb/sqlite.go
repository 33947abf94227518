package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/prepared"
	"github.com/tenantry/tenantry/internal/sqldb/versions"
)

// sqliteParams are the settings of every SQLite connection. With _txlock=immediate a
// transaction takes the write lock at its start, so it cannot fail halfway because another
// transaction holds the lock. With synchronous(FULL) a committed transaction survives a power
// cut. temp_store(MEMORY) keeps the undo journal of savepoints and large statements in memory.
// cache_size is 16 MiB. wal_autocheckpoint counts pages of 4 KiB: a commit that finds 16 MiB in
// the write-ahead log copies them into the file. _time_format and _timezone make stored times
// sort as text. _texttotime stays off, since it guesses at texts that look like times.
const sqliteParams = "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)" +
	"&_pragma=synchronous(FULL)&_busy_timeout=5000&_pragma=temp_store(MEMORY)&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(4000)&_dqs=0&_time_format=sqlite&_timezone=UTC"

// openSQLite opens two pools on one file. SQLite has a single writer, so one
// connection writes and callers queue for it in Go, fairly and without busy
// errors; the readers see the last commit and never wait for it. There are as
// many readers as cores: more of them only starve the writer.
func (db *DB) openSQLite(ctx context.Context, rawURL, table string) error {
	path, err := sqlitePath(rawURL)
	if err != nil {
		return err
	}
	if err := dbfile.Own(ctx, path, table); err != nil {
		return err
	}
	db.dialect, db.path = SQLite, path
	versions, writer := versions.New()
	if db.write, err = sqlitePool(path, sqliteParams, 1, writer); err != nil {
		return err
	}
	db.versions, db.groups = versions, newGrouped(db.write, writer)
	// The first connection turns the file into WAL mode, before a reader that
	// may not write needs it to be so.
	if err = db.write.PingContext(ctx); err == nil {
		db.read, err = sqlitePool(path, sqliteReads, max(2, runtime.GOMAXPROCS(0)), nil)
	}
	if err != nil {
		return errors.Join(err, db.write.Close())
	}
	if err := db.versions.Open(ctx, path, sqliteDSN(path, sqliteReads)); err != nil {
		db.log.DebugContext(ctx, "what was read from the database is not kept", "error", err)
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

// sqliteReads are the settings of connections that read.
const sqliteReads = sqliteParams + "&_query_only=1"

func sqliteDSN(path, params string) string {
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: params}
	return dsn.String()
}

func sqlitePool(path, params string, size int, watcher prepared.Watcher) (*sql.DB, error) {
	pool, err := prepared.OpenWatched(sqliteDSN(path, params), watcher)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxLifetime(0)
	return pool, nil
}

// bound returns args as SQLite stores them. It cuts times to microseconds, the precision of
// PostgreSQL, so that both databases return the same. Times, UUIDs and JSON become the texts that
// the driver and database/sql would make, in a third of the time: the rows of one statement often
// repeat a time. bound does not change args itself.
func bound(args []any) []any {
	var times timeTexts
	changed := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case time.Time:
			arg = times.of(v)
		case *time.Time:
			if arg = nil; v != nil {
				arg = times.of(*v)
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

// timeLayout is _time_format=sqlite of sqliteParams.
const timeLayout = "2006-01-02 15:04:05.999999999-07:00"

// timeTexts are the texts of a few times, as arguments.
type timeTexts struct {
	times [4]time.Time
	texts [4]any
	next  int
}

// of returns the text of a time.
func (t *timeTexts) of(at time.Time) any {
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
