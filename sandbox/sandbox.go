// Package sandbox replaces the outside world for tenantry dev: it has a clock that
// can be moved, a mailbox, and the page that leads to them. The payment provider
// is in package stripe, the identity provider in package idp. All of them keep
// their state in one SQLite file, separate from the service's database, and
// survive a restart (rules: sandbox#what-it-is-for).
package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/mailbox"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// The accounts of the demo data. They are not secret, which is why tenantry serve
// refuses to start on a data folder that a sandbox has used.
const (
	AdminEmail    = "admin@tenantry.test"
	AdminPassword = "sandbox-admin"
	OwnerEmail    = "owner@acme.test"
	OwnerPassword = "sandbox-owner"
)

// connections is enough for the few people and tests that use a sandbox at the
// same time. Writers wait for each other (busy_timeout).
const connections = 4

// parameters let write transactions begin immediately, so that none fails after
// it has read. With synchronous(NORMAL) a commit survives the end of the
// process, however it ends. Only a power failure can lose the last commits,
// which is acceptable for play data and saves waiting for the disk.
const parameters = "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
	"&_pragma=foreign_keys(1)&_busy_timeout=5000&_dqs=0"

// World is an open sandbox.
type World struct {
	db      *sql.DB
	time    *timekeeper
	mailbox *mailbox.Mailbox
	access  Access
}

// Access is what a client needs to reach the payment provider.
type Access struct {
	API    string // its URL, without /v1
	Key    string
	Secret string      // what signs its webhooks
	Brand  theme.Brand // of the pages that customers see
	// Coming returns what happens there next by itself, the soonest first.
	Coming func(ctx context.Context, limit int) ([]theme.Upcoming, error)
	// LastEvents returns what happened there last, the newest first.
	LastEvents func(ctx context.Context, limit int) ([]theme.Event, error)
	// BeforeMove is called when a request is about to move the clock by d; nil does nothing.
	BeforeMove func(r *http.Request, d time.Duration) error
	Elements   bool // whether the service has the web components, which a page shows
}

// Show lets the pages show how the payment provider is reached and what happens next. Call
// it before they are served.
func (w *World) Show(a Access) { w.access = a }

// Open opens the sandbox in the file at path. It creates the file and its
// folder if they are missing. The sandbox's clock is ahead of the machine's by
// as much as when it was last used.
func Open(ctx context.Context, path string) (*World, error) {
	return open(ctx, path, clock.System())
}

func open(ctx context.Context, path string, base clock.Clock) (_ *World, err error) {
	db, err := openDatabase(ctx, path)
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

// DB returns the sandbox's own database, where its providers keep their state.
func (w *World) DB() *sql.DB { return w.db }

// Clock returns the sandbox's time, which is also the service's.
func (w *World) Clock() *clock.Adjustable { return w.time.clock }

// Mailbox returns the mailbox that receives the service's mail.
func (w *World) Mailbox() *mailbox.Mailbox { return w.mailbox }

// Close closes the database.
func (w *World) Close() error { return w.db.Close() }
