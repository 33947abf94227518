package sqldb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Wrap adds the failed operation to err, and returns nil for nil. A store calls it once for each
// query that can fail; its callers do not wrap the error again.
func Wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// WrapAbsent is Wrap for a query of one row. If there is no such row, it returns absent, an error
// of the store's domain.
func WrapAbsent(err error, doing string, absent error) error {
	if errors.Is(err, ErrNoRows) {
		return absent
	}
	return Wrap(err, doing)
}

// IsUnique reports whether err is a violation of a primary key or a unique index. On PostgreSQL the
// transaction has then failed, so handle the error outside of it or use ON CONFLICT.
func IsUnique(err error) bool {
	return hasCode(err, "23505",
		sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID)
}

// IsForeignKey reports whether err means that a referenced row does not exist, or that a deleted
// row is still referenced.
func IsForeignKey(err error) bool {
	return hasCode(err, "23503", sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY)
}

// IsMissingTable reports whether err means that a table does not exist, as before the first
// migration.
func IsMissingTable(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return strings.Contains(lite.Error(), "no such table") // SQLite has the same code for all wrong statements
	}
	return hasCode(err, "42P01")
}

func hasCode(err error, postgres string, codes ...int) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == postgres
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		for _, code := range codes {
			if lite.Code() == code {
				return true
			}
		}
	}
	return false
}
