// Package commands has the commands that need nothing but the database. They may run
// beside a server.
package commands

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/tenantry/tenantry/internal/logbuffer"
	"github.com/tenantry/tenantry/internal/logline"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tracing"
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

// NewLog returns a logger that writes to w in the level and format of s.
func NewLog(w io.Writer, s settings.Settings) *slog.Logger {
	if s.LogFormat == settings.LogJSON {
		return slog.New(tracing.LogHandler(logline.New(w, s.LogLevel)))
	}
	return slog.New(tracing.LogHandler(slog.NewTextHandler(w, &slog.HandlerOptions{Level: s.LogLevel})))
}

// NewBufferedLog returns a logger as NewLog does whose lines share writes. Lines below WARN
// are written a few milliseconds later: who ends the process calls flush before.
func NewBufferedLog(w io.Writer, s settings.Settings) (log *slog.Logger, flush func() error) {
	buffer := logbuffer.New(w)
	return slog.New(buffer.Handler(NewLog(buffer, s).Handler())), buffer.Flush
}
