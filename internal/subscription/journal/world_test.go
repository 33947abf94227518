package journal_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a database with a plan.
type world struct {
	t    *testing.T
	db   *sqldb.DB
	plan uuid.UUID
}

func newWorld(t *testing.T, db *sqldb.DB) world {
	t.Helper()
	w := world{t, db, sqldb.NewID()}
	product := sqldb.NewID()
	w.exec(`INSERT INTO products (id, slug, name, created_at, updated_at) VALUES ($1, 'p', '{}', $2, $2)`, product, noon)
	w.exec(`INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, created_at, updated_at)
		VALUES ($1, $2, 'p', '{}', 'seat', 'monthly', 'month', 1, $3, $3)`, w.plan, product, noon)
	return w
}

func (w world) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Conn(w.t.Context()).ExecContext(w.t.Context(), query, args...); err != nil {
		w.t.Fatal(err)
	}
}

// number runs a query that returns one number.
func (w world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	if err := w.db.Conn(w.t.Context()).QueryRowContext(w.t.Context(), query, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// sub is a stored subscription, in EUR and monthly by default.
type sub struct {
	tenant, id       uuid.UUID
	status           string
	price, seats     int64
	unit             string
	trialEnds        *time.Time
	created, updated time.Time
}

// store adds a subscription without the journal.
func (w world) store(s sub) sub {
	w.t.Helper()
	s.tenant, s.id = sqldb.NewID(), sqldb.NewID()
	if s.unit == "" {
		s.unit = "month"
	}
	w.exec(`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'T', $2, 'EUR', $3, $3)`,
		s.tenant, s.tenant.String(), noon)
	w.exec(`INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
			billing_anchor, current_period_start, current_period_end, trial_ends_at, psp_subscription_id, sync_version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, 'EUR', $5, $6, $7, 1, $8, $8, $8, $9, $10, 1, $8, $11)`,
		s.id, s.tenant, w.plan, s.status, s.price, s.seats, s.unit, s.created, s.trialEnds, s.id.String(), s.updated)
	return s
}

// newJournal returns a journal whose clock is later than all entries.
func newJournal(db *sqldb.DB) *journal.Journal {
	return journal.New(db, clock.NewFixed(noon.AddDate(1, 0, 0)))
}

// change stores another state, and adds it to the journal if notes is set.
func (w world) change(ctx context.Context, db *sqldb.DB, notes bool, s sub) error {
	return db.Tx(ctx, func(ctx context.Context) error {
		_, err := db.Conn(ctx).ExecContext(ctx, `UPDATE subscriptions SET status = $3, price_cents = $4, quantity = $5, updated_at = $6,
			sync_version = sync_version + 1 WHERE tenant_id = $1 AND id = $2`, s.tenant, s.id, s.status, s.price, s.seats, s.updated)
		if err != nil || !notes {
			return err
		}
		return journal.Note(ctx, db, s.tenant, s.id, s.updated, nil)
	})
}

// line is an entry of the journal with its day.
type line struct {
	Day, Kind     string
	Before, After int64
}

// journal lists the entries of a tenant in order.
func (w world) journal(tenant uuid.UUID) []line {
	w.t.Helper()
	rows, err := w.db.Conn(w.t.Context()).QueryContext(w.t.Context(),
		`SELECT at, kind, amount_before, amount_after FROM subscription_journal WHERE tenant_id = $1 ORDER BY id`, tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	list := []line{}
	for rows.Next() {
		var l line
		var at time.Time
		if err := rows.Scan(&at, &l.Kind, &l.Before, &l.After); err != nil {
			w.t.Fatal(err)
		}
		l.Day = at.UTC().Format(time.DateOnly)
		list = append(list, l)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return list
}
