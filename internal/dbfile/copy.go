package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/tenantry/tenantry/internal/sqldb/stmtcache"
)

// pagesPerStep is how many pages are copied before the context is looked at, 4 MiB.
const pagesPerStep = 1024

// backuper is what the driver's connections can do.
type backuper interface {
	NewBackup(to string) (*sqlite.Backup, error)
}

// CopyLive writes the database of a file that may be in use, as it is at one moment, to a
// new file that needs no other beside it: what is still in the log of the first is in the
// copy. Writers of the first go on meanwhile. The copy is checked, and is there whole or not
// at all. The error is fs.ErrExist when there is a file of that name.
func CopyLive(ctx context.Context, from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err // opening it would make it
	}
	return copyFile(ctx, from, "mode=rw&_query_only=1&_busy_timeout=5000", to)
}

// Copy is CopyLive for a file that nobody uses, which is not touched.
func Copy(ctx context.Context, from, to string) error {
	return copyFile(ctx, from, readOnly(from), to)
}

func copyFile(ctx context.Context, from, params, to string) (err error) {
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "write", Path: to, Err: fs.ErrExist}
	}
	part, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-*") // for its owner alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	if err := part.Close(); err != nil {
		return err
	}
	if err := copyPages(ctx, stmtcache.DSN(from, params), part.Name()); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if err := finishCopy(ctx, part.Name()); err != nil {
		return fmt.Errorf("the copy of %s: %w", from, err)
	}
	if err := os.Rename(part.Name(), to); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(to))
}

// copyPages copies within one read transaction, so that what is written meanwhile neither
// shows nor makes the copying begin anew.
func copyPages(ctx context.Context, from, to string) (err error) {
	db, err := sql.Open("sqlite", from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil { // takes the moment
		return err
	}
	return conn.Raw(func(driver any) error {
		b, err := driver.(backuper).NewBackup(stmtcache.DSN(to, ""))
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if more, err = b.Step(pagesPerStep); err == nil {
				err = ctx.Err()
			}
		}
		return errors.Join(err, b.Finish())
	})
}

// finishCopy makes a copy a plain file without a log, checks it, and makes it durable.
func finishCopy(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", stmtcache.DSN(path, ""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = DELETE"); err != nil {
		return err
	}
	if err := quickCheck(ctx, db); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs no file that is open to read
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check reports what is wrong inside a database file, with SQLite's quick check.
func Check(ctx context.Context, path string) (err error) {
	db, err := openToRead(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return quickCheck(ctx, db)
}

func quickCheck(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("it is damaged: %s", verdict)
	}
	return nil
}

// openToRead opens a file without changing it, or anything beside it unless there is a log
// to read already.
func openToRead(path string) (*sql.DB, error) {
	return sql.Open("sqlite", stmtcache.DSN(path, readOnly(path)))
}

// readOnly returns the parameters to open a file that nobody uses.
func readOnly(path string) string {
	const params = "mode=ro&_query_only=1&_busy_timeout=5000"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return params + "&immutable=1"
	}
	return params
}
