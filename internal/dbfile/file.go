// Package dbfile checks and copies SQLite files before they are opened, and opens them.
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

// sqliteMagic is the start of every SQLite file.
const sqliteMagic = "SQLite format 3\x00"

// creationGrace is how long a file can be empty while another process creates it.
const creationGrace = time.Second

// EnsureOwned creates a database file if it does not exist. It returns an error, without writing
// anything, if the file exists but does not belong to the service: it is empty because its content
// was lost, it is not a SQLite database, or it has tables but not the named one, so it belongs to
// another program.
func EnsureOwned(ctx context.Context, path, table string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// Only the owner can read a new file. SQLite creates its other files with the same mode.
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
		return fmt.Errorf("%s is empty: restore it from a backup, or remove it to start over", path)
	case !bytes.Equal(head, []byte(sqliteMagic)):
		return fmt.Errorf("%s is not a SQLite database", path)
	}
	foreign, err := isForeign(ctx, path, table)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if foreign {
		return fmt.Errorf("%s is a database of a different program", path)
	}
	return nil
}

// headOf reads the first bytes of a file. It waits for an empty file, which another process may be
// creating.
func headOf(ctx context.Context, path string) ([]byte, error) {
	for wait := time.After(creationGrace); ; {
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

// isForeign reports whether a SQLite file has tables but not the named one. It writes nothing,
// unless there is a write-ahead log to read.
func isForeign(ctx context.Context, path, table string) (foreign bool, err error) {
	db, err := openToRead(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, `SELECT count(*) > 0 AND sum(name = ?) = 0 FROM sqlite_schema WHERE type = 'table'`, table).Scan(&foreign)
	return foreign, err
}
