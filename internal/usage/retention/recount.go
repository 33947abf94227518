package retention

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history"
)

// WrongCounter is a counter, or an hour of a series, that differs from the aggregate of its events.
type WrongCounter struct {
	TenantID  uuid.UUID
	MeterCode string
	Period    usage.Period
	Stored    money.Total // in the unit of the meter
	Counted   money.Total
}

// RecountResult counts the work and the findings of a recount.
type RecountResult struct {
	Streams  int // pairs of a tenant and a meter with events
	Events   int // excluding events counted before an interruption
	Counters int
	Skipped  int // counters whose period may have deleted events
	Wrong    int // wrong counters and hours of series
}

func (r *RecountResult) add(o RecountResult) {
	r.Streams += o.Streams
	r.Events += o.Events
	r.Counters += o.Counters
	r.Skipped += o.Skipped
	r.Wrong += o.Wrong
}

// Recount configures a recount.
type Recount struct {
	Tenant *uuid.UUID // nil for all tenants
	// Fix corrects wrong counters.
	Fix bool
	// FromStart starts over even if a recount was interrupted.
	FromStart bool
	// Wrong is called for each wrong counter. None is expected.
	Wrong func(WrongCounter)
	// Progress, if not nil, is called repeatedly with the result so far and the total number of
	// streams.
	Progress func(found RecountResult, streams int)
	// Resumed, if not nil, is called when an interrupted recount is resumed, with its result and
	// the time of its last progress.
	Resumed func(found RecountResult, at time.Time)
}

// Recounter compares counters with their events.
type Recounter struct {
	store   store
	records usage.Records
	sums    *history.Sums
	clock   clock.Clock
	atOnce  int32 // number of streams surveyed together
}

// NewRecounter returns a Recounter.
func NewRecounter(db *sqldb.DB, c clock.Clock) *Recounter {
	return &Recounter{store: store{db: db}, records: usage.NewRecords(db), sums: history.NewSums(db, c), clock: c, atOnce: 200}
}

// resumable is how long an interrupted recount can be resumed.
const resumable = 24 * time.Hour

// Recount counts the events of every counter and of every hour of series, and with Fix corrects
// wrong ones. It can run while the service records. If the counters of a stream seem wrong, it
// locks the stream, which blocks recording on it, and counts again. It skips counters of periods
// with possibly deleted events, except for unbounded periods, because streams store the totals of
// their deleted events.
//
// A recount that fixes all tenants resumes a recently interrupted one.
func (r *Recounter) Recount(ctx context.Context, c Recount) (total RecountResult, err error) {
	streams, err := r.store.countStreams(ctx, c.Tenant)
	if err != nil {
		return total, err
	}
	kept := c.Tenant == nil && c.Fix
	var after usage.StreamKey
	if kept && !c.FromStart {
		if after, total, err = r.resume(ctx, c); err != nil {
			return total, err
		}
	}
	for {
		some, err := r.store.streamsAfter(ctx, after, c.Tenant, r.atOnce)
		if err != nil {
			return total, err
		}
		if len(some) == 0 {
			break
		}
		found, err := r.recountStreams(ctx, some, c)
		if err != nil {
			return total, err
		}
		total.add(found)
		after = some[len(some)-1].key
		if kept {
			if err := r.store.storeCursor(ctx, cursor{after: after, found: total, at: r.clock.Now()}); err != nil {
				return total, err
			}
		}
		if c.Progress != nil {
			c.Progress(total, streams)
		}
	}
	if kept {
		return total, r.store.deleteCursor(ctx)
	}
	return total, nil
}

// resume returns the position and the result of an interrupted recount, or zero values if none can
// be resumed.
func (r *Recounter) resume(ctx context.Context, c Recount) (usage.StreamKey, RecountResult, error) {
	p, err := r.store.loadCursor(ctx)
	if errors.Is(err, errNoCursor) || err == nil && r.clock.Now().Sub(p.at) > resumable {
		return usage.StreamKey{}, RecountResult{}, nil
	}
	if err == nil && c.Resumed != nil {
		c.Resumed(p.found, p.at)
	}
	return p.after, p.found, err
}

// recountStreams surveys streams and recounts the streams that seem wrong.
func (r *Recounter) recountStreams(ctx context.Context, streams []stream, c Recount) (RecountResult, error) {
	found, doubtful, err := r.survey(ctx, streams)
	if err != nil {
		return found, err
	}
	for _, k := range doubtful {
		one, err := r.recountStream(ctx, k, c.Fix)
		if err != nil {
			return found, err
		}
		for _, w := range one.wrong {
			c.Wrong(w)
		}
		found.Counters += one.counters
		found.Skipped += one.skipped
		found.Wrong += len(one.wrong)
	}
	return found, nil
}

// comparison is the result of comparing the counters of a stream.
type comparison struct {
	counters, skipped int
	wrong             []WrongCounter
	correct           []usage.Counter // the correct values of the wrong counters
}

// recountStream compares the counters of a stream under its lock.
func (r *Recounter) recountStream(ctx context.Context, k usage.StreamKey, fix bool) (comparison, error) {
	var found comparison
	err := r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.records.MeterOf(ctx, k); err != nil { // recording also locks the meter before the stream
			return err
		}
		if err := r.records.LockStreams(ctx, []usage.StreamKey{k}); err != nil {
			return err
		}
		var err error
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
		counted.Rejected = stored.Rejected // not computed from events
		if counted.Value == stored.Value && counted.Granted == stored.Granted && sameTime(counted.LastRecordedAt, stored.LastRecordedAt) {
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
			Stored: shownValue(m, h.Stored), Counted: shownValue(m, h.Counted),
		})
	}
	return found, err
}

// shownValue returns the value of an hour in a series.
func shownValue(m usage.Meter, h usage.Hour) money.Total {
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
