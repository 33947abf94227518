// Package months makes the partitions of usage_records on PostgreSQL, one for each month of UTC,
// and takes them away (docs/adr/0036-events-by-the-month.md). On SQLite there are none.
package months

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Month is a month of UTC.
type Month struct{ Start, End time.Time }

// Of returns the month that a time is in.
func Of(at time.Time) Month {
	at = at.UTC()
	start := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	return Month{start, start.AddDate(0, 1, 0)}
}

// String is how the names of tables and archives have a month: 2026_11.
func (m Month) String() string { return m.Start.Format(layout) }

// Parse reads what String returns.
func Parse(text string) (Month, error) {
	start, err := time.Parse(layout, text)
	if err != nil {
		return Month{}, fmt.Errorf("read month: %w", err)
	}
	return Of(start), nil
}

const (
	layout = "2006_01"
	// attached is how the table of a month's partition begins.
	attached = "usage_records_"
	// detached is how its name begins once it is no partition any more.
	detached = "usage_detached_"
)

const (
	// ahead is how many months have partitions before they begin.
	ahead = 3
	// tries is how often a change of partitions is tried in one run, and rest the time between:
	// longer than the change waits for its locks, so that what has queued behind it is done.
	tries = 10
	rest  = 500 * time.Millisecond
)

// Detached is the table of a month that was detached. It changes no more, but for tenants that
// are deleted.
func (m Month) Detached() string { return detached + m.String() }

func (m Month) partition() string { return attached + m.String() }

// ErrBusy is returned where a change of partitions got none of its locks in time. Another run
// tries again.
var ErrBusy = errors.New("the partitions of usage_records are in use")

// ErrNotReady is returned by what Detach asks, where the month cannot be taken away yet.
var ErrNotReady = errors.New("events of the month were recorded meanwhile")

// Months are the partitions of a database.
//
// Invariant: a change of partitions holds locks that anybody who records could wait for only for
// as long as PostgreSQL changes its catalog, and waits for them a fifth of a second at most:
// what queues behind it waits no longer than that. Changes wait for each other, so that several
// instances may ask for the same at once.
type Months struct {
	db    *sqldb.DB
	clock clock.Clock
	log   *slog.Logger
}

// New returns the partitions of a database.
func New(db *sqldb.DB, c clock.Clock, log *slog.Logger) *Months { return &Months{db, c, log} }

func (m *Months) none() bool { return m.db.Dialect() != sqldb.Postgres }

// Run is a periodic job: it makes the partitions of this month and the next three. The service
// also runs it before it takes requests.
func (m *Months) Run(ctx context.Context) error {
	months := make([]Month, 0, 1+ahead)
	for next := Of(m.clock.Now()); len(months) <= ahead; next = Of(next.End) {
		months = append(months, next)
	}
	return m.Make(ctx, months)
}

// Since makes the partitions from the month of a time on, at most five years ago, until this one.
func (m *Months) Since(ctx context.Context, at time.Time) error {
	now := m.clock.Now()
	if limit := now.AddDate(-5, 0, 0); at.Before(limit) {
		at = limit
	}
	var months []Month
	for next := Of(at); next.Start.Before(now); next = Of(next.End) {
		months = append(months, next)
	}
	return m.Make(ctx, months)
}

// Make makes the partitions of months. One that has events already, in usage_records_other, gets
// none: they would have to be moved while nobody records.
func (m *Months) Make(ctx context.Context, months []Month) error {
	if m.none() {
		return nil
	}
	have, err := m.tables(ctx, attached)
	if err != nil {
		return err
	}
	for _, month := range months {
		if slices.Contains(have, month) {
			continue
		}
		made, err := false, error(nil)
		err = m.change(ctx, func(ctx context.Context) error {
			made, err = m.attach(ctx, month)
			return err
		})
		switch {
		case err != nil:
			return fmt.Errorf("make the partition of %s: %w", month, err)
		case made:
			m.log.InfoContext(ctx, "a partition was made for the usage events of a month", "month", month.String())
		}
	}
	return nil
}

// Before lists the months that have a partition and are over by a time, the earliest first.
func (m *Months) Before(ctx context.Context, end time.Time) ([]Month, error) {
	if m.none() {
		return nil, nil
	}
	months, err := m.tables(ctx, attached)
	return slices.DeleteFunc(months, func(month Month) bool { return month.End.After(end) }), err
}

// AllDetached lists the months whose table is detached and not dropped yet.
func (m *Months) AllDetached(ctx context.Context) ([]Month, error) {
	if m.none() {
		return nil, nil
	}
	return m.tables(ctx, detached)
}

// Detach takes a month out of usage_records. Its events are in a table of their own then, and
// what is recorded for the month goes to usage_records_other. ready is asked before, when nobody
// can store or delete an event of the month any more; an error of it leaves everything as it is.
func (m *Months) Detach(ctx context.Context, month Month, ready func(ctx context.Context, table string) error) error {
	return m.change(ctx, func(ctx context.Context) error {
		table := month.partition()
		if err := m.exec(ctx, `LOCK TABLE `+table+` IN SHARE MODE`); err != nil {
			return err
		}
		if err := ready(ctx, table); err != nil {
			return err
		}
		if err := m.exec(ctx, `ALTER TABLE usage_records DETACH PARTITION `+table); err != nil {
			return err
		}
		return m.exec(ctx, `ALTER TABLE `+table+` RENAME TO `+month.Detached())
	})
}

// Drop drops a month that is detached.
func (m *Months) Drop(ctx context.Context, month Month) error {
	return m.change(ctx, func(ctx context.Context) error {
		return m.exec(ctx, `DROP TABLE IF EXISTS `+month.Detached())
	})
}

// change changes partitions in one transaction, again where it got no lock.
func (m *Months) change(ctx context.Context, f func(ctx context.Context) error) error {
	for try := 1; ; try++ {
		err := m.db.Tx(ctx, func(ctx context.Context) error {
			for _, statement := range []string{
				`SET LOCAL lock_timeout = '200ms'`,
				// Two changes wait for each other here; who records or reads does not.
				`LOCK TABLE usage_records IN SHARE UPDATE EXCLUSIVE MODE`,
			} {
				if err := m.exec(ctx, statement); err != nil {
					return err
				}
			}
			return f(ctx)
		})
		if !sqldb.IsLocked(err) {
			return err
		}
		if try == tries {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
	}
}
