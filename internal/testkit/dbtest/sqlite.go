package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// sqliteTemplate returns the bytes of a migrated database. It is created once per process, or once
// for all processes that share a folder. The name of the shared file contains a hash of the
// migrations.
var sqliteTemplate = sync.OnceValues(func() (_ []byte, err error) {
	shared := os.Getenv(folderVariable)
	if shared != "" {
		sum, err := migrationsSum()
		if err != nil {
			return nil, err
		}
		shared = filepath.Join(shared, "sqlite-"+sum+".db")
		if template, err := os.ReadFile(shared); err == nil {
			return template, nil
		}
	}
	dir, err := os.MkdirTemp(os.Getenv(folderVariable), "tenantry-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "template.db")
	if err := migrate(sqldb.FileURL(path)); err != nil {
		return nil, err
	}
	template, err := os.ReadFile(path)
	if err == nil && shared != "" {
		err = os.Rename(path, shared) // atomic
	}
	return template, err
})

func sqliteURL(t testing.TB, migrated bool) string {
	t.Helper()
	if !migrated {
		return sqldb.FileURL(filepath.Join(TempDir(t), "test.db"))
	}
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatalf("dbtest: SQLite template: %v", err)
	}
	return sqliteFile(t, template)
}

// sqliteFile writes the bytes of a database to a file and returns its URL.
func sqliteFile(t testing.TB, text []byte) string {
	t.Helper()
	path := filepath.Join(TempDir(t), "test.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return sqldb.FileURL(path)
}

// migrate applies all migrations to the database of url and closes it.
func migrate(url string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Migrate(ctx)
}

// TempDir returns a folder for databases, which is removed when t ends. It is in memory if there is
// room, because SQLite syncs each commit and tests would wait for the disk.
func TempDir(t testing.TB) string {
	t.Helper()
	if !fitsInMemory() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "tenantry-test-") //nolint:usetesting // t.TempDir is on the disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("dbtest: %v", err)
		}
	})
	return dir
}
