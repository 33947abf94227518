// Package sandbox is what tenantry dev puts in place of the outside world: a
// clock that can be moved, a mailbox, and the page that leads to them. The
// payment provider is in package stripe beside it. All of it keeps its state in
// one SQLite file, apart from the service's database, and survives a restart.
package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sandbox/mailbox"
)

// The accounts of the demo data. They are no secret, which is why production
// refuses to start where a sandbox has been.
const (
	AdminEmail    = "admin@tenantry.test"
	AdminPassword = "sandbox-admin"
	OwnerEmail    = "owner@acme.test"
	OwnerPassword = "sandbox-owner"
)

// connections is enough for the few people and tests that use a sandbox at once;
// writers wait for each other (busy_timeout).
const connections = 4

// parameters begin write transactions at once, so that none fails half-way.
// synchronous(NORMAL): a commit survives the process, however it ends; only a
// power cut may take the last ones, of what is a play anyway, and none is worth
// waiting for the disk.
const parameters = "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
	"&_pragma=foreign_keys(1)&_busy_timeout=5000&_dqs=0"

// World is an open sandbox.
type World struct {
	db      *sql.DB
	time    *timekeeper
	mailbox *mailbox.Mailbox
}

// Open opens the sandbox that is kept in the file path, or makes one; its folder
// is made too. Its clock runs on the machine's, as far ahead as it was left.
func Open(ctx context.Context, path string) (*World, error) {
	return open(ctx, path, clock.System())
}

func open(ctx context.Context, path string, base clock.Clock) (_ *World, err error) {
	db, err := openDatabase(path)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("sandbox: %w", err), db.Close())
		}
	}()
	w := &World{db: db}
	if w.time, err = newTimekeeper(ctx, db, base); err != nil {
		return nil, err
	}
	if w.mailbox, err = mailbox.New(ctx, db, w.time.clock); err != nil {
		return nil, err
	}
	return w, nil
}

// openDatabase makes a new file readable by its owner alone: mails have tokens
// in them.
func openDatabase(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: parameters}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// DB is the sandbox's own database, for what else keeps its state there.
func (w *World) DB() *sql.DB { return w.db }

// Clock is the sandbox's time, which the service runs on too.
func (w *World) Clock() *clock.Adjustable { return w.time.clock }

// Mailbox takes the service's mail.
func (w *World) Mailbox() *mailbox.Mailbox { return w.mailbox }

// Close closes the database.
func (w *World) Close() error { return w.db.Close() }
