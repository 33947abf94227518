package usage

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// store has the SQL of the package. Its methods take part in the transaction of their context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *usagesql.Queries { return usagesql.New(s.db.Conn(ctx)) }

func (s store) events() eventStore { return newEventStore(s.db) }

// currentCounter returns the counter of a period from the stored counters. A period without a stored
// counter is counted from its events; usually there are no events.
func (s store) currentCounter(ctx context.Context, k StreamKey, m Meter, p Period, counters map[StreamKey][]*Counter) (Counter, error) {
	known, recorded := counters[k]
	if !recorded {
		return Counter{Period: p}, nil
	}
	if c := find(known, p); c != nil {
		return *c, nil
	}
	return s.rebuild(ctx, k.TenantID, m, p)
}

// level returns the counter of a period, plus the interrupted windows in besides if the meter is
// monthly.
func (s store) level(ctx context.Context, k StreamKey, m Meter, p Period, besides []Period, counters map[StreamKey][]*Counter) (Counter, error) {
	sum, err := s.currentCounter(ctx, k, m, p, counters)
	if err != nil || m.Reset != ResetMonthly {
		return sum, err
	}
	for _, part := range besides {
		c, err := s.currentCounter(ctx, k, m, part, counters)
		if err != nil {
			return sum, err
		}
		sum.join(m.Aggregation, c)
	}
	return sum, nil
}

// rebuild computes a counter from the stored events. For the unbounded period it includes deleted
// events.
func (s store) rebuild(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (Counter, error) {
	c := Counter{Period: p}
	if m.Aggregation == LastValue {
		last, at, err := s.lastValue(ctx, tenantID, m, p)
		c.Value, c.LastRecordedAt = money.TotalOf(last), at
		return c, err
	}
	t, err := s.totals(ctx, tenantID, m, p)
	if err != nil {
		return c, err
	}
	switch m.Aggregation {
	case Sum:
		c.Value, c.Granted = money.NewTotal(t.units, t.millionths), t.granted
	case Count:
		c.Value, c.Granted = money.NewTotal(t.events, 0), t.granted
	case Max:
		c.Value = money.TotalOf(t.highest)
	case LastValue: // handled above
	}
	return c, nil
}

// totals aggregates the events of a period. Their sum is units plus millionths of a unit.
type totals struct {
	events, units, millionths int64
	highest                   money.Quantity
	granted                   money.Total
}

func (s store) totals(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (totals, error) {
	if p.Unbounded() {
		row, err := s.q(ctx).TotalsEver(ctx, usagesql.TotalsEverParams{TenantID: tenantID, MeterID: m.ID})
		highest := money.Quantity(max(row.Highest, row.PrunedHighest))
		return totals{row.Events, row.Units, row.Millionths, highest, money.NewTotal(row.GrantedUnits, row.GrantedMillionths)}, sqldb.Wrap(err, "total all events")
	}
	row, err := s.q(ctx).Totals(ctx, usagesql.TotalsParams{
		TenantID: tenantID, MeterID: m.ID, PeriodStart: p.Start, PeriodEnd: p.End,
	})
	granted := money.NewTotal(row.GrantedUnits, row.GrantedMillionths)
	return totals{row.Events, row.Units, row.Millionths, money.Quantity(row.Highest), granted}, sqldb.Wrap(err, "total the events of a period")
}

// lastValue returns the value and the time of the latest event of a period. The time is nil without
// an event. A period without a start includes deleted events. They are read second, so that an
// event that is deleted concurrently is still found.
func (s store) lastValue(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (money.Quantity, *time.Time, error) {
	newest, err := s.newestEvents(ctx, tenantID, m, p, 1)
	if err != nil {
		return 0, nil, err
	}
	var value money.Quantity
	var last *time.Time
	if len(newest) > 0 {
		value, last = newest[0].Quantity, &newest[0].RecordedAt
	}
	if !p.Start.Equal(AllTime().Start) {
		return value, last, nil
	}
	pruned, at, err := s.lastPruned(ctx, StreamKey{TenantID: tenantID, MeterID: m.ID})
	switch {
	case errors.Is(err, errNonePruned):
		return value, last, nil
	case err != nil:
		return 0, nil, err
	case at.Before(p.End) && (last == nil || at.After(*last)):
		return pruned, &at, nil
	}
	return value, last, nil
}

// lastPruned returns the latest deleted event of a stream. It returns errNonePruned if no event was
// deleted.
func (s store) lastPruned(ctx context.Context, k StreamKey) (money.Quantity, time.Time, error) {
	row, err := s.q(ctx).LastPruned(ctx, usagesql.LastPrunedParams{TenantID: k.TenantID, MeterID: k.MeterID})
	if err != nil {
		return 0, time.Time{}, sqldb.WrapAbsent(err, "read the last deleted event", errNonePruned)
	}
	if row.PrunedLastAt == nil {
		return 0, time.Time{}, errNonePruned
	}
	return money.Quantity(row.PrunedLast), *row.PrunedLastAt, nil
}

// newestEvents returns at most n events of a period, newest first.
func (s store) newestEvents(ctx context.Context, tenantID uuid.UUID, m Meter, p Period, n int32) ([]Event, error) {
	rows, err := s.q(ctx).NewestEvents(ctx, usagesql.NewestEventsParams{
		TenantID: tenantID, MeterID: m.ID, PeriodStart: p.Start, PeriodEnd: p.End, MaxEvents: n,
	})
	if err != nil {
		return nil, sqldb.Wrap(err, "read the newest events")
	}
	newest := make([]Event, len(rows))
	for i, row := range rows {
		newest[i] = Event{
			ID: row.ID, MeterCode: m.Code, Quantity: money.Quantity(row.Quantity),
			RecordedAt: row.RecordedAt, Metadata: row.Metadata,
		}
	}
	return newest, nil
}
