// Package sandbox replaces the outside world for tenantry dev. It has an adjustable clock, a receiver
// of webhooks, a mailbox and a start page. The payment provider is in package stripe, the identity
// provider in package idp. They store their state in one SQLite file, separate from the service's
// database, and survive a restart (rules: sandbox#purpose). Only received webhooks are in memory.
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

// The accounts of the demo data. They are not secret, so tenantry serve refuses to start with a
// data folder that a sandbox has used.
const (
	AdminEmail    = "admin@tenantry.test"
	AdminPassword = "sandbox-admin"
	OwnerEmail    = "owner@acme.test"
	OwnerPassword = "sandbox-owner"
)

// connections is the maximum number of open database connections. It is enough for the few
// concurrent users and tests of a sandbox. Writers wait for each other (busy_timeout).
const connections = 4

// parameters make write transactions begin immediately, so that a transaction cannot fail after its
// first reads. With synchronous(NORMAL), commits survive a crash of the process. Only a power
// failure can lose the last commits. That is acceptable for test data and avoids waiting for the
// disk.
const parameters = "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
	"&_pragma=foreign_keys(1)&_busy_timeout=5000&_dqs=0"

// World is an open sandbox.
type World struct {
	db      *sql.DB
	time    *timekeeper
	mailbox *mailbox.Mailbox
	access  Access
}

// Access contains the connection settings of the payment provider, and the functions that read its
// state.
type Access struct {
	API    string // the provider's URL, without /v1
	Key    string
	Secret string      // the signing secret of its webhooks
	Brand  theme.Brand // the branding of customer-facing pages
	// Coming returns the provider's next scheduled actions, soonest first.
	Coming func(ctx context.Context, limit int) ([]theme.ScheduledAction, error)
	// LastEvents returns the provider's latest events, newest first.
	LastEvents func(ctx context.Context, limit int) ([]theme.Event, error)
	// Codes returns the current codes of the accounts' authenticator apps, by email. It can be
	// nil.
	Codes func(ctx context.Context) ([]TOTPCode, error)
	// BeforeMove is called before a request moves the clock by d. It can be nil.
	BeforeMove func(r *http.Request, d time.Duration) error
	// Mails shows samples of the service's mails. The page is left out if Kinds is empty.
	Mails    mailbox.Gallery
	Elements bool // whether the service has the web components
}

// Show makes the pages show the provider's connection settings and scheduled actions. Call it
// before serving the pages.
func (w *World) Show(a Access) { w.access = a }

// Open opens the sandbox in the file at path. It creates the file and its folder if they are
// missing. The sandbox's clock keeps its offset from the last use.
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
	if _, err = db.ExecContext(ctx, dnsSchema); err != nil {
		return nil, err
	}
	return w, nil
}

// DB returns the sandbox's own database, where its providers keep their state.
func (w *World) DB() *sql.DB { return w.db }

// Clock returns the clock of the sandbox and the service.
func (w *World) Clock() *clock.Adjustable { return w.time.clock }

// Mailbox returns the mailbox that receives the service's mail.
func (w *World) Mailbox() *mailbox.Mailbox { return w.mailbox }

// Close closes the database.
func (w *World) Close() error { return w.db.Close() }
