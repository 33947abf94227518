package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

const (
	// pruneBatch is the number of rows per statement. It is small so that other transactions do not
	// wait long for locks (on SQLite, for the single write lock).
	pruneBatch = 1000
	// maxPruneTime limits a run to much less than the time limit of a job. The next run continues.
	maxPruneTime = 30 * time.Second
)

// expiringTable is a table with a retention period.
type expiringTable struct {
	Name string
	// Keep is the retention period.
	Keep time.Duration
	// Delete deletes up to limit rows with times between from (inclusive) and before (exclusive),
	// oldest first, and returns the times of the deleted rows. It must use an index. from skips the
	// index entries of rows that this run has deleted, which remain in the index until the database
	// cleans up.
	Delete func(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error)
}

// pruner deletes expired rows, so that tables that grow with every request do not grow without bound
// (rules: settings#retention).
type pruner struct {
	clock  clock.Clock
	log    *slog.Logger
	tables []expiringTable
}

// Run is a periodic job. It deletes in batches, with one statement per batch. After each batch, it
// pauses for as long as the batch took, so that at least half of the database's time is left for
// other work. If a table fails, Run continues with the others.
func (p *pruner) Run(ctx context.Context) error {
	over, cancel := context.WithTimeout(ctx, maxPruneTime)
	defer cancel()
	var failed error
	for _, t := range p.tables {
		n, err := p.prune(ctx, over, t)
		if n > 0 {
			p.log.InfoContext(ctx, "old rows deleted", "table", t.Name, "rows", n)
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("prune %s: %w", t.Name, err)
		}
	}
	return failed
}

// prune deletes the expired rows of a table until over ends, and returns their number.
func (p *pruner) prune(ctx, over context.Context, t expiringTable) (n int, err error) {
	before := p.clock.Now().Add(-t.Keep)
	machine := clock.System()
	for from := (time.Time{}); over.Err() == nil; {
		began := machine.Now()
		deleted, err := t.Delete(ctx, from, before, pruneBatch)
		if err != nil {
			return n, err
		}
		n += len(deleted)
		if len(deleted) < pruneBatch {
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
