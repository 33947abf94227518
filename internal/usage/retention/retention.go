// Package retention archives and deletes old usage events, and verifies counters against the events
// (rules: usage#retention).
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

// MinRetention is the minimum retention of events. It exceeds every period except the unbounded
// one, so that the counter of a current period can always be recounted from its events.
const MinRetention = 35 * day

const (
	// keepKeys is how long an idempotency key outlives its event.
	keepKeys = 35 * day
	// chunkSize is the number of events deleted per transaction.
	chunkSize = 500
	// streamsAtOnce limits the number of streams whose events are deleted together.
	streamsAtOnce = 64
	// runTime is the maximum duration of a run; shorter than the limit for periodic jobs.
	runTime = 40 * time.Second
)

// Deps holds the dependencies of a Pruner.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Log   *slog.Logger
	// Keep is the retention of events, counted from their recorded_at. It must be at least
	// MinRetention; 0 means forever.
	Keep time.Duration
	// Archive is the folder for archive files, shared by all instances. If empty, deleted events
	// are not archived.
	Archive string
}

// Pruner deletes old events.
//
// Invariant: the values of meters do not change. Counters are kept. After a change of a meter's
// aggregation or a subscription's periods, counters are recounted. The events of current periods
// are younger than MinRetention, so counters of current periods still have all their events.
// Unbounded counters add the totals of the deleted events, which are stored in the stream by the
// transaction that deletes them. Only a recounted counter of an old period lacks the deleted
// events.
//
// An idempotency key outlives its event by keepKeys. The transaction that deletes the event moves
// the key to usage_keys and marks the stream, under the stream's lock. Recording takes the same
// lock, sees the mark and also searches usage_keys, so it always finds the key in one of the two
// tables.
type Pruner struct {
	store   store
	records usage.Records
	sums    *history.Sums
	deps    Deps
	// fileSize is the maximum number of events per file.
	fileSize int
}

// New returns a Pruner.
func New(d Deps) *Pruner {
	return &Pruner{
		store: store{db: d.DB}, records: usage.NewRecords(d.DB), sums: history.NewSums(d.DB, d.Clock), deps: d, fileSize: fileSize,
	}
}
