// Package prune deletes what has been kept for long enough, so that tables which grow with
// every request do not grow for ever (rules: settings#retention).
package prune

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

const (
	// batch is how many rows one statement deletes: few enough that nobody waits long
	// for its locks, on SQLite for the one lock of all writes.
	batch = 1000
	// maxRunTime is how long one run goes on, well below the time that a job has. What is left
	// then is for the next run.
	maxRunTime = 30 * time.Second
)

// Table is a table whose old rows are deleted.
type Table struct {
	Name string
	// Keep is how long its rows are kept.
	Keep time.Duration
	// Delete deletes at most limit rows of a time from (inclusive) to before
	// (exclusive), oldest first, and returns the times of those that it has deleted. It
	// finds them by an index. from spares it the entries of this run's deleted rows, which
	// the index has until the database cleans up.
	Delete func(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error)
}

// Pruner deletes old rows of tables.
type Pruner struct {
	clock  clock.Clock
	log    *slog.Logger
	tables []Table
}

// New returns a pruner. The clock is the service's.
func New(c clock.Clock, log *slog.Logger, tables ...Table) *Pruner {
	return &Pruner{clock: c, log: log, tables: tables}
}

// Run is a periodic job: it deletes in batches, each a statement of its own, and rests
// after each one for as long as that took, so that at least half of the database's time is
// left to others. An error of one table does not keep the others from their turn.
func (p *Pruner) Run(ctx context.Context) error {
	over, cancel := context.WithTimeout(ctx, maxRunTime)
	defer cancel()
	var failed error
	for _, t := range p.tables {
		n, err := p.prune(ctx, over, t)
		if n > 0 {
			p.log.InfoContext(ctx, "old rows were deleted", "table", t.Name, "rows", n)
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("prune %s: %w", t.Name, err)
		}
	}
	return failed
}

// prune deletes the old rows of one table until over ends, and returns how many.
func (p *Pruner) prune(ctx, over context.Context, t Table) (n int, err error) {
	before := p.clock.Now().Add(-t.Keep)
	machine := clock.System()
	for from := (time.Time{}); over.Err() == nil; {
		began := machine.Now()
		deleted, err := t.Delete(ctx, from, before, batch)
		if err != nil {
			return n, err
		}
		n += len(deleted)
		if len(deleted) < batch {
			return n, nil
		}
		for _, at := range deleted {
			if at.After(from) {
				from = at
			}
		}
		select {
		case <-over.Done():
		case <-time.After(machine.Now().Sub(began)):
		}
	}
	return n, ctx.Err()
}
