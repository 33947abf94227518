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

// sqliteTemplate returns the bytes of a migrated database; made once per
// process.
var sqliteTemplate = sync.OnceValues(func() (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "tenantry-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "template.db")
	if err := migrate(sqldb.FileURL(path)); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func sqliteURL(t testing.TB, migrated bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	if migrated {
		template, err := sqliteTemplate()
		if err != nil {
			t.Fatalf("dbtest: SQLite template: %v", err)
		}
		if err := os.WriteFile(path, template, 0o600); err != nil {
			t.Fatalf("dbtest: %v", err)
		}
	}
	return sqldb.FileURL(path)
}

// migrate brings the database of url up to date and closes it.
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
