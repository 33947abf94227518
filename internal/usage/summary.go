package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// cachedSummary is a summary with the billing terms that determine its periods.
type cachedSummary struct {
	Summary
	billing     *Billing
	interrupted []Period // windows that count in the current period
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
	return append(s.plans.AllowanceTables(), "meters", "usage_streams", "usage_counters", "usage_events")
}

func (s *Service) loadSummaries(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]cachedSummary, error) {
	var meters []Meter
	return s.summarize(ctx, tenantIDs, &meters, activeMetersQuery(&meters))
}

// Detail returns the current usage of a tenant on one meter, active or not, with the newest events
// of its period. It returns errNoSuchMeter for an unknown code.
func (s *Service) Detail(ctx context.Context, tenantID uuid.UUID, code string) (Detail, error) {
	if !storable(code) {
		return Detail{}, errNoSuchMeter
	}
	m, err := s.store.meter(ctx, code)
	if err != nil {
		return Detail{}, err
	}
	summaries, err := s.summarize(ctx, []uuid.UUID{tenantID}, &[]Meter{m})
	if err != nil {
		return Detail{}, err
	}
	reading := summaries[tenantID].Readings[0]
	events, err := s.store.newestEvents(ctx, tenantID, m, reading.Period, recentEvents)
	if err != nil {
		return Detail{}, err
	}
	return Detail{Reading: reading, Events: events}, nil
}

// summarize reads the tenants' usage on meters in the current period. before can contain a query
// that finds the meters. The number of queries does not depend on the number of tenants.
func (s *Service) summarize(ctx context.Context, tenantIDs []uuid.UUID, meters *[]Meter, before ...sqldb.Query) (map[uuid.UUID]cachedSummary, error) {
	now := s.clock.Now()
	counters, caps := map[StreamKey][]*Counter{}, map[StreamKey]int64{}
	queries, read := s.plans.Allowances(ctx, tenantIDs)
	if err := s.store.db.QueryAll(ctx, slices.Concat(before, queries, []sqldb.Query{
		s.store.countersAtQuery(tenantIDs, now, counters), s.store.capsQuery(tenantIDs, caps),
	})...); err != nil {
		return nil, err
	}
	allowances, err := read(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.store.addInterrupted(ctx, allowances, *meters, now, counters); err != nil {
		return nil, err
	}
	summaries := make(map[uuid.UUID]cachedSummary, len(tenantIDs))
	for _, id := range tenantIDs {
		if summaries[id], err = s.summaryOf(ctx, id, allowances[id], *meters, now, counters, caps); err != nil {
			return nil, err
		}
	}
	return summaries, nil
}

// summaryOf builds the summary of one tenant from its counters.
func (s *Service) summaryOf(ctx context.Context, tenantID uuid.UUID, a Allowance, meters []Meter, now time.Time, counters map[StreamKey][]*Counter, caps map[StreamKey]int64) (cachedSummary, error) {
	summary := Summary{TenantID: tenantID, Period: PeriodOf(ResetMonthly, a.Billing, now), Readings: make([]Reading, len(meters))}
	interrupted := a.Billing.InterruptedWindows(now)
	for i, m := range meters {
		r := Reading{Meter: m, Period: PeriodOf(m.Reset, a.Billing, now), Limit: a.limit(m.Code)}
		key := StreamKey{TenantID: tenantID, MeterID: m.ID}
		if limit, capped := caps[key]; capped {
			r.Cap = &limit
		}
		var err error
		if r.Current, err = s.store.level(ctx, key, m, r.Period, interrupted, counters); err != nil {
			return cachedSummary{}, err
		}
		summary.Readings[i] = r
	}
	return cachedSummary{summary, a.Billing, interrupted, a.ChangesAt}, nil
}
