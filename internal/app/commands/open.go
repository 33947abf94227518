// Package commands implements the commands that only need the database. They can run at the same
// time as a server.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/logging"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Open opens the database for a server and applies pending migrations. It creates a missing SQLite
// database.
func Open(ctx context.Context, s settings.Settings) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, sqldb.Config{
		URL: s.DatabaseURL.Reveal(), Conns: s.DatabaseConns, Patience: s.DatabasePatience, Log: NewLog(os.Stderr, s),
	})
	if err != nil {
		return nil, databaseError(s, err)
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(databaseError(s, err), db.Close())
	}
	return db, nil
}

// OpenExisting is Open for commands, which need existing data. In the wrong folder it returns an
// error instead of creating a database that no server uses.
func OpenExisting(ctx context.Context, s settings.Settings) (*sqldb.DB, error) {
	if err := RequireDatabase(s); err != nil {
		return nil, err
	}
	return Open(ctx, s)
}

// RequireDatabase returns an error if the database is a SQLite file that does not exist.
func RequireDatabase(s settings.Settings) error {
	u, err := url.Parse(s.DatabaseURL.Reveal())
	if err != nil || u.Scheme != "sqlite" {
		return nil //nolint:nilerr // The settings are valid, and other databases report their own errors.
	}
	file := sqldb.FilePath(u)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("database %s does not exist: run this in the folder of the service, or set --data (TENANTRY_DATA) or TENANTRY_DATABASE_URL; "+
			"\"tenantry migrate\" creates a database", file)
	}
	return nil
}

// databaseError adds the name of the database setting to a database error, unless the database is
// the default in the data folder.
func databaseError(s settings.Settings, err error) error {
	if s.DatabaseURL.Reveal() == sqldb.FileURL(filepath.Join(s.Data, settings.DatabaseFile)) {
		return err // the path in the error is in the data folder
	}
	return fmt.Errorf("the database of TENANTRY_DATABASE_URL: %w", err)
}

// CloseJoining closes the database when a function returns, and joins the error to *err. Use it with
// defer.
func CloseJoining(db *sqldb.DB, err *error) { *err = errors.Join(*err, db.Close()) }

// NewLog returns a logger that writes to w with the level and format of s. It logs a warning at
// level INFO if its message is in expected.
func NewLog(w io.Writer, s settings.Settings, expected ...string) *slog.Logger {
	return logging.New(w, logConfig(s, expected))
}

// NewBufferedLog is NewLog with a buffer. Call flush before the process exits.
func NewBufferedLog(w io.Writer, s settings.Settings) (log *slog.Logger, flush func() error) {
	return logging.NewBuffered(w, logConfig(s, nil))
}

func logConfig(s settings.Settings, expected []string) logging.Config {
	return logging.Config{
		JSON: s.LogFormat == settings.LogJSON, Level: s.LogLevel, Expected: expected,
		IsOutage: sqldb.IsUnavailable, Clock: clock.System(),
	}
}
