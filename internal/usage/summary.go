package usage

import (
	"context"

	"github.com/google/uuid"
)

// Summary reads what every active meter shows of a tenant now. Calls at the same time
// share queries that start after each of them, so it must not be called in a
// transaction.
func (s *Service) Summary(ctx context.Context, tenantID uuid.UUID) (Summary, error) {
	summary, _, err := s.summaries.Get(ctx, tenantID)
	return summary, err
}

// summarize is Summary for several tenants.
func (s *Service) summarize(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Summary, error) {
	meters, err := s.store.activeMeters(ctx)
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, tenantIDs, meters)
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
	shown, err := s.shown(ctx, []uuid.UUID{tenantID}, []Meter{m})
	if err != nil {
		return Detail{}, err
	}
	reading := shown[tenantID].Readings[0]
	events, err := s.store.newestEvents(ctx, tenantID, m, reading.Period, recentEvents)
	if err != nil {
		return Detail{}, err
	}
	return Detail{Reading: reading, Events: events}, nil
}

// shown reads what meters show of tenants now. The number of queries does not depend on
// the number of tenants.
func (s *Service) shown(ctx context.Context, tenantIDs []uuid.UUID, meters []Meter) (map[uuid.UUID]Summary, error) {
	allowances, err := s.plans.Allowances(ctx, tenantIDs)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	counters, err := s.store.countersAt(ctx, tenantIDs, now)
	if err != nil {
		return nil, err
	}
	if err := s.store.addInterrupted(ctx, allowances, meters, now, counters); err != nil {
		return nil, err
	}
	shown := make(map[uuid.UUID]Summary, len(tenantIDs))
	for _, id := range tenantIDs {
		if _, twice := shown[id]; twice {
			continue
		}
		a := allowances[id]
		summary := Summary{TenantID: id, Period: PeriodOf(Monthly, a.Billing, now), Readings: make([]Reading, len(meters))}
		for i, m := range meters {
			r := Reading{Meter: m, Period: PeriodOf(m.Reset, a.Billing, now), Limit: a.limit(m.Code)}
			if r.Current, err = s.store.level(ctx, StreamKey{id, m.ID}, m, r.Period, a.Billing.interrupted(now), counters); err != nil {
				return nil, err
			}
			summary.Readings[i] = r
		}
		shown[id] = summary
	}
	return shown, nil
}
