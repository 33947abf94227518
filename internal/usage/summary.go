package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// cachedSummary is a summary with the billing terms that determine its periods.
type cachedSummary struct {
	Summary
	billing     *Billing
	interrupted []Period // interrupted windows that count in the current period
	changesAt   *time.Time
}

// isCurrent reports whether a time lies in the periods of the summary.
func (s *cachedSummary) isCurrent(now time.Time) bool {
	if s.changesAt != nil && !now.Before(*s.changesAt) {
		return false
	}
	if !s.Period.Equal(PeriodOf(ResetMonthly, s.billing, now)) || !slices.EqualFunc(s.interrupted, s.billing.InterruptedWindows(now), Period.Equal) {
		return false
	}
	for _, r := range s.Readings {
		if !r.Period.Equal(PeriodOf(r.Meter.Reset, s.billing, now)) {
			return false
		}
	}
	return true
}

// Summary returns the usage of a tenant on every active meter in the current period. Callers
// share the readings and must not change them.
func (s *Service) Summary(ctx context.Context, tenantID uuid.UUID) (Summary, error) {
	summary, _, err := s.summaries.Get(ctx, tenantID)
	return summary.Summary, err
}

// summaryTables are the tables that loadSummaries reads.
func (s *Service) summaryTables() []string {
	return append(s.plans.AllowanceTables(), "meters", "usage_streams", "usage_counters", "usage_events", "usage_alerts", "usage_grants", "usage_reservations")
}

func (s *Service) loadSummaries(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]cachedSummary, error) {
	var meters []Meter
	return s.summarize(ctx, tenantIDs, &meters, activeMetersQuery(&meters))
}

// Detail returns the current usage of a tenant on one meter, active or not, with the newest events
// of its period. It returns errNoSuchMeter for an unknown code.
func (s *Service) Detail(ctx context.Context, tenantID uuid.UUID, code string) (Detail, error) {
	if !isStorable(code) {
		return Detail{}, errNoSuchMeter
	}
	m, err := s.store.meter(ctx, code)
	if err != nil {
		return Detail{}, err
	}
	reading, err := s.reading(ctx, tenantID, m)
	if err != nil {
		return Detail{}, err
	}
	events, err := s.store.newestEvents(ctx, tenantID, m, reading.Period, recentEvents)
	if err != nil {
		return Detail{}, err
	}
	return Detail{Reading: reading, Events: events}, nil
}

// summarize reads the tenants' usage on meters in the current period. The query in before, if any,
// runs first and sets the meters. The number of queries does not depend on the number of tenants.
func (s *Service) summarize(ctx context.Context, tenantIDs []uuid.UUID, meters *[]Meter, before ...sqldb.Query) (map[uuid.UUID]cachedSummary, error) {
	from := sources{
		now: s.clock.Now(), counters: map[StreamKey][]*Counter{}, states: map[StreamKey]streamState{}, alerts: map[StreamKey][]raisedAlert{},
	}
	queries, read := s.plans.Allowances(ctx, tenantIDs)
	if err := s.store.db.QueryAll(ctx, slices.Concat(before, queries, []sqldb.Query{
		s.store.countersAtQuery(tenantIDs, from.now, from.counters), s.store.streamStatesQuery(tenantIDs, from.states),
		s.store.alertsQuery(tenantIDs, from.now, from.alerts),
	})...); err != nil {
		return nil, err
	}
	allowances, err := read(ctx)
	if err != nil {
		return nil, err
	}
	if from.prices, err = s.plans.Prices(ctx, allowances); err != nil {
		return nil, err
	}
	if from.pools, err = s.store.poolsOf(ctx, from.states, from.now); err != nil {
		return nil, err
	}
	if err := s.store.addInterrupted(ctx, allowances, *meters, from.now, from.counters); err != nil {
		return nil, err
	}
	summaries := make(map[uuid.UUID]cachedSummary, len(tenantIDs))
	for _, id := range tenantIDs {
		if summaries[id], err = s.summaryOf(ctx, id, allowances[id], *meters, from); err != nil {
			return nil, err
		}
	}
	return summaries, nil
}

// sources are the rows from which summaries are built.
type sources struct {
	now      time.Time
	counters map[StreamKey][]*Counter
	states   map[StreamKey]streamState
	alerts   map[StreamKey][]raisedAlert
	pools    map[StreamKey]shownPool
	prices   map[uuid.UUID]map[uuid.UUID]money.UnitPrice
}

// summaryOf builds the summary of one tenant.
func (s *Service) summaryOf(ctx context.Context, tenantID uuid.UUID, a Allowance, meters []Meter, from sources) (cachedSummary, error) {
	one := cachedSummary{
		Summary: Summary{TenantID: tenantID, Period: PeriodOf(ResetMonthly, a.Billing, from.now), Readings: make([]Reading, len(meters))},
		billing: a.Billing, interrupted: a.Billing.InterruptedWindows(from.now), changesAt: a.ChangesAt,
	}
	for i, m := range meters {
		key := StreamKey{TenantID: tenantID, MeterID: m.ID}
		pool := from.pools[key]
		r := Reading{
			Meter: m, Period: PeriodOf(m.Reset, a.Billing, from.now), Limit: a.limit(m.Code), Cap: from.states[key].cap,
			GrantsRemaining: pool.grants, Reserved: pool.reserved.units(m),
		}
		level, err := s.store.level(ctx, key, m, r.Period, one.interrupted, from.counters)
		if err != nil {
			return cachedSummary{}, err
		}
		r.Current, r.Granted, r.Rejected = level.Value, level.Granted, level.Rejected
		if price, billed := from.prices[tenantID][m.ID]; billed {
			r.UnitPrice, r.Currency = &price, a.Currency
		}
		r.alerts = alertsOf(r, from.alerts[key])
		one.Readings[i], one.changesAt = r, earliest(one.changesAt, pool.changesAt)
	}
	return one, nil
}

// shownPool holds the grants and reservations of a stream as readings show them.
type shownPool struct {
	grants    money.Total // remaining units of the valid grants
	reserved  openReservations
	changesAt *time.Time // when a grant starts, or a grant or reservation expires; nil for never
}

// poolsOf reads the grants and open reservations of the streams that may have some.
func (s store) poolsOf(ctx context.Context, states map[StreamKey]streamState, now time.Time) (map[StreamKey]shownPool, error) {
	pools := map[StreamKey]shownPool{}
	var granted []StreamKey
	var reserved []uuid.UUID
	for k, state := range states {
		if state.grantedUntil != nil && now.Before(*state.grantedUntil) {
			granted = append(granted, k)
		}
		if state.reservedUntil != nil && now.Before(*state.reservedUntil) && !slices.Contains(reserved, k.TenantID) {
			reserved = append(reserved, k.TenantID)
		}
	}
	var queries []sqldb.Query
	if len(granted) > 0 {
		queries = append(queries, s.grantsQuery(granted, func(g grant) {
			p := pools[g.stream]
			switch {
			case g.isValid(now):
				p.grants, _ = p.grants.Add(g.rest)
				p.changesAt = earliest(p.changesAt, g.expiresAt)
			case !g.hasExpired(now):
				p.changesAt = earliest(p.changesAt, &g.startsAt)
			}
			pools[g.stream] = p
		}))
	}
	var next *time.Time
	if len(reserved) > 0 {
		queries = append(queries, s.nextExpiryQuery(reserved, now, &next), s.openReservationsQuery(reserved, now, func(k StreamKey, o openReservations) {
			p := pools[k]
			p.reserved = o
			pools[k] = p
		}))
	}
	if len(queries) == 0 {
		return pools, nil
	}
	err := s.db.QueryAll(ctx, queries...)
	for k, p := range pools {
		if p.reserved.count > 0 {
			p.changesAt = earliest(p.changesAt, next)
			pools[k] = p
		}
	}
	return pools, err
}

// earliest returns the earlier of two times; nil is never.
func earliest(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// reading returns the current usage of a tenant on a meter.
func (s *Service) reading(ctx context.Context, tenantID uuid.UUID, m Meter) (Reading, error) {
	summaries, err := s.summarize(ctx, []uuid.UUID{tenantID}, &[]Meter{m})
	if err != nil {
		return Reading{}, err
	}
	return summaries[tenantID].Readings[0], nil
}
