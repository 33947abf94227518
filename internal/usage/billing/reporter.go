package billing

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// ReporterDeps holds the dependencies of a Reporter.
type ReporterDeps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Log       *slog.Logger
	Provider  Provider
	Reports   ErrorReports
	Customers Customers
	Payers    Payers
}

// Reporter reports billable usage to the payment provider in the background.
type Reporter struct {
	store   store
	queue   *Queue
	records usage.Records
	deps    ReporterDeps
	sending *semaphore.Weighted // acquired once by each sender, and completely by Drain
}

// NewReporter returns a Reporter.
func NewReporter(d ReporterDeps) *Reporter {
	return &Reporter{store: store{db: d.DB}, queue: NewQueue(d.DB, nil), records: usage.NewRecords(d.DB), deps: d, sending: semaphore.NewWeighted(maxSenders)}
}

const (
	// chunkSize is how many figures are reported concurrently. After a crash, the figures of the
	// last chunk are reported again.
	chunkSize = 16
	// maxSenders is more than the number of requests and jobs that can report concurrently.
	maxSenders = math.MaxInt32
	// runTime is the maximum duration of a run; shorter than the limit for periodic jobs.
	runTime = 40 * time.Second
	// resendWithin is how long a figure can be reported again without counting twice. The hour
	// allows for the duration of the call and for clock differences.
	resendWithin = psp.IdentifierLife - time.Hour
)

// Report reports the queued figures to the provider, oldest first, for at most runTime. Only one
// instance can run it at a time.
//
// Each figure is reported under the ID of its event, and the provider counts an ID only once per
// day. Progress is stored before and after each chunk. After a failure or a crash, therefore, only
// one chunk is repeated, and only while the provider still recognizes the IDs: usage is neither
// lost nor counted twice.
//
// Figures of a tenant without a customer at the provider, or of a meter without a linked price in
// the tenant's currency, are free and dropped. Figures are rejected if the provider will never
// accept them, such as usage older than 35 days, or if they may have been counted but it is too
// late to repeat them. They are stored in Rejections and do not block the others.
func (r *Reporter) Report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	run := newRun(r)
	for {
		switch err := run.reportNext(ctx, r.deps.Clock.Now(), 1); {
		case errors.Is(err, errNoReport):
			return nil
		case err != nil && !errors.Is(err, errHeld) && !errors.Is(err, errChanged):
			return ignoreDeadline(ctx, err)
		}
	}
}

// heldPause is the interval at which Drain checks held figures, in real time.
const heldPause = 20 * time.Millisecond

// Drain reports all usage up to now, before the clock of a sandbox moves. If wait is set, it waits
// until the prices of held figures are decided or ctx ends.
//
// Invariant: when Drain returns nil, no other goroutine is reporting usage that was recorded before.
// A report that arrives after the clock has moved by a day would count twice.
func (r *Reporter) Drain(ctx context.Context, wait bool) error {
	if err := r.queueCarriedUntil(ctx, r.deps.Clock.Now(), 0); err != nil {
		return err
	}
	run := newRun(r)
	for {
		now := r.deps.Clock.Now()
		if wait {
			now = now.Add(holdInterval) // include held figures
		}
		err := run.reportNext(ctx, now, maxSenders)
		if errors.Is(err, errNoReport) {
			return nil
		}
		if err != nil && !errors.Is(err, errHeld) && !errors.Is(err, errChanged) {
			return err
		}
		if errors.Is(err, errHeld) && wait {
			run = newRun(r) // reloads the decided prices
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(heldPause):
			}
		}
	}
}

// reportNext reports the first row of the queue that is due at a time, as the given number of
// senders. It returns errNoReport if no row is due, errHeld if all figures are on hold, and
// errChanged if another sender has reported figures of the row.
func (r *run) reportNext(ctx context.Context, due time.Time, senders int64) error {
	if err := r.sending.Acquire(ctx, senders); err != nil {
		return err
	}
	defer r.sending.Release(senders)
	row, err := r.store.nextReport(ctx, due)
	if err != nil {
		return err
	}
	if row.done == 0 {
		if row, err = r.holdBack(ctx, row); err != nil {
			return err
		}
	}
	return r.reportRow(ctx, row)
}

// reportRow reports the remaining figures of a row to the provider and deletes the row.
//
// Invariant: the row is claimed in the state in which it was read, before the first figure is sent.
// A sender that is slower than another one stops there; otherwise it would send figures whose IDs
// the provider may have forgotten.
func (r *run) reportRow(ctx context.Context, row report) error {
	figures, err := decode(row.figures)
	if err != nil {
		return err
	}
	r.queuedAt = row.createdAt
	now := r.deps.Clock.Now()
	began, err := r.store.claimReport(ctx, row, now)
	if err != nil {
		return err
	}
	for row.done < len(figures) {
		chunk := figures[row.done:min(row.done+chunkSize, len(figures))]
		var rejected []rejection
		if now.Sub(began) <= resendWithin {
			if rejected, err = r.send(ctx, chunk); err != nil {
				return err
			}
		} else {
			rejected = rejectUnconfirmed(chunk, began)
		}
		now = r.deps.Clock.Now()
		began = now
		// Store the progress even if the time of the run is over. The next chunk begins immediately, so
		// the stored time is also the time of its first attempt.
		if err := r.saveProgress(context.WithoutCancel(ctx), row, row.done+len(chunk), rejected, now); err != nil {
			return err
		}
		row.done += len(chunk)
	}
	return r.store.deleteReport(context.WithoutCancel(ctx), row.id)
}

// saveProgress stores that the first done figures of a row are reported or rejected, and that the
// next chunk begins now. It returns errChanged if another sender has stored that.
func (r *Reporter) saveProgress(ctx context.Context, row report, done int, rejected []rejection, now time.Time) error {
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := r.saveRejections(ctx, rejected, now); err != nil {
			return err
		}
		return r.store.advanceReport(ctx, row, done, now)
	})
}

// saveRejections logs and stores rejected figures.
func (r *Reporter) saveRejections(ctx context.Context, rejected []rejection, now time.Time) error {
	for _, f := range rejected {
		r.deps.Log.ErrorContext(ctx, "usage rejected by the payment provider", "event", f.ID, "tenant", f.TenantID, "meter", f.MeterID,
			"recorded_at", f.At, "reason", f.reason)
		if err := r.store.insertRejection(ctx, f, now); err != nil {
			return err
		}
	}
	return nil
}

// ignoreDeadline returns nil if the deadline of the run has passed, and err otherwise. The next run
// continues where this one stopped.
func ignoreDeadline(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Lag returns how long the oldest figure in the queue has been waiting, or 0 if the queue is empty.
func (r *Reporter) Lag(ctx context.Context) (time.Duration, error) {
	row, err := r.store.oldestReport(ctx)
	if errors.Is(err, errNoReport) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return max(0, r.deps.Clock.Now().Sub(row.createdAt)), nil
}

// CountRejected returns the number of rejected reports.
func (r *Reporter) CountRejected(ctx context.Context) (int64, error) {
	return r.store.countRejections(ctx)
}
