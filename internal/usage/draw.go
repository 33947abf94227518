package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// Grants and reservations are read and changed in the transaction that records usage (rules:
// usage#grants, usage#reservations). The row of a stream contains the latest expiry of its grants
// and reservations, so recording without them needs no query.
//
// Invariant: a stream is locked while its grants and reservations change, so concurrent events draw
// each unit once.

// readPools runs a query together with the queries for grants and reservations.
func (l *ledger) readPools(ctx context.Context, streams []*stream, now time.Time, with sqldb.Query) error {
	open := map[StreamKey]openReservations{}
	queries := slices.Concat([]sqldb.Query{with}, l.store.grantsToDraw(streams, now), l.store.openReservationsToCount(streams, now, open), l.store.reservationsByKey(streams))
	if err := l.store.db.QueryAll(ctx, queries...); err != nil {
		return err
	}
	setReserved(streams, open)
	for _, s := range streams {
		slices.SortFunc(s.grants, compareGrants)
		for _, g := range s.grants {
			s.remaining, _ = s.remaining.Add(g.rest)
		}
	}
	return l.findBilled(ctx, streams)
}

// setReserved sets the reserved units of streams, and how many more reservations their tenants can
// open.
func setReserved(streams []*stream, open map[StreamKey]openReservations) {
	if len(open) == 0 && !slices.ContainsFunc(streams, (*stream).reserves) {
		return
	}
	left := map[uuid.UUID]*int64{}
	for _, s := range streams {
		if left[s.key.TenantID] == nil {
			left[s.key.TenantID] = new(int64(maxReservations))
		}
		s.canOpen, s.reserved = left[s.key.TenantID], open[s.key].units(s.meter)
	}
	for k, o := range open {
		*left[k.TenantID] -= o.count
	}
}

// findBilled sets isBilled on the streams with grants whose meters the tenants' plans bill. In a
// trial usage is free, so isBilled stays false.
func (l *ledger) findBilled(ctx context.Context, streams []*stream) error {
	allowances := map[uuid.UUID]Allowance{}
	for _, s := range streams {
		if a := s.allowance; len(s.grants) > 0 && s.billable && a.BillsUsage && !a.IsTrial {
			allowances[s.key.TenantID] = a
		}
	}
	if len(allowances) == 0 {
		return nil
	}
	prices, err := l.plans.Prices(ctx, allowances)
	for _, s := range streams {
		_, s.isBilled = prices[s.key.TenantID][s.key.MeterID]
	}
	return err
}

// writeGrants stores the changed grants and reservations, and publishes the grants that are now
// used up.
func (l *ledger) writeGrants(ctx context.Context, out outcome, now time.Time) error {
	later := sqldb.WithDeferred(ctx)
	if err := l.store.putReservations(later, out.reservations); err != nil {
		return err
	}
	for _, g := range out.grants {
		if g.rest == (money.Total{}) {
			g.usedUpAt = &now
		}
	}
	if err := l.store.putRests(later, out.grants); err != nil {
		return err
	}
	if err := l.store.putStreamStates(later, out.streams); err != nil {
		return err
	}
	for _, g := range out.grants {
		if g.rest != (money.Total{}) {
			continue
		}
		if err := hook.Publish(ctx, l.alarm.events, hook.GrantUsedUp, g.stream.TenantID, hook.StaticData(viewOfGrant(*g, now, false))); err != nil {
			return err
		}
	}
	return nil
}

// draw takes units from the grants of the stream, in order.
func (s *stream) draw(granted money.Quantity) {
	units := money.TotalOf(granted)
	s.remaining = minus(s.remaining, units)
	for _, g := range s.grants {
		n := minTotal(units, g.rest)
		if n == (money.Total{}) {
			continue
		}
		g.rest, units, g.isChanged = g.rest.Sub(n), units.Sub(n), true
	}
}

// settlePools adds the changed grants and reservations to out. Once the grants of a stream are used
// up, recording on the stream stops querying them.
func (s *stream) settlePools(out *outcome) {
	isChanged := false
	for _, g := range s.grants {
		if g.isChanged {
			out.grants = append(out.grants, g)
		}
	}
	if s.readsGrants && s.remaining == (money.Total{}) && !s.hasLaterGrants {
		s.grantedUntil, isChanged = nil, true
	}
	for _, r := range s.reservations {
		if !r.isChanged {
			continue
		}
		out.reservations = append(out.reservations, r)
		if s.reservedUntil == nil || s.reservedUntil.Before(r.ExpiresAt) {
			// Rounded up, so that it rarely changes.
			until := r.ExpiresAt.Truncate(time.Hour).Add(time.Hour)
			s.reservedUntil, isChanged = &until, true
		}
	}
	if isChanged {
		out.streams = append(out.streams, s)
	}
}

// grantsToDraw returns the query that reads the valid grants into their streams, if there may be
// any.
func (s store) grantsToDraw(streams []*stream, now time.Time) []sqldb.Query {
	with := map[StreamKey]*stream{}
	var keys []StreamKey
	for _, one := range streams {
		if one.grantedUntil != nil && now.Before(*one.grantedUntil) {
			one.readsGrants, with[one.key] = true, one
			keys = append(keys, one.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return []sqldb.Query{s.grantsQuery(keys, func(g grant) {
		of := with[g.stream]
		g.featureCode = of.meter.Code
		if g.isValid(now) {
			of.grants = append(of.grants, &g)
		} else if !g.hasExpired(now) {
			of.hasLaterGrants = true
		}
	})}
}

// grantsQuery reads the grants of one or more streams that have remaining units. It does not set
// the code of the feature.
func (s store) grantsQuery(keys []StreamKey, add func(grant)) sqldb.Query {
	among, args := s.streamCondition(keys)
	return sqldb.Query{
		Doing: "read grants",
		Text: `SELECT tenant_id, id, meter_id, amount_units, amount_millionths, units, millionths, starts_at, expires_at, priority, source,
    reason, pack, invoice_id, created_at, author
FROM usage_grants WHERE units + millionths > 0 AND (tenant_id, meter_id) ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var (
				g      grant
				author sqldb.JSON
			)
			err := scan(&g.stream.TenantID, &g.id, &g.stream.MeterID, &g.amount.Units, &g.amount.Millionths, &g.rest.Units, &g.rest.Millionths,
				&g.startsAt, &g.expiresAt, &g.priority, &g.source, &g.reason, &g.pack, &g.invoiceID, &g.createdAt, &author)
			g.by = decodeAuthor(author)
			add(g)
			return err
		},
	}
}

// putRests stores the remaining units of grants whose streams are locked.
func (s store) putRests(ctx context.Context, grants []*grant) error {
	if len(grants) == 0 {
		return nil
	}
	rows := make([]any, 0, 5*len(grants))
	for _, g := range grants {
		rows = append(rows, g.stream.TenantID, g.id, g.rest.Units, g.rest.Millionths, g.usedUpAt)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "bigint", "bigint", "timestamptz")
	and, args := distribution.AndTenants(s.db, "usage_grants.tenant_id", args, grants, func(g *grant) uuid.UUID { return g.stream.TenantID })
	err := s.exec(ctx, `UPDATE usage_grants SET units = v.column3, millionths = v.column4, used_up_at = v.column5
FROM (`+values+`) v
WHERE usage_grants.tenant_id = v.column1 AND usage_grants.id = v.column2`+and, args)
	return sqldb.Wrap(err, "draw from grants")
}

// putStreamStates stores the times until which locked streams can have grants and reservations.
func (s store) putStreamStates(ctx context.Context, streams []*stream) error {
	if len(streams) == 0 {
		return nil
	}
	rows := make([]any, 0, 4*len(streams))
	for _, one := range streams {
		rows = append(rows, one.key.TenantID, one.key.MeterID, one.grantedUntil, one.reservedUntil)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "timestamptz", "timestamptz")
	and, args := distribution.AndTenants(s.db, "usage_streams.tenant_id", args, streams, func(of *stream) uuid.UUID { return of.key.TenantID })
	err := s.exec(ctx, `UPDATE usage_streams SET granted_until = v.column3, reserved_until = v.column4
FROM (`+values+`) v
WHERE usage_streams.tenant_id = v.column1 AND usage_streams.meter_id = v.column2`+and, args)
	return sqldb.Wrap(err, "store the state of streams")
}
