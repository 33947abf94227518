// Package retention deletes old usage events, archives them before, and checks counters
// against the events (rules: usage#retention).
package retention

import (
	"log/slog"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
)

const day = 24 * time.Hour

// MinRetention is the least time for which events are kept: longer than any period but the one
// without end, so that a counter of a current period can always be counted again from
// its events.
const MinRetention = 35 * day

const (
	// keepKeys is how much longer than its event an idempotency key is kept.
	keepKeys = 35 * day
	// chunkSize is how many events are deleted in one transaction.
	chunkSize = 500
	// streamsAtOnce is how many streams these events may belong to.
	streamsAtOnce = 64
	// runTime is how long one run goes on; less than a periodic job may take.
	runTime = 40 * time.Second
)

// Deps is what a Pruner works with.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Log   *slog.Logger
	// Keep is for how long events are kept after the time they were recorded for,
	// at least Shortest; 0 is for ever.
	Keep time.Duration
	// Archive is the folder to which events are written before they are deleted,
	// the same for all instances; "" for none.
	Archive string
}

// Pruner deletes old events.
//
// Invariant: what meters show does not change. Counters are kept. After a change of a
// meter's aggregation or of a subscription's periods, counters are counted again: those
// of current periods still have all their events, which are younger than Shortest, and those
// of all time add the totals of the deleted events, which the transaction that deletes
// them stores in their stream. Only a counter that is counted again for a period of long
// ago misses what was deleted.
//
// An idempotency key is valid for keepKeys longer than its event. The transaction that deletes the
// event moves the key to usage_keys and marks the stream, under the stream's lock. Recording takes
// the same lock, sees the mark and looks in usage_keys too, so it finds the key in one table or
// the other at any time.
type Pruner struct {
	store   store
	records usage.Records
	sums    *history.Sums
	deps    Deps
	// fileSize is how many events a file has at most.
	fileSize int
}

// New makes a Pruner.
func New(d Deps) *Pruner {
	return &Pruner{
		store: store{db: d.DB}, records: usage.NewRecords(d.DB), sums: history.NewSums(d.DB, d.Clock), deps: d, fileSize: fileSize,
	}
}
