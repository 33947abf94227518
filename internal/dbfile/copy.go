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
)

// pagesPerStep is the number of pages (4 MiB) copied between two checks of the context.
const pagesPerStep = 1024

// backuper is implemented by the connections of the driver.
type backuper interface {
	NewBackup(to string) (*sqlite.Backup, error)
}

// CopyLive copies a database that may be in use to a new, single file. The copy is a consistent
// snapshot that includes the write-ahead log. Writers are not blocked. CopyLive checks the copy,
// and leaves no file if it fails. It returns fs.ErrExist if the new file already exists.
func CopyLive(ctx context.Context, from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err // opening the file would create it
	}
	return copyFile(ctx, from, "mode=rw&_query_only=1&_busy_timeout=5000", to)
}

// Copy is like CopyLive for a file that is not in use. It does not modify the file.
func Copy(ctx context.Context, from, to string) error {
	return copyFile(ctx, from, readOnly(from), to)
}

func copyFile(ctx context.Context, from, params, to string) (err error) {
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "write", Path: to, Err: fs.ErrExist}
	}
	part, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".part-*") // readable only by its owner
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
	if err := copyPages(ctx, DSN(from, params), part.Name()); err != nil {
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

// copyPages copies within one read transaction, so that concurrent writes neither appear in the
// copy nor restart it.
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
	if _, err := conn.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil { // starts the read transaction
		return err
	}
	return conn.Raw(func(driver any) error {
		b, err := driver.(backuper).NewBackup(DSN(to, ""))
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

// finishCopy converts a copy to a single file without a log, checks it, and syncs it to disk.
func finishCopy(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", DSN(path, ""))
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
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows cannot sync a file that is open read-only
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Check runs SQLite's quick check on a database file and returns an error if the file is damaged.
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
		return fmt.Errorf("the database is corrupt: %s", verdict)
	}
	return nil
}

// openToRead opens a file without changing it. It creates no other files, unless there is a log to
// read.
func openToRead(path string) (*sql.DB, error) {
	return sql.Open("sqlite", DSN(path, readOnly(path)))
}

// readOnly returns the parameters to open a file that is not in use.
func readOnly(path string) string {
	const params = "mode=ro&_query_only=1&_busy_timeout=5000"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return params + "&immutable=1"
	}
	return params
}
