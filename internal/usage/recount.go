package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// Difference is a counter that is not what its events come to.
type Difference struct {
	TenantID  uuid.UUID
	MeterCode string
	Period    Period
	Stored    money.Quantity
	Counted   money.Quantity
}

// Recounted says what a recount has looked at.
type Recounted struct {
	Streams     int // tenants times the meters that they have recorded on
	Counters    int
	Skipped     int // counters some of whose events may have been deleted
	Differences int
}

// Recounter compares counters with the events that they are made of.
type Recounter struct {
	store store
	clock clock.Clock
}

// NewRecounter makes a Recounter.
func NewRecounter(db *sqldb.DB, c clock.Clock) *Recounter {
	return &Recounter{store: store{db: db}, clock: c}
}

// Recount counts the events of every counter, those of one tenant unless tenantID
// is nil, tells each of the differences, of which none is expected, and with fix
// puts the counter right. It may run beside a service that records: a stream that
// seems to differ is locked, so that recording on it waits, and counted again.
// Counters of periods from which events may have been deleted are skipped, but for
// those of all time, whose streams keep what the deleted events came to.
func (r *Recounter) Recount(ctx context.Context, tenantID *uuid.UUID, fix bool, tell func(Difference)) (Recounted, error) {
	var total Recounted
	var after streamKey
	for {
		rows, err := r.store.q(ctx).StreamsFrom(ctx, usagesql.StreamsFromParams{
			TenantID: after.tenantID, MeterID: after.meterID, OnlyTenant: tenantID, MaxStreams: 100,
		})
		if err != nil {
			return total, fmt.Errorf("usage: streams: %w", err)
		}
		for _, row := range rows {
			after = streamKey{row.TenantID, row.MeterID}
			one, err := r.recountStream(ctx, after, fix, tell)
			if err != nil {
				return total, err
			}
			total.Streams++
			total.Counters += one.Counters
			total.Skipped += one.Skipped
			total.Differences += one.Differences
		}
		if len(rows) == 0 {
			return total, nil
		}
	}
}

func (r *Recounter) recountStream(ctx context.Context, k streamKey, fix bool, tell func(Difference)) (Recounted, error) {
	// What is read without the lock may be of different times, so it only shows
	// that there is nothing to do.
	n, differences, _, err := r.compare(ctx, k)
	if err != nil || len(differences) == 0 {
		return n, err
	}
	err = r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.store.q(ctx).MeterOfStream(ctx, k.meterID); err != nil { // locked before streams, as by who records
			return fmt.Errorf("usage: meter of a stream: %w", err)
		}
		if _, err := r.store.lockStreams(ctx, []streamKey{k}); err != nil {
			return err
		}
		var right []changedCounter
		if n, differences, right, err = r.compare(ctx, k); err != nil || !fix {
			return err
		}
		return r.store.putCounters(ctx, right, r.clock.Now())
	})
	if err != nil {
		return n, err
	}
	for _, d := range differences {
		tell(d)
	}
	return n, nil
}

// compare counts the events of a stream's counters.
func (r *Recounter) compare(ctx context.Context, k streamKey) (n Recounted, differences []Difference, right []changedCounter, err error) {
	m, err := r.store.q(ctx).MeterOfStream(ctx, k.meterID)
	if err != nil {
		return n, nil, nil, fmt.Errorf("usage: meter of a stream: %w", err)
	}
	gone, err := r.store.pruned(ctx, k)
	if err != nil {
		return n, nil, nil, err
	}
	rows, err := r.store.q(ctx).CountersOfStream(ctx, usagesql.CountersOfStreamParams{TenantID: k.tenantID, MeterID: k.meterID})
	if err != nil {
		return n, nil, nil, fmt.Errorf("usage: counters of a stream: %w", err)
	}
	for _, row := range rows {
		n.Counters++
		p := Period{row.PeriodStart, row.PeriodEnd}
		if !gone.has(p) {
			n.Skipped++
			continue
		}
		counted, err := r.store.rebuild(ctx, k.tenantID, meterOf(m), p)
		if err != nil {
			return n, nil, nil, err
		}
		if counted.value == money.Quantity(row.Value) && sameTime(counted.last, row.LastRecordedAt) {
			continue
		}
		n.Differences++
		differences = append(differences, Difference{
			TenantID: k.tenantID, MeterCode: m.Code, Period: p, Stored: money.Quantity(row.Value), Counted: counted.value,
		})
		right = append(right, changedCounter{k, &counted})
	}
	return n, differences, right, nil
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
