// Package commands has the commands that need nothing but the database. They may run
// beside a server.
package commands

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/logging"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Open opens the database and brings it up to date.
func Open(ctx context.Context, s settings.Settings) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, sqldb.Config{
		URL: s.DatabaseURL.Reveal(), Conns: s.DatabaseConns, Patience: s.DatabasePatience, Log: NewLog(os.Stderr, s),
	})
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Closing closes the database when a function returns, and joins the error to *err.
func Closing(db *sqldb.DB, err *error) { *err = errors.Join(*err, db.Close()) }

// NewLog returns a logger that writes to w in the level and format of s. Warnings with an expected
// message are logged at INFO.
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
