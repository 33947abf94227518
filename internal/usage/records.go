package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Records is what the packages below usage share with recording: the locks of
// streams, the counters and the stored events. Its methods take part in the
// transaction of their context.
type Records struct{ store store }

// NewRecords gives access to the records in a database.
func NewRecords(db *sqldb.DB) Records { return Records{store{db: db}} }

// LockStreams keeps everybody from recording on the streams until the transaction
// ends. keys must be sorted by Compare: everybody locks in that order.
func (r Records) LockStreams(ctx context.Context, keys []StreamKey) error {
	_, err := r.store.lockStreams(ctx, keys)
	return err
}

// MeterOf reads a meter, also one that is deleted, and keeps its rules as they are
// until the transaction ends. Where streams are locked too, it comes first.
func (r Records) MeterOf(ctx context.Context, k StreamKey) (Meter, error) {
	return r.store.lockMeter(ctx, k.MeterID)
}

// Count computes from the stored events what a counter has to show. The deleted
// events are included for the period without bounds alone.
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

// HasEvents reports whether anything is recorded for a period, deleted events left
// out.
func (r Records) HasEvents(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (bool, error) {
	events, err := r.store.newestEvents(ctx, tenantID, m, p, 1)
	return len(events) > 0, err
}

// ValueBefore is the value that was recorded last before a time, deleted events
// included; 0 where there is none.
func (r Records) ValueBefore(ctx context.Context, tenantID uuid.UUID, m Meter, at time.Time) (money.Quantity, error) {
	value, _, err := r.store.lastValue(ctx, tenantID, m, Period{Start: AllTime().Start, End: at})
	return value, err
}

// MeterPeriod asks what a meter comes to in a period.
type MeterPeriod struct {
	Meter  Meter
	Period Period // contains now
}

// ReadTotals reads what a tenant's meters come to, in the order of wanted: from their
// counters, or from the events for a period that no counter has.
func (r Records) ReadTotals(ctx context.Context, tenantID uuid.UUID, wanted []MeterPeriod, now time.Time) ([]money.Total, error) {
	counters := map[StreamKey][]*Counter{}
	err := r.store.db.QueryAll(ctx, r.store.countersAtQuery([]uuid.UUID{tenantID}, now, counters))
	if err != nil {
		return nil, err
	}
	used := make([]money.Total, len(wanted))
	for i, w := range wanted {
		c, err := r.store.current(ctx, StreamKey{TenantID: tenantID, MeterID: w.Meter.ID}, w.Meter, w.Period, counters)
		if err != nil {
			return nil, err
		}
		used[i] = c.Value
	}
	return used, nil
}
