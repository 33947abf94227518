//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// volume is the size of a filled database. Tenant 1 is large: it has a quarter as many members as
// there are tenants, half as many invitations and invoices, and a fifth of all events.
type volume struct {
	tenants int
	events  int
}

// Row counts per tenant, except for the large tenant.
const (
	membersEach     = 3
	invitationsEach = 7
	invoicesEach    = 10
	entriesEach     = 50 // audit log entries
	loginsEach      = 5  // per user
	eventsOfHour    = 10 // events that share an hour
	failedOf        = 20 // one in failedOf invoices had a failed payment
	openOf          = 200
	creditedOf      = 20 // one in creditedOf invoices has a credit note
	filledDays      = 365
)

// largeTenant contains the row counts of the first tenant.
type largeTenant struct{ members, invitations, invoices, events int }

func (v volume) large() largeTenant {
	return largeTenant{
		members: max(membersEach, v.tenants/4+1), invitations: max(invitationsEach, v.tenants/2),
		invoices: max(invoicesEach, v.tenants/2), events: v.events / 5,
	}
}

// filler writes rows in bulk. It uses a fixed seed, so two databases of the same size have the same
// contents except for ids.
type filler struct {
	*seeder
	volume  volume
	chance  *rand.Rand
	now     time.Time
	meters  []meter
	roles   map[string]int64
	tenants []*filledTenant
}

type meter struct {
	id   uuid.UUID
	code string
}

type filledTenant struct {
	id    uuid.UUID
	users []int64 // owner first
	fresh bool    // created by the filler and still empty
}

// fill migrates and fills a database. It uses the service's own code for the known accounts, and
// bulk inserts for all other rows.
func fill(ctx context.Context, url string, v volume, progress func(string)) (err error) {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	s, err := newSeeder(ctx, db)
	if err != nil {
		return err
	}
	f := &filler{seeder: s, volume: v, chance: rand.New(rand.NewPCG(1, 2)), now: clock.System().Now().Truncate(time.Second)} //nolint:gosec // The same data each time.
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"accounts", f.accounts},
		{"tenants and users", f.fillTenants},
		{"memberships and subscriptions", f.memberships},
		{"invitations", f.invitations},
		{"logins", f.logins},
		{"invoices", f.invoices},
		{"usage", f.usage},
		{"audit trail", f.trail},
		{"subscriptions that ended", f.fillEndedSubscriptions},
		{"refusals for quotas", f.refusals},
		{"alerts", f.alerts},
		{"webhooks", f.webhooks},
		{"API keys", f.apiKeys},
		{"notifications of the provider", f.notifications},
		{"imports", f.imports},
		{"copies of invoices", f.copies},
		{"words", f.words},
		{"statistics", f.optimize},
	} {
		progress(step.name)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// optimize does the maintenance that a database would do on its own after so many writes: it
// collects statistics, and PostgreSQL updates the visibility map for index-only scans.
func (f *filler) optimize(ctx context.Context) error {
	if f.db.Dialect() == sqldb.Postgres {
		return f.exec(ctx, `VACUUM (ANALYZE)`)
	}
	return f.exec(ctx, `ANALYZE`)
}

func (f *filler) exec(ctx context.Context, query string, args ...any) error {
	_, err := f.db.Conn(ctx).ExecContext(ctx, query, args...)
	return err
}

// The known accounts: the owners of the large tenant and of a small tenant, and a platform admin.
var knownEmails = []string{"large@bench.test", "small@bench.test", "admin@bench.test"}

func (f *filler) accounts(ctx context.Context) error {
	for _, email := range knownEmails {
		u, err := f.user(ctx, email)
		if err != nil {
			return err
		}
		t := &filledTenant{id: u.tenant, users: make([]int64, 1)}
		if err := f.db.Conn(ctx).QueryRowContext(ctx, `SELECT user_id FROM memberships WHERE tenant_id = $1`, t.id).Scan(&t.users[0]); err != nil {
			return err
		}
		f.tenants = append(f.tenants, t)
	}
	if err := f.exec(ctx, `UPDATE users SET is_platform_admin = true WHERE id = $1`, f.tenants[2].users[0]); err != nil {
		return err
	}
	return f.readKnown(ctx)
}

// readKnown reads the existing meters and roles.
func (f *filler) readKnown(ctx context.Context) error {
	f.roles = map[string]int64{}
	return errors.Join(
		f.queryRows(ctx, `SELECT id, name FROM roles WHERE tenant_id IS NULL`, func(scan func(...any) error) error {
			var id int64
			var name string
			err := scan(&id, &name)
			f.roles[name] = id
			return err
		}),
		f.queryRows(ctx, `SELECT id, code FROM meters WHERE aggregation_type = 'sum' ORDER BY code`, func(scan func(...any) error) error {
			var m meter
			err := scan(&m.id, &m.code)
			f.meters = append(f.meters, m)
			return err
		}),
	)
}

func (f *filler) queryRows(ctx context.Context, query string, row func(scan func(...any) error) error) (err error) {
	rows, err := f.db.Conn(ctx).QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// bulk collects the rows of a table. It writes many rows per statement, and many statements per
// transaction.
type bulk struct {
	f       *filler
	head    string // INSERT INTO … (…) VALUES
	columns int
	args    []any
	waiting [][]any // the arguments of each statement
}

const (
	rowsOfStatement = 200
	statementsOfTx  = 100
)

func (f *filler) bulkInto(table string, columns ...string) *bulk {
	return &bulk{f: f, head: "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES ", columns: len(columns)}
}

func (b *bulk) add(ctx context.Context, values ...any) error {
	b.args = append(b.args, values...)
	if len(b.args) < rowsOfStatement*b.columns {
		return nil
	}
	b.waiting = append(b.waiting, b.args)
	b.args = nil
	if len(b.waiting) < statementsOfTx {
		return nil
	}
	return b.flush(ctx)
}

func (b *bulk) flush(ctx context.Context) error {
	if len(b.args) > 0 {
		b.waiting = append(b.waiting, b.args)
		b.args = nil
	}
	waiting := b.waiting
	b.waiting = nil
	return b.f.db.Tx(ctx, func(ctx context.Context) error {
		for _, args := range waiting {
			if err := b.f.exec(ctx, b.head+placeholders(len(args)/b.columns, b.columns), args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// placeholders returns ($1, $2), ($3, $4) and so on.
func placeholders(rows, columns int) string {
	var text strings.Builder
	for r := range rows {
		if r > 0 {
			text.WriteString(", ")
		}
		for c := range columns {
			if c == 0 {
				text.WriteByte('(')
			} else {
				text.WriteString(", ")
			}
			fmt.Fprintf(&text, "$%d", r*columns+c+1)
		}
		text.WriteByte(')')
	}
	return text.String()
}

// randomMoment returns a random time in the last year.
func (f *filler) randomMoment() time.Time {
	return f.now.Add(-time.Duration(f.chance.Int64N(int64(filledDays * 24 * time.Hour)))).Truncate(time.Second)
}
