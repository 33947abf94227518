package usage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// store is the domain's SQL. Its methods take part in the transaction of their
// context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *usagesql.Queries { return usagesql.New(s.db.Conn(ctx)) }

func (s store) activeMeters(ctx context.Context) ([]Meter, error) {
	rows, err := s.q(ctx).ActiveMeters(ctx)
	if err != nil {
		return nil, fmt.Errorf("usage: active meters: %w", err)
	}
	meters := make([]Meter, len(rows))
	for i, row := range rows {
		meters[i] = meterOf(row)
	}
	return meters, nil
}

// meter finds a meter by its code; found is false when there is none.
func (s store) meter(ctx context.Context, code string) (m Meter, found bool, err error) {
	return oneMeter(s.q(ctx).MeterByCode(ctx, code))
}

// measured is a meter that is recorded on.
type measured struct {
	Meter
	billable bool // it has a price that is linked to one of the payment provider
}

// meterForRecording is meter, and keeps the meter's rules as they are until the
// transaction ends.
func (s store) meterForRecording(ctx context.Context, code string) (m measured, found bool, err error) {
	row, err := s.q(ctx).MeterForRecording(ctx, code)
	m.Meter, found, err = oneMeter(row, err)
	m.billable = row.IsBillable
	return m, found, err
}

func oneMeter(row usagesql.Meter, err error) (Meter, bool, error) {
	if errors.Is(err, sqldb.ErrNoRows) {
		return Meter{}, false, nil
	}
	if err != nil {
		return Meter{}, false, fmt.Errorf("usage: meter: %w", err)
	}
	return meterOf(row), true, nil
}

func meterOf(row usagesql.Meter) Meter {
	return Meter{
		ID:          row.ID,
		Code:        row.Code,
		Name:        row.Name,
		Aggregation: Aggregation(row.AggregationType),
		Reset:       ResetInterval(row.ResetInterval),
		Enforcement: Enforcement(row.QuotaEnforcement),
		UnitLabel:   row.UnitLabel,
		Active:      row.IsActive,
	}
}

// current is what a meter shows of a tenant for a period, by the counters that
// hold now. A period that has no counter yet is counted from its events, of which
// there are usually none.
func (s store) current(ctx context.Context, k streamKey, m Meter, p Period, counters map[streamKey][]*counter) (money.Quantity, error) {
	known, recorded := counters[k]
	if !recorded {
		return 0, nil
	}
	if c := find(known, p); c != nil {
		return c.value, nil
	}
	made, err := s.rebuild(ctx, k.tenantID, m, p)
	return made.value, err
}

// rebuild computes from the stored events what a counter has to show, and for all
// of time from the deleted ones as well.
func (s store) rebuild(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (counter, error) {
	c := counter{period: p}
	if m.Aggregation == LastValue {
		var err error
		c.value, c.last, err = s.lastValue(ctx, tenantID, m, p)
		return c, err
	}
	totals, err := s.totals(ctx, tenantID, m, p)
	if err != nil {
		return c, fmt.Errorf("usage: totals: %w", err)
	}
	switch m.Aggregation {
	case Sum:
		c.value = sumOf(totals.Units, totals.Millionths)
	case Count:
		c.value = sumOf(totals.Events, 0)
	case Max:
		c.value = money.Quantity(totals.Highest)
	case LastValue: // above
	}
	return c, nil
}

func (s store) totals(ctx context.Context, tenantID uuid.UUID, m Meter, p Period) (usagesql.TotalsRow, error) {
	if !p.Unbounded() {
		return s.q(ctx).Totals(ctx, usagesql.TotalsParams{
			TenantID: tenantID, MeterID: m.ID, PeriodStart: p.Start, PeriodEnd: p.End,
		})
	}
	ever, err := s.q(ctx).TotalsEver(ctx, usagesql.TotalsEverParams{TenantID: tenantID, MeterID: m.ID})
	return usagesql.TotalsRow{
		Events: ever.Events, Units: ever.Units, Millionths: ever.Millionths, Highest: max(ever.Highest, ever.PrunedHighest),
	}, err
}

// lastValue reads the latest of a period's events. Where the period has no beginning
// it looks at the deleted ones after the others, since an event that is being deleted
// turns from one of those into one of these.
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
	if !p.Start.Equal(allTime().Start) {
		return value, last, nil
	}
	gone, err := s.pruned(ctx, streamKey{tenantID, m.ID})
	if err == nil && gone.lastAt != nil && gone.lastAt.Before(p.End) && (last == nil || gone.lastAt.After(*last)) {
		value, last = gone.last, gone.lastAt
	}
	return value, last, err
}

// sumOf puts a total together; one that is too large stays at the limit, as a
// counter does.
func sumOf(units, millionths int64) money.Quantity {
	whole, fits := money.Whole(units)
	if !fits {
		return math.MaxInt64
	}
	return addUpTo(whole, money.Quantity(millionths))
}

// newestEvents reads at most n events of a period, newest first.
func (s store) newestEvents(ctx context.Context, tenantID uuid.UUID, m Meter, p Period, n int32) ([]Event, error) {
	rows, err := s.q(ctx).NewestEvents(ctx, usagesql.NewestEventsParams{
		TenantID: tenantID, MeterID: m.ID, PeriodStart: p.Start, PeriodEnd: p.End, MaxEvents: n,
	})
	if err != nil {
		return nil, fmt.Errorf("usage: newest events: %w", err)
	}
	events := make([]Event, len(rows))
	for i, row := range rows {
		events[i] = Event{
			ID: row.ID, MeterCode: m.Code, Quantity: money.Quantity(row.Quantity),
			RecordedAt: row.RecordedAt, Metadata: row.Metadata,
		}
	}
	return events, nil
}
