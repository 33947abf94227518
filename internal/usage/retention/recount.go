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

// WrongCounter is a counter, or an hour of a series, that is not the aggregate of its
// events.
type WrongCounter struct {
	TenantID  uuid.UUID
	MeterCode string
	Period    usage.Period
	Stored    money.Total // in the unit of the meter
	Counted   money.Total
}

// RecountResult says what a recount has looked at.
type RecountResult struct {
	Streams  int // pairs of a tenant and a meter that it has recorded on
	Events   int // not those before an interruption
	Counters int
	Skipped  int // counters some of whose events may have been deleted
	Wrong    int // counters, and hours of series
}

func (r *RecountResult) add(o RecountResult) {
	r.Streams += o.Streams
	r.Events += o.Events
	r.Counters += o.Counters
	r.Skipped += o.Skipped
	r.Wrong += o.Wrong
}

// Recount says what is recounted, and who is told.
type Recount struct {
	Tenant *uuid.UUID // nil for all
	// Fix corrects what is wrong.
	Fix bool
	// FromStart begins with the first stream even where a recount was interrupted.
	FromStart bool
	// Wrong is called for each wrong counter, of which none is expected.
	Wrong func(WrongCounter)
	// Progress, which may be nil, is called again and again with what was found so far, and
	// of how many streams.
	Progress func(found RecountResult, streams int)
	// Resumed, which may be nil, is called where an interrupted recount is gone on with: what
	// that had found, and when it was there.
	Resumed func(found RecountResult, at time.Time)
}

// Recounter compares counters with their events.
type Recounter struct {
	store   store
	records usage.Records
	sums    *history.Sums
	clock   clock.Clock
	atOnce  int32 // how many streams are surveyed together
}

// NewRecounter makes a Recounter.
func NewRecounter(db *sqldb.DB, c clock.Clock) *Recounter {
	return &Recounter{store: store{db: db}, records: usage.NewRecords(db), sums: history.NewSums(db, c), clock: c, atOnce: 200}
}

// resumable is how long after an interruption a recount is gone on with.
const resumable = 24 * time.Hour

// Recount counts the events of every counter and of every hour of series, and with Fix
// corrects those that are wrong. It may run beside a service that records: where a stream's
// counters seem wrong, it locks the stream, so that recording on it waits, and counts again.
// It skips the counters of periods from which events may have been deleted, but for those of
// all time, since streams keep the totals of their deleted events.
//
// One that corrects all tenants goes on where the one before was interrupted, if that is not
// long ago.
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

// resume returns where an interrupted recount is gone on with, and what it had found: the
// place before all streams and nothing where there is none.
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

// recountStreams surveys streams, and looks closely at those that seem wrong.
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

// comparison is what comparing the counters of a stream found.
type comparison struct {
	counters, skipped int
	wrong             []WrongCounter
	correct           []usage.Counter // what the wrong counters have to be
}

// recountStream compares the counters of a stream under its lock.
func (r *Recounter) recountStream(ctx context.Context, k usage.StreamKey, fix bool) (comparison, error) {
	var found comparison
	err := r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.records.MeterOf(ctx, k); err != nil { // recording locks the meter before the stream, too
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
			Stored: shownValue(m, h.Stored), Counted: shownValue(m, h.Counted),
		})
	}
	return found, err
}

// shownValue is what a series shows of an hour.
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
