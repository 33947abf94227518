package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/gather"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// shown is a summary with what its periods follow from.
type shown struct {
	Summary
	billing *Billing
	besides []Period // the interrupted windows that count in it
}

// of reports whether a time is in the periods of the summary.
func (s *shown) of(now time.Time) bool {
	if !s.Period.Equal(PeriodOf(Monthly, s.billing, now)) || !slices.EqualFunc(s.besides, s.billing.Interrupted(now), Period.Equal) {
		return false
	}
	for _, r := range s.Readings {
		if !r.Period.Equal(PeriodOf(r.Meter.Reset, s.billing, now)) {
			return false
		}
	}
	return true
}

// Summary reads what every active meter shows of a tenant now. Calls at the same time
// share queries that start after each of them, and later ones use what those found for as
// long as they would find the same, and the time is in the same periods. Callers share
// the readings.
func (s *Service) Summary(ctx context.Context, tenantID uuid.UUID) (Summary, error) {
	summary, _, err := s.summaries.Get(ctx, tenantID)
	return summary.Summary, err
}

// keepSummaries keeps summaries. They depend on the subscription and the streams of no
// other tenant.
func (s *Service) keepSummaries(db *sqldb.DB, line *gather.Line) {
	if line == nil {
		line = gather.NewLine(db)
	}
	s.summaries = gather.Keep(gather.KeptConfig[uuid.UUID, shown]{
		DB: db, Find: s.summarize, Line: line, Bytes: 8 << 20,
		Size:    func(_ uuid.UUID, s shown) int { return 512 + 320*len(s.Readings) + 192*len(s.besides) },
		Current: func(one shown) bool { return one.of(s.clock.Now()) },
		Rows:    func(id uuid.UUID, _ shown) []sqldb.Key { return rowsOf(id) },
	})
}

// rowsOf are the rows that the terms and the streams of a tenant depend on.
func rowsOf(id uuid.UUID) []sqldb.Key {
	text := id.String()
	return []sqldb.Key{
		{Table: "subscriptions", Value: text}, {Table: "usage_counters", Value: text}, {Table: "usage_streams", Value: text},
	}
}

// summarize is Summary for several tenants.
func (s *Service) summarize(tenantIDs []uuid.UUID) ([]sqldb.Query, func(context.Context) (map[uuid.UUID]shown, error)) {
	var meters []Meter
	return s.show(tenantIDs, &meters, activeMetersQuery(&meters))
}

// AheadOfSummary has what Summary is going to be asked for looked up with the request's caller
// (see gather.Kept).
func (s *Service) AheadOfSummary(ctx context.Context, tenantID uuid.UUID) context.Context {
	return s.summaries.Ahead(ctx, tenantID)
}

// Detail reads what one meter, active or not, shows of a tenant now, with the newest
// events of its period. It answers 404 for an unknown code.
func (s *Service) Detail(ctx context.Context, tenantID uuid.UUID, code string) (Detail, error) {
	if !storable(code) {
		return Detail{}, errNoSuchMeter
	}
	m, err := s.store.meter(ctx, code)
	if err != nil {
		return Detail{}, err
	}
	queries, read := s.show([]uuid.UUID{tenantID}, &[]Meter{m})
	if err := s.store.db.Each(ctx, queries...); err != nil {
		return Detail{}, err
	}
	all, err := read(ctx)
	if err != nil {
		return Detail{}, err
	}
	reading := all[tenantID].Readings[0]
	events, err := s.store.newestEvents(ctx, tenantID, m, reading.Period, recentEvents)
	if err != nil {
		return Detail{}, err
	}
	return Detail{Reading: reading, Events: events}, nil
}

// show reads what meters show of tenants now; before may be queries that find the meters.
// The number of queries does not depend on the number of tenants.
func (s *Service) show(tenantIDs []uuid.UUID, meters *[]Meter, before ...sqldb.Query) ([]sqldb.Query, func(context.Context) (map[uuid.UUID]shown, error)) {
	now := s.clock.Now()
	counters := map[StreamKey][]*Counter{}
	queries, read := s.plans.Allowances(tenantIDs)
	queries = slices.Concat(before, queries, []sqldb.Query{s.store.countersAtQuery(tenantIDs, now, counters)})
	return queries, func(ctx context.Context) (map[uuid.UUID]shown, error) {
		allowances, err := read(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.store.addInterrupted(ctx, allowances, *meters, now, counters); err != nil {
			return nil, err
		}
		all := make(map[uuid.UUID]shown, len(tenantIDs))
		for _, id := range tenantIDs {
			if _, twice := all[id]; twice {
				continue
			}
			if all[id], err = s.shownOf(ctx, id, allowances[id], *meters, now, counters); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// shownOf puts together what meters show of one tenant.
func (s *Service) shownOf(ctx context.Context, id uuid.UUID, a Allowance, meters []Meter, now time.Time, counters map[StreamKey][]*Counter) (_ shown, err error) {
	summary := Summary{TenantID: id, Period: PeriodOf(Monthly, a.Billing, now), Readings: make([]Reading, len(meters))}
	besides := a.Billing.Interrupted(now)
	for i, m := range meters {
		r := Reading{Meter: m, Period: PeriodOf(m.Reset, a.Billing, now), Limit: a.limit(m.Code)}
		if r.Current, err = s.store.level(ctx, StreamKey{TenantID: id, MeterID: m.ID}, m, r.Period, besides, counters); err != nil {
			return shown{}, err
		}
		summary.Readings[i] = r
	}
	return shown{summary, a.Billing, besides}, nil
}
