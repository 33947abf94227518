package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// The statements of recording, the hot path. Most take many rows at once, which sqlc cannot
// generate.

// meterRules is a meter with everything that recording depends on.
type meterRules struct {
	Meter
	billable bool // it has a price that is linked to a price of the payment provider
}

// metersForRecording reads the existing meters with the given codes, which must be sorted, into
// found. Each query locks the rules of a meter, including whether it is billable, until the
// decisions based on them are stored. Only columns of the locked row itself are guaranteed to be
// current when the lock is granted.
func (s store) metersForRecording(codes []string, found map[string]*meterRules) []sqldb.Query {
	queries := distribution.ShareCatalog(s.db)
	for _, code := range codes {
		queries = append(queries, sqldb.Query{
			Doing: "read meter for recording",
			Text:  `SELECT ` + meterColumns + ` FROM meters WHERE code = $1::text AND deleted_at IS NULL` + distribution.RowLock(s.db, ` FOR KEY SHARE`),
			Args:  []any{code},
			Row:   meterInto(func(m meterRules) { found[m.Code] = &m }),
		})
	}
	return queries
}

// streamState is the state of a stream's row.
type streamState struct {
	pruned       bool       // events of the stream were deleted
	cap          *int64     // the tenant's own limit in whole units; nil for none
	summedBefore *time.Time // hours include the events recorded before this time; nil: no events
	// grantedUntil is the end of the last grant that may have remaining units; nil without such a
	// grant.
	grantedUntil *time.Time
	// reservedUntil is at or after the end of every reservation; nil if the stream never had a
	// reservation.
	reservedUntil *time.Time
}

// lockStreams locks streams until the transaction ends, so that no other transaction records on
// them, and returns their states. keys must be sorted: every transaction locks in that order, which
// prevents deadlocks.
func (s store) lockStreams(ctx context.Context, keys []StreamKey) (map[StreamKey]streamState, error) {
	states, err := s.lock(ctx, keys)
	if err != nil || len(states) == len(keys) {
		return states, err
	}
	// Some streams are new. Inserting a row locks it. If another transaction is inserting the same
	// row, this waits for its commit.
	if err := s.insertStreams(ctx, keys); err != nil {
		return nil, err
	}
	return s.lock(ctx, keys)
}

// insertStreams inserts the streams that do not exist.
func (s store) insertStreams(ctx context.Context, keys []StreamKey) error {
	rows := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		rows = append(rows, k.TenantID, k.MeterID)
	}
	streams, args := sqldb.InsertRows(s.db, rows, "uuid", "uuid")
	err := s.exec(ctx, `INSERT INTO usage_streams (tenant_id, meter_id) `+streams+` ON CONFLICT DO NOTHING`, args)
	return sqldb.Wrap(err, "insert streams")
}

// lock locks the streams that exist and returns their states.
func (s store) lock(ctx context.Context, keys []StreamKey) (map[StreamKey]streamState, error) {
	found := make(map[StreamKey]streamState, len(keys))
	among, args := s.streamCondition(keys)
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "lock streams",
		Text: `SELECT tenant_id, meter_id, pruned_before IS NOT NULL, summed_before, cap, granted_until, reserved_until FROM usage_streams WHERE (tenant_id, meter_id) ` +
			among + ` ORDER BY tenant_id, meter_id FOR UPDATE`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var state streamState
			err := scan(&k.TenantID, &k.MeterID, &state.pruned, &state.summedBefore, &state.cap, &state.grantedUntil, &state.reservedUntil)
			found[k] = state
			return err
		},
	})
}

// counters reads the counters of streams whose periods overlap a time range, including its end.
func (s store) counters(ctx context.Context, keys []StreamKey, in Period) (map[StreamKey][]*Counter, error) {
	found := make(map[StreamKey][]*Counter, len(keys))
	return found, s.db.QueryAll(ctx, s.countersQuery(keys, in, found))
}

// countersQuery is counters as a query that adds to found.
func (s store) countersQuery(keys []StreamKey, in Period, found map[StreamKey][]*Counter) sqldb.Query {
	among, args := s.streamCondition(keys, in.Start, in.End)
	return sqldb.Query{
		Doing: "read counters",
		Text: `SELECT tenant_id, meter_id, period_start, period_end, units, millionths, last_recorded_at, granted_units, granted_millionths, rejected
FROM usage_counters
WHERE period_end > $1::timestamptz AND period_start <= $2::timestamptz
    AND (tenant_id, meter_id) ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var c Counter
			err := scan(&k.TenantID, &k.MeterID, &c.Period.Start, &c.Period.End, &c.Value.Units, &c.Value.Millionths, &c.LastRecordedAt,
				&c.Granted.Units, &c.Granted.Millionths, &c.Rejected)
			found[k] = append(found[k], &c)
			return err
		},
	}
}

// countersAtQuery reads the counters of tenants whose periods contain now into found. It adds every
// stream of the tenants, with an empty list if no such counter is stored.
func (s store) countersAtQuery(tenantIDs []uuid.UUID, now time.Time, found map[StreamKey][]*Counter) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 3, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read counters",
		Text: `SELECT s.tenant_id, s.meter_id, c.period_start, c.period_end, c.units, c.millionths, c.last_recorded_at,
    c.granted_units, c.granted_millionths, c.rejected
FROM usage_streams s
LEFT JOIN usage_counters c ON c.tenant_id = s.tenant_id AND c.meter_id = s.meter_id
    AND c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
WHERE s.tenant_id ` + among,
		Args: append([]any{now, now}, args...),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var start, end, last *time.Time
			var units, millionths, grantedUnits, grantedMillionths, rejected *int64
			err := scan(&k.TenantID, &k.MeterID, &start, &end, &units, &millionths, &last, &grantedUnits, &grantedMillionths, &rejected)
			known := found[k]
			if units != nil {
				known = append(known, &Counter{
					Period: Period{Start: *start, End: *end}, Value: money.Total{Units: *units, Millionths: *millionths}, LastRecordedAt: last,
					Granted: money.Total{Units: *grantedUnits, Millionths: *grantedMillionths}, Rejected: *rejected,
				})
			}
			found[k] = known
			return err
		},
	}
}

// streamStatesQuery reads into found the states of the tenants' streams that have a cap, grants or
// reservations. It does not lock the streams.
func (s store) streamStatesQuery(tenantIDs []uuid.UUID, found map[StreamKey]streamState) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read caps",
		Text: `SELECT tenant_id, meter_id, cap, granted_until, reserved_until FROM usage_streams
WHERE (cap IS NOT NULL OR granted_until IS NOT NULL OR reserved_until IS NOT NULL) AND tenant_id ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var state streamState
			err := scan(&k.TenantID, &k.MeterID, &state.cap, &state.grantedUntil, &state.reservedUntil)
			found[k] = state
			return err
		},
	}
}

// setCap stores the cap of a stream, which must be locked, and the caller who set it.
func (s store) setCap(ctx context.Context, k StreamKey, limit *int64, by *authz.Origin) error {
	author, err := encodeAuthor(by, limit != nil)
	if err != nil {
		return err
	}
	err = s.q(ctx).SetCap(ctx, usagesql.SetCapParams{TenantID: k.TenantID, MeterID: k.MeterID, Cap: limit, CapBy: author})
	return sqldb.Wrap(err, "store cap")
}

// changedCounter is a counter to store.
type changedCounter struct {
	StreamKey
	*Counter
}

// putCounters stores new and changed counters.
func (s store) putCounters(ctx context.Context, counters []changedCounter, now time.Time) error {
	if len(counters) == 0 {
		return nil
	}
	rows := make([]any, 0, 11*len(counters))
	for _, c := range counters {
		rows = append(rows, c.TenantID, c.MeterID, c.Period.Start, c.Period.End, c.Value.Units, c.Value.Millionths, c.LastRecordedAt, now,
			c.Granted.Units, c.Granted.Millionths, c.Rejected)
	}
	values, args := sqldb.InsertRows(s.db, rows, "uuid", "uuid", "timestamptz", "timestamptz", "bigint", "bigint", "timestamptz", "timestamptz",
		"bigint", "bigint", "bigint")
	err := s.exec(ctx, `INSERT INTO usage_counters (tenant_id, meter_id, period_start, period_end, units, millionths, last_recorded_at, updated_at,
    granted_units, granted_millionths, rejected)
`+values+`
ON CONFLICT (tenant_id, period_end, meter_id, period_start) DO UPDATE
SET units = excluded.units, millionths = excluded.millionths, last_recorded_at = excluded.last_recorded_at, updated_at = excluded.updated_at,
    granted_units = excluded.granted_units, granted_millionths = excluded.granted_millionths, rejected = excluded.rejected`, args)
	if err != nil {
		return sqldb.Wrap(err, "store counters")
	}
	return nil
}

func (s store) exec(ctx context.Context, query string, args []any) error {
	_, err := s.db.Conn(ctx).ExecContext(ctx, query, args...)
	return err
}

// streamCondition returns the condition that (tenant_id, meter_id) is one of the streams, and its
// arguments after the given ones. There must be at least one stream.
func (s store) streamCondition(keys []StreamKey, before ...any) (condition string, args []any) {
	rows := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		rows = append(rows, k.TenantID, k.MeterID)
	}
	values, args := sqldb.Values(s.db, len(before)+1, rows, "uuid", "uuid")
	and, args := distribution.AndTenants(s.db, "tenant_id", append(before, args...), keys, StreamKey.tenant)
	return "IN (" + values + ")" + and, args
}

// hoursAtOnce is the number of hours per statement.
const hoursAtOnce = 500

// AddHours adds to the hours of streams, which must be locked. The hours must be distinct. An hour
// keeps its latest value. If two values have the same time, the value that is added later replaces
// the other.
func (r Records) AddHours(ctx context.Context, hours []Hour) error {
	for len(hours) > 0 {
		n := min(len(hours), hoursAtOnce)
		if err := r.store.addHours(ctx, hours[:n]); err != nil {
			return err
		}
		hours = hours[n:]
	}
	return nil
}

// addHours implements AddHours for at least one hour.
func (s store) addHours(ctx context.Context, hours []Hour) error {
	rows := make([]any, 0, 9*len(hours))
	for _, h := range hours {
		rows = append(rows, h.Stream.TenantID, h.Stream.MeterID, h.Hour, h.Events, h.Units, h.Millionths, int64(h.Highest), int64(h.Last), h.LastAt)
	}
	values, args := sqldb.InsertDistinct(s.db, rows, "uuid", "uuid", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "timestamptz")
	err := s.exec(ctx, `INSERT INTO usage_hours (tenant_id, meter_id, hour, events, units, millionths, highest, last, last_at)
`+values+`
ON CONFLICT (tenant_id, meter_id, hour) DO UPDATE
SET events = usage_hours.events + excluded.events, units = usage_hours.units + excluded.units,
    millionths = usage_hours.millionths + excluded.millionths,
    highest = CASE WHEN excluded.highest > usage_hours.highest THEN excluded.highest ELSE usage_hours.highest END,
    last = CASE WHEN excluded.last_at >= usage_hours.last_at THEN excluded.last ELSE usage_hours.last END,
    last_at = CASE WHEN excluded.last_at >= usage_hours.last_at THEN excluded.last_at ELSE usage_hours.last_at END`, args)
	return sqldb.Wrap(err, "add to hours")
}

// addRefused adds to the rejected events of an hour. There must be at least one stream, and the
// streams must be distinct.
func (s store) addRefused(ctx context.Context, hour int64, of []refusedCount) error {
	rows := make([]any, 0, 4*len(of))
	for _, r := range of {
		rows = append(rows, r.stream.TenantID, hour, r.stream.MeterID, r.events)
	}
	values, args := sqldb.InsertDistinct(s.db, rows, "uuid", "bigint", "uuid", "bigint")
	err := s.exec(ctx, `INSERT INTO quota_refusals (tenant_id, hour, meter_id, refused)
`+values+`
ON CONFLICT (tenant_id, hour, meter_id) DO UPDATE SET refused = quota_refusals.refused + excluded.refused`, args)
	return sqldb.Wrap(err, "count rejected events")
}

// addRefusedOfDay adds to the rejected events of a day, in one of the rows over which the count is
// spread.
func (s store) addRefusedOfDay(ctx context.Context, day int64, part int32, events int64) error {
	err := s.q(ctx).AddRefusedOfDay(ctx, usagesql.AddRefusedOfDayParams{Day: day, Part: part, Refused: events})
	return sqldb.Wrap(err, "count rejected events of a day")
}

// raiseAlert stores an alert and reports whether it is new. It is not stored if the same or a
// higher threshold was raised before for the period and limit. The stream must be locked.
func (s store) raiseAlert(ctx context.Context, a Alert, now time.Time) (bool, error) {
	raised, err := s.q(ctx).RaiseAlert(ctx, usagesql.RaiseAlertParams{
		ID: a.ID, TenantID: a.TenantID, MeterID: a.Meter.ID, PeriodStart: a.Period.Start, PeriodEnd: a.Period.End,
		Threshold: int32(a.Threshold), Units: a.Current.Units, Millionths: a.Current.Millionths, Quota: a.Limit, CreatedAt: now,
	})
	return raised > 0, sqldb.Wrap(err, "raise alert")
}
