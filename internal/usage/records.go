package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Records gives the subpackages of usage access to the stream locks, the counters and the stored
// events. Its methods take part in the transaction of their context.
type Records struct{ store store }

// NewRecords returns the records in a database.
func NewRecords(db *sqldb.DB) Records { return Records{store{db: db}} }

// LockStreams prevents recording on the streams until the transaction ends. keys must be sorted by
// Compare, because every transaction locks in that order.
func (r Records) LockStreams(ctx context.Context, keys []StreamKey) error {
	together := max(1, len(keys))
	if r.store.db.IsDistributed() { // Citus locks rows of one shard per statement
		together = 1
	}
	for some := range slices.Chunk(keys, together) {
		if _, err := r.store.lockStreams(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// MeterOf returns a meter, even a deleted one, and locks its rules until the transaction ends. Call
// it before LockStreams.
func (r Records) MeterOf(ctx context.Context, k StreamKey) (Meter, error) {
	return r.store.lockMeter(ctx, k.MeterID)
}

// Count computes a counter from the stored events. Deleted events are only included for the
// unbounded period.
func (r Records) Count(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (Counter, error) {
	return r.store.rebuild(ctx, tenantID, m, p)
}

// PutCounters stores counters of a stream, which must be locked.
func (r Records) PutCounters(ctx context.Context, k StreamKey, counters []Counter, now time.Time) error {
	changed := make([]changedCounter, len(counters))
	for i := range counters {
		changed[i] = changedCounter{k, &counters[i]}
	}
	return r.store.putCounters(ctx, changed, now)
}

// HasEvents reports whether a period has stored events. Deleted events do not count.
func (r Records) HasEvents(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (bool, error) {
	events, err := r.store.newestEvents(ctx, tenantID, m, p, 1)
	return len(events) > 0, err
}

// ValueBefore returns the last value recorded before a time, including deleted events, or 0 if
// there is no event.
func (r Records) ValueBefore(ctx context.Context, tenantID uuid.UUID, m Meter, at time.Time) (money.Quantity, error) {
	value, _, err := r.store.lastValue(ctx, tenantID, m, Period{Start: AllTime().Start, End: at})
	return value, err
}

// ReadCounter returns the counter of a meter in a period that contains now. A period without a stored
// counter is counted from its events.
func (r Records) ReadCounter(ctx context.Context, tenantID uuid.UUID, m Meter, p Period, now time.Time) (Counter, error) {
	counters := map[StreamKey][]*Counter{}
	err := r.store.db.QueryAll(ctx, r.store.countersAtQuery([]uuid.UUID{tenantID}, now, counters))
	if err != nil {
		return Counter{}, err
	}
	return r.store.currentCounter(ctx, StreamKey{TenantID: tenantID, MeterID: m.ID}, m, p, counters)
}
