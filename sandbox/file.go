package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// openDatabase opens the SQLite file at path. If the file is missing, it creates it with access for
// the owner only. It refuses the database of another program.
func openDatabase(ctx context.Context, path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, err
	}
	if err := checkOwner(ctx, path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dataSource(path, parameters))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// createFile creates the file at path and its folder if they are missing.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkOwner returns an error if the file is not a SQLite database, or is the database of another
// program: if it has tables, but not the sandbox's. It does not write to the file.
func checkOwner(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", dataSource(path, "mode=ro&_query_only=1&_busy_timeout=5000"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var isForeign bool
	err = db.QueryRowContext(ctx, `SELECT count(*) > 0 AND sum(name = ?) = 0 FROM sqlite_schema WHERE type = 'table'`, settingsTable).Scan(&isForeign)
	var failed *sqlite.Error
	switch {
	case errors.As(err, &failed) && failed.Code() == sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s is not a SQLite database", path)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case isForeign:
		return fmt.Errorf("%s is a database of a different program", path)
	}
	return nil
}

// dataSource returns the data source name of a file for SQLite's driver. The path can contain
// spaces and characters with a meaning in URLs.
func dataSource(path, parameters string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: parameters}).String()
}
