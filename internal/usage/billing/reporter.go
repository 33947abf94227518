package billing

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

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
}

// NewReporter returns a Reporter.
func NewReporter(d ReporterDeps) *Reporter {
	return &Reporter{store: store{db: d.DB}, queue: NewQueue(d.DB, nil), records: usage.NewRecords(d.DB), deps: d}
}

const (
	// chunkSize is how many figures are reported concurrently. After a crash, the figures of the
	// last chunk are reported again.
	chunkSize = 16
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
		row, err := r.store.nextReport(ctx, r.deps.Clock.Now())
		if errors.Is(err, errNoReport) {
			return nil
		}
		if err != nil {
			return ignoreDeadline(ctx, err)
		}
		if err := run.reportRow(ctx, row); err != nil && !errors.Is(err, errHeld) {
			return ignoreDeadline(ctx, err)
		}
	}
}

// heldPause is the interval at which Drain checks held figures, in real time.
const heldPause = 20 * time.Millisecond

// Drain reports all usage up to now, before the clock of a sandbox moves. If wait is set, it waits
// until the prices of held figures are decided or ctx ends. It can run concurrently with Report,
// because the provider counts each figure once.
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
		row, err := r.store.nextReport(ctx, now)
		if errors.Is(err, errNoReport) {
			return nil
		}
		if err == nil {
			err = run.reportRow(ctx, row)
		}
		if err != nil && !errors.Is(err, errHeld) {
			return err
		}
		if err != nil && wait {
			run = newRun(r) // reloads the decided prices
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(heldPause):
			}
		}
	}
}

// reportRow reports the remaining figures of a row to the provider and deletes the row.
func (r *run) reportRow(ctx context.Context, row report) error {
	figures, err := decode(row.figures)
	if err != nil {
		return err
	}
	r.queuedAt = row.createdAt
	if row.done == 0 {
		if figures, err = r.holdBack(ctx, row, figures); err != nil {
			return err
		}
	}
	for done := row.done; done < len(figures); {
		chunk := figures[done:min(done+chunkSize, len(figures))]
		now := r.deps.Clock.Now()
		var rejected []rejection
		switch tried := row.triedAt; {
		case tried == nil:
			if err := r.saveProgress(ctx, row.id, done, nil); err != nil {
				return err
			}
			rejected, err = r.send(ctx, chunk)
		case now.Sub(*tried) <= resendWithin:
			rejected, err = r.send(ctx, chunk)
		default:
			rejected = rejectUnconfirmed(chunk, *tried)
		}
		if err != nil {
			return err
		}
		done += len(chunk)
		// Store the progress even if the time of the run is over. The next chunk begins immediately, so
		// the stored time is also the time of its first attempt.
		if err := r.saveProgress(context.WithoutCancel(ctx), row.id, done, rejected); err != nil {
			return err
		}
		row.triedAt = &now
	}
	return r.store.deleteReport(context.WithoutCancel(ctx), row.id)
}

// saveProgress stores that the first done figures of a row are reported or rejected, and that the
// next chunk begins now.
func (r *Reporter) saveProgress(ctx context.Context, row uuid.UUID, done int, rejected []rejection) error {
	now := r.deps.Clock.Now()
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		for _, f := range rejected {
			r.deps.Log.ErrorContext(ctx, "usage rejected by the payment provider", "event", f.ID, "tenant", f.TenantID, "meter", f.MeterID,
				"recorded_at", f.At, "reason", f.reason)
			if err := r.store.insertRejection(ctx, f, now); err != nil {
				return err
			}
		}
		return r.store.advanceReport(ctx, row, done, now)
	})
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
