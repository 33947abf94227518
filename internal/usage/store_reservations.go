package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// tenantsToReserve returns the query that locks the tenants that reserve units, so that concurrent
// reservations on several meters together cannot exceed the maximum of a tenant. Tenants are locked
// before streams, in order.
func (s store) tenantsToReserve(tenants map[uuid.UUID]bool) []sqldb.Query {
	if len(tenants) == 0 {
		return nil
	}
	ids := slices.Collect(maps.Keys(tenants))
	if s.db.IsDistributed() {
		return distribution.LockTenants(s.db, ids...)
	}
	among, args := sqldb.InCondition(s.db, 1, "uuid", ids)
	return []sqldb.Query{{
		Doing: "lock tenants to reserve",
		Text:  `SELECT id FROM tenants WHERE id ` + among + ` ORDER BY id FOR NO KEY UPDATE`,
		Args:  args,
		Row:   func(scan func(...any) error) error { return scan(new(uuid.UUID)) },
	}}
}

// reservation returns a reservation, or errNoReservation.
func (s store) reservation(ctx context.Context, tenantID, id uuid.UUID) (reservation, error) {
	row, err := s.q(ctx).Reservation(ctx, usagesql.ReservationParams{TenantID: tenantID, ID: id})
	r := row.UsageReservation
	return reservation{
		ID: r.ID, MeterCode: row.Code, Quantity: money.Quantity(r.Quantity), ExpiresAt: r.ExpiresAt,
		stream: StreamKey{TenantID: r.TenantID, MeterID: r.MeterID}, key: r.IdempotencyKey, released: r.ReleasedAt, eventID: r.EventID,
	}, sqldb.WrapAbsent(err, "read reservation", errNoReservation)
}

// releaseReservation releases a reservation whose stream is locked.
func (s store) releaseReservation(ctx context.Context, tenantID, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).ReleaseReservation(ctx, usagesql.ReleaseReservationParams{TenantID: tenantID, ID: id, Now: now})
	return sqldb.Wrap(err, "release reservation")
}

// openReservationsToCount returns the query that counts the open reservations of tenants, if a
// stream may have some or an entry reserves units.
func (s store) openReservationsToCount(streams []*stream, now time.Time, found map[StreamKey]openReservations) []sqldb.Query {
	var tenants []uuid.UUID
	for _, one := range streams {
		isNeeded := one.reservedUntil != nil && now.Before(*one.reservedUntil) || one.reserves()
		if isNeeded && !slices.Contains(tenants, one.key.TenantID) {
			tenants = append(tenants, one.key.TenantID)
		}
	}
	if len(tenants) == 0 {
		return nil
	}
	return []sqldb.Query{s.openReservationsQuery(tenants, now, func(k StreamKey, o openReservations) { found[k] = o })}
}

// openReservationsQuery counts the open reservations of one or more tenants,
// by stream.
func (s store) openReservationsQuery(tenants []uuid.UUID, now time.Time, add func(k StreamKey, o openReservations)) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 2, "uuid", tenants)
	return sqldb.Query{
		Doing: "count open reservations",
		Text: `SELECT tenant_id, meter_id, count(*), sum(quantity / 1000000)::bigint, sum(quantity % 1000000)::bigint
FROM usage_reservations
WHERE event_id IS NULL AND released_at IS NULL AND expires_at > $1::timestamptz AND tenant_id ` + among + `
GROUP BY tenant_id, meter_id`,
		Args: append([]any{now}, args...),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var count, units, millionths int64
			err := scan(&k.TenantID, &k.MeterID, &count, &units, &millionths)
			add(k, openReservations{count, money.NewTotal(units, millionths)})
			return err
		},
	}
}

// nextExpiryQuery reads when the next open reservation of one or more tenants expires.
func (s store) nextExpiryQuery(tenants []uuid.UUID, now time.Time, next **time.Time) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 2, "uuid", tenants)
	return sqldb.Query{
		Doing: "read the next expiry of a reservation",
		Text: `SELECT expires_at FROM usage_reservations
WHERE event_id IS NULL AND released_at IS NULL AND expires_at > $1::timestamptz AND tenant_id ` + among + `
ORDER BY expires_at LIMIT 1`,
		Args: append([]any{now}, args...),
		Row:  func(scan func(...any) error) error { return scan(next) },
	}
}

// reservationsByKey returns the query that reads the reservations, open or not, with the
// idempotency keys of the streams' entries. CROSS JOIN makes SQLite look up each key.
func (s store) reservationsByKey(streams []*stream) []sqldb.Query {
	of := map[StreamKey]*stream{}
	var rows []any
	var keys []eventKey
	for _, one := range streams {
		if one.reservedUntil == nil {
			continue
		}
		of[one.key] = one
		for _, k := range one.keys() {
			rows, keys = append(rows, k.TenantID, k.MeterID, k.Key), append(keys, k)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "text")
	and, args := distribution.AndTenants(s.db, "r.tenant_id", args, keys, func(k eventKey) uuid.UUID { return k.TenantID })
	return []sqldb.Query{{
		Doing: "read reservations by key",
		Text: `SELECT r.tenant_id, r.meter_id, r.id, r.idempotency_key, r.quantity, r.expires_at, r.released_at, r.event_id
FROM (` + values + `) v
CROSS JOIN usage_reservations r
WHERE r.tenant_id = v.column1 AND r.meter_id = v.column2 AND r.idempotency_key = v.column3` + and,
		Args: args,
		Row: func(scan func(...any) error) error {
			var r reservation
			err := scan(&r.stream.TenantID, &r.stream.MeterID, &r.ID, &r.key, (*int64)(&r.Quantity), &r.ExpiresAt, &r.released, &r.eventID)
			if err != nil {
				return err
			}
			one := of[r.stream]
			if r.MeterCode = one.meter.Code; one.reservations == nil {
				one.reservations = map[string]*reservation{}
			}
			one.reservations[r.key] = &r
			return nil
		},
	}}
}

// deleteOldReservations deletes up to most reservations that expired between from (inclusive) and
// before (exclusive), and returns their expiry times.
func (s store) deleteOldReservations(ctx context.Context, from, before time.Time, most int32) ([]time.Time, error) {
	rows, err := s.q(ctx).OldReservations(ctx, usagesql.OldReservationsParams{Since: from, Before: before, Most: most})
	if err != nil || len(rows) == 0 {
		return nil, sqldb.Wrap(err, "list old reservations")
	}
	times, keys := make([]time.Time, len(rows)), make([]any, 0, 2*len(rows))
	for i, row := range rows {
		times[i], keys = row.ExpiresAt, append(keys, row.TenantID, row.ID)
	}
	values, args := sqldb.Values(s.db, 2, keys, "uuid", "uuid")
	// A listed reservation can have been opened again in the meantime and then has a later expiry.
	err = s.exec(ctx, `DELETE FROM usage_reservations WHERE expires_at < $1::timestamptz AND (tenant_id, id) IN (`+values+`)`, append([]any{before}, args...))
	return times, sqldb.Wrap(err, "delete old reservations")
}

// putReservations stores new and changed reservations of locked streams.
func (s store) putReservations(ctx context.Context, reservations []*reservation) error {
	if len(reservations) == 0 {
		return nil
	}
	rows := make([]any, 0, 8*len(reservations))
	for _, r := range reservations {
		rows = append(rows, r.stream.TenantID, r.ID, r.stream.MeterID, r.key, int64(r.Quantity), r.ExpiresAt, r.released, r.eventID)
	}
	values, args := sqldb.InsertRows(s.db, rows, "uuid", "uuid", "uuid", "text", "bigint", "timestamptz", "timestamptz", "uuid")
	err := s.exec(ctx, `INSERT INTO usage_reservations (tenant_id, id, meter_id, idempotency_key, quantity, expires_at, released_at, event_id)
`+values+`
ON CONFLICT (tenant_id, id) DO UPDATE
SET expires_at = excluded.expires_at, released_at = excluded.released_at, event_id = excluded.event_id`, args)
	return sqldb.Wrap(err, "store reservations")
}
