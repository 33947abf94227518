package retention

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/months"
	"github.com/tenantry/tenantry/internal/usage/retention/retentionsql"
)

// uncountedStreams lists streams after one, in their order, that have events of a month which
// their totals have not.
func (s store) uncountedStreams(ctx context.Context, after usage.StreamKey, m months.Month, most int32) ([]usage.StreamKey, error) {
	rows, err := s.q(ctx).UncountedStreams(ctx, retentionsql.UncountedStreamsParams{
		TenantID: after.TenantID, MeterID: after.MeterID, Since: m.Start, Until: &m.End, MaxStreams: most,
	})
	keys := make([]usage.StreamKey, len(rows))
	for i, row := range rows {
		keys[i] = usage.StreamKey(row)
	}
	return keys, sqldb.Wrap(err, "list streams to count")
}

// uncounted reports whether a table of a month has events that the totals of their streams have
// not. The inner query is asked for one stream after another, of which few are left: joined, the
// whole table would be read.
func (s store) uncounted(ctx context.Context, table string, until time.Time) (left bool, err error) {
	err = s.db.Conn(ctx).QueryRowContext(ctx, `SELECT EXISTS (
    SELECT 1 FROM usage_streams s
    WHERE (s.totals_before IS NULL OR s.totals_before < $1) AND (SELECT true FROM `+table+` r WHERE r.stream = s.number LIMIT 1)
)`, until).Scan(&left)
	return left, sqldb.Wrap(err, "look for events to count")
}

// errNoEvent is returned where a stream has fewer events of a time.
var errNoEvent = errors.New("the stream has fewer events of the time")

// eventAt reads for when the event at a place among those of a stream and a time was recorded.
func (s store) eventAt(ctx context.Context, k usage.StreamKey, number int64, p usage.Period, place int64) (time.Time, error) {
	at, err := s.q(ctx).EventAt(ctx, retentionsql.EventAtParams{
		TenantID: sqldb.ID(k.TenantID), Stream: number, Since: p.Start, Until: p.End, Place: int32(place),
	})
	return at, sqldb.WrapAbsent(err, "find event to count", errNoEvent)
}

// addRecords adds the stored events of a stream and a time to totals.
func (s store) addRecords(ctx context.Context, k usage.StreamKey, number int64, p usage.Period, totals *prunedTotals) (n int64, err error) {
	sum, err := s.q(ctx).SumOfRecords(ctx, retentionsql.SumOfRecordsParams{
		TenantID: sqldb.ID(k.TenantID), Stream: number, Since: p.Start, Until: p.End,
	})
	if err != nil || sum.Events == 0 {
		return 0, sqldb.Wrap(err, "count events")
	}
	last, err := s.q(ctx).LastRecord(ctx, retentionsql.LastRecordParams{
		TenantID: sqldb.ID(k.TenantID), Stream: number, Since: p.Start, Until: p.End,
	})
	if err != nil {
		return 0, sqldb.Wrap(err, "read last event to count")
	}
	totals.events += sum.Events
	totals.units += sum.Units
	totals.millionths += sum.Millionths
	totals.highest = max(totals.highest, money.Quantity(sum.Highest))
	if totals.lastAt == nil || !last.RecordedAt.Before(*totals.lastAt) {
		totals.last, totals.lastAt = money.Quantity(last.Quantity), &last.RecordedAt
	}
	return sum.Events, nil
}

func (s store) setTotalsBefore(ctx context.Context, k usage.StreamKey, before time.Time) error {
	err := s.q(ctx).SetTotalsBefore(ctx, retentionsql.SetTotalsBeforeParams{TenantID: k.TenantID, MeterID: k.MeterID, TotalsBefore: &before})
	return sqldb.Wrap(err, "store until when a stream is counted")
}

// detachedMonth are the events of a table of a month after a place.
type detachedMonth struct {
	store
	table string
	after lastLine
}

func (d detachedMonth) streamsWithEvents(ctx context.Context, from usage.StreamKey, p usage.Period, n int32) (keys []usage.StreamKey, err error) {
	if from.Compare(d.after.stream) < 0 {
		from = d.after.stream
	}
	err = d.db.Each(ctx, sqldb.Query{
		Doing: "list streams of a month",
		Text: `SELECT s.tenant_id, s.meter_id FROM usage_streams s
WHERE (s.tenant_id, s.meter_id) >= ($1::uuid, $2::uuid)
    AND (SELECT true FROM ` + d.table + ` r WHERE r.stream = s.number AND r.recorded_at >= $3 AND r.recorded_at < $4 LIMIT 1)
ORDER BY s.tenant_id, s.meter_id LIMIT $5`,
		Args: []any{from.TenantID, from.MeterID, p.Start, p.End, n},
		Row: func(scan func(...any) error) error {
			var k usage.StreamKey
			err := scan(&k.TenantID, &k.MeterID)
			keys = append(keys, k)
			return err
		},
	})
	return keys, err
}

func (d detachedMonth) oldestEvents(ctx context.Context, k usage.StreamKey, p usage.Period, n int32) (list []event, err error) {
	since, after := p.Start, uuid.UUID{}
	if k == d.after.stream {
		since, after = d.after.at, d.after.id
	}
	err = d.db.Each(ctx, sqldb.Query{
		Doing: "list events of a month",
		Text: `SELECT r.id, r.quantity, r.idempotency_key, r.recorded_at, r.metadata, r.delay FROM ` + d.table + ` r
WHERE r.tenant_id = $1 AND r.stream = (SELECT s.number FROM usage_streams s WHERE s.tenant_id = $1 AND s.meter_id = $2)
    AND r.recorded_at < $3 AND (r.recorded_at, r.id) > ($4, $5)
ORDER BY r.recorded_at, r.id LIMIT $6`,
		Args: []any{k.TenantID, k.MeterID, p.End, since, after, n},
		Row: func(scan func(...any) error) error {
			e, delay := event{stream: k}, int64(0)
			err := scan(&e.id, (*int64)(&e.quantity), &e.idempotencyKey, &e.recordedAt, &e.metadata, &delay)
			e.storedAt = e.recordedAt.Add(time.Duration(delay) * time.Microsecond)
			list = append(list, e)
			return err
		},
	})
	return list, err
}

// archivesOfMonth lists the files that a day of a month's partition was written to, in order.
func (s store) archivesOfMonth(ctx context.Context, day, month string) ([]archiveRow, error) {
	rows, err := s.q(ctx).ArchivesOfMonth(ctx, retentionsql.ArchivesOfMonthParams{Day: day, Month: month})
	files := make([]archiveRow, len(rows))
	for i, row := range rows {
		files[i] = archiveRow{archiveFile{day, row.Part}, row.State}
	}
	return files, sqldb.Wrap(err, "list archives of a month")
}

// forgetArchivesOfMonth forgets files that were begun when files were asked for still.
func (s store) forgetArchivesOfMonth(ctx context.Context, month string) error {
	return sqldb.Wrap(s.q(ctx).ForgetArchivesOfMonth(ctx, month), "forget archives of a month")
}

func (s store) putDeletion(ctx context.Context, before, now time.Time) error {
	err := s.q(ctx).PutDeletion(ctx, retentionsql.PutDeletionParams{DeletedBefore: before, ReachedAt: now})
	return sqldb.Wrap(err, "note deletion")
}

// deletedSince reads before which time events are deleted since another one, and forgets what was
// noted before that.
func (s store) deletedSince(ctx context.Context, at time.Time) (before time.Time, known bool, err error) {
	list, err := s.q(ctx).DeletionsBy(ctx, at)
	if err != nil || len(list) == 0 {
		return before, false, sqldb.Wrap(err, "read deletions")
	}
	return list[0], true, sqldb.Wrap(s.q(ctx).ForgetDeletions(ctx, list[0]), "forget deletions")
}

// expireRecordKeys deletes at most n keys that were stored before a day.
func (s store) expireRecordKeys(ctx context.Context, before int32, n int32) (int64, error) {
	expired, err := s.q(ctx).ExpireRecordKeys(ctx, retentionsql.ExpireRecordKeysParams{StoredBefore: before, MaxKeys: n})
	return expired, sqldb.Wrap(err, "delete expired keys")
}

// deleteDetachedOfTenant deletes what a tenant has in the tables of months that are detached.
func (s store) deleteDetachedOfTenant(ctx context.Context, id uuid.UUID, table string) error {
	_, err := s.db.Conn(ctx).ExecContext(ctx, `DELETE FROM `+table+`
WHERE tenant_id = $1 AND stream IN (SELECT number FROM usage_streams WHERE tenant_id = $1 AND number IS NOT NULL)`, id)
	return sqldb.Wrap(err, "delete events of tenant")
}
