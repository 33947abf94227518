package retention

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
)

// WrongCounter is a counter, or an hour of a series, that is not the aggregate of its
// events.
type WrongCounter struct {
	TenantID  uuid.UUID
	MeterCode string
	Period    usage.Period
	Stored    money.Total // in the unit of the meter
	Counted   money.Total
}

// Recounted says what a recount has looked at.
type Recounted struct {
	Streams  int // pairs of a tenant and a meter that it has recorded on
	Counters int
	Skipped  int // counters some of whose events may have been deleted
	Wrong    int // counters, and hours of series
}

// Recounter compares counters with their events.
type Recounter struct {
	store   store
	records usage.Records
	sums    *history.Sums
	clock   clock.Clock
}

// NewRecounter makes a Recounter.
func NewRecounter(db *sqldb.DB, c clock.Clock) *Recounter {
	return &Recounter{store: store{db: db}, records: usage.NewRecords(db), sums: history.NewSums(db, c), clock: c}
}

// Recount counts the events of every counter, those of one tenant unless tenantID is
// nil. It calls report for each wrong counter, of which none is expected, and with fix
// corrects it. It may run beside a service that records: where a stream's counters seem
// wrong, it locks the stream, so that recording on it waits, and counts again. It skips
// the counters of periods from which events may have been deleted, but for those of all
// time, since streams keep the totals of their deleted events.
func (r *Recounter) Recount(ctx context.Context, tenantID *uuid.UUID, fix bool, report func(WrongCounter)) (Recounted, error) {
	var total Recounted
	var after usage.StreamKey
	for {
		streams, err := r.store.streamsAfter(ctx, after, tenantID, 100)
		if err != nil || len(streams) == 0 {
			return total, err
		}
		for _, k := range streams {
			one, err := r.recountStream(ctx, k, fix)
			if err != nil {
				return total, err
			}
			for _, w := range one.wrong {
				report(w)
			}
			total.Streams++
			total.Counters += one.counters
			total.Skipped += one.skipped
			total.Wrong += len(one.wrong)
			after = k
		}
	}
}

// comparison is what comparing the counters of a stream found.
type comparison struct {
	counters, skipped int
	wrong             []WrongCounter
	correct           []usage.Counter // what the wrong counters have to be
}

func (r *Recounter) recountStream(ctx context.Context, k usage.StreamKey, fix bool) (comparison, error) {
	// Without the lock, events and counters may be read at different times. Equal
	// figures show that there is nothing to do, different ones show nothing.
	found, err := r.compare(ctx, k)
	if err != nil || len(found.wrong) == 0 {
		return found, err
	}
	err = r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.records.MeterOf(ctx, k); err != nil { // recording locks the meter before the stream, too
			return err
		}
		if err := r.records.LockStreams(ctx, []usage.StreamKey{k}); err != nil {
			return err
		}
		if found, err = r.compare(ctx, k); err != nil || !fix {
			return err
		}
		if _, err := r.sums.Recount(ctx, k, true); err != nil {
			return err
		}
		return r.records.PutCounters(ctx, k, found.correct, r.clock.Now())
	})
	return found, err
}

// compare counts the events of a stream's counters.
func (r *Recounter) compare(ctx context.Context, k usage.StreamKey) (comparison, error) {
	var found comparison
	m, err := r.records.MeterOf(ctx, k)
	if err != nil {
		return found, err
	}
	deleted, err := r.store.prunedTotals(ctx, k)
	if err != nil {
		return found, err
	}
	counters, err := r.store.countersOf(ctx, k)
	if err != nil {
		return found, err
	}
	for _, stored := range counters {
		found.counters++
		if !deleted.complete(stored.Period) {
			found.skipped++
			continue
		}
		counted, err := r.records.Count(ctx, k.TenantID, m, stored.Period)
		if err != nil {
			return found, err
		}
		if counted.Value == stored.Value && sameTime(counted.LastRecordedAt, stored.LastRecordedAt) {
			continue
		}
		found.wrong = append(found.wrong, WrongCounter{
			TenantID: k.TenantID, MeterCode: m.Code, Period: stored.Period, Stored: stored.Value, Counted: counted.Value,
		})
		found.correct = append(found.correct, counted)
	}
	hours, err := r.sums.Recount(ctx, k, false)
	for _, h := range hours {
		start := usage.StartOfHour(h.Stored.Hour)
		found.wrong = append(found.wrong, WrongCounter{
			TenantID: k.TenantID, MeterCode: m.Code, Period: usage.Period{Start: start, End: start.Add(time.Hour)},
			Stored: shown(m, h.Stored), Counted: shown(m, h.Counted),
		})
	}
	return found, err
}

// shown is what a series shows of an hour.
func shown(m usage.Meter, h usage.Hour) money.Total {
	switch m.Aggregation {
	case usage.Sum:
		return money.NewTotal(h.Units, h.Millionths)
	case usage.Count:
		return money.NewTotal(h.Events, 0)
	case usage.Max:
		return money.TotalOf(h.Highest)
	default:
		return money.TotalOf(h.Last)
	}
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
