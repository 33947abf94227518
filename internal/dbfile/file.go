// Package dbfile takes care of SQLite's files before they are opened.
package dbfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// What every SQLite file begins with.
const sqliteMagic = "SQLite format 3\x00"

// beingMade is how long a file that another process is making at this moment may be
// empty.
const beingMade = time.Second

// EnsureOwned makes sure that there is a database file, and refuses one that is not the service's
// before anything is written to it: a file that is empty, for what was in it is gone, one
// that is no SQLite database, and the database of another program, which has tables but
// not the named one.
func EnsureOwned(ctx context.Context, path, table string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// A new file is readable by its owner alone; SQLite gives the files beside it the
	// same mode.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	head, err := headOf(ctx, path)
	switch {
	case err != nil:
		return err
	case len(head) == 0:
		return fmt.Errorf("%s is empty: restore it from a backup, or remove it to begin anew", path)
	case !bytes.Equal(head, []byte(sqliteMagic)):
		return fmt.Errorf("%s is not a SQLite database", path)
	}
	foreign, err := isForeign(ctx, path, table)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if foreign {
		return fmt.Errorf("%s is the database of another program", path)
	}
	return nil
}

// headOf reads the first bytes of a file. An empty one gets a moment: another process may
// be making it.
func headOf(ctx context.Context, path string) ([]byte, error) {
	for wait := time.After(beingMade); ; {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		head, err := io.ReadAll(io.LimitReader(f, int64(len(sqliteMagic))))
		_ = f.Close() // it was only read
		if err != nil || len(head) > 0 {
			return head, err
		}
		select {
		case <-wait:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// isForeign reports whether a SQLite file has tables, but not the named one. Nothing is written to the file or beside it, unless
// there is a log to read already.
func isForeign(ctx context.Context, path, table string) (foreign bool, err error) {
	db, err := openToRead(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, `SELECT count(*) > 0 AND sum(name = ?) = 0 FROM sqlite_schema WHERE type = 'table'`, table).Scan(&foreign)
	return foreign, err
}
