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

// ReporterDeps is what a Reporter works with.
type ReporterDeps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Log       *slog.Logger
	Provider  Provider
	Reports   ErrorReports
	Customers Customers
	Payers    Payers
}

// Reporter reports billable usage to the payment provider, in the background.
type Reporter struct {
	store   store
	queue   *Queue
	records usage.Records
	deps    ReporterDeps
}

// NewReporter makes a reporter.
func NewReporter(d ReporterDeps) *Reporter {
	return &Reporter{store: store{db: d.DB}, queue: NewQueue(d.DB, nil), records: usage.NewRecords(d.DB), deps: d}
}

const (
	// chunkSize is how many figures are reported at once. After a crash the figures of
	// the last chunk are reported again.
	chunkSize = 16
	// runTime is how long one run goes on; less than a periodic job may take.
	runTime = 40 * time.Second
	// resendWithin is for how long a figure can be reported again without being counted
	// twice. The hour is for the call itself and for clocks that differ.
	resendWithin = psp.IdentifierLife - time.Hour
)

// Report reports what is queued to the provider, oldest first, until runTime is over.
// Only one instance may run it at a time.
//
// Each figure is reported under its event's id, and the provider counts an id once
// within a day. Progress is stored for each chunk, before it is reported and after. So
// a failure or a crash repeats one chunk alone, and only while the provider still knows
// the ids: usage is neither lost nor counted twice.
//
// Figures of a tenant without a customer at the provider, or of a meter without a
// linked price in the tenant's currency, are dropped: nobody has to pay for them. Some
// figures are rejected: those that the provider will never accept, such as usage of
// more than 35 days ago, and those that may or may not have been counted too long ago
// to repeat. They are kept in Rejections and do not hold up the others.
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

// heldPause is the pause between two looks of Drain at held figures, in real time.
const heldPause = 20 * time.Millisecond

// Drain reports everything that was used until now, before the clock of a sandbox moves. With
// wait, it waits until the prices of held figures are decided, or ctx ends. It can run while
// Report does: the provider counts each figure once.
func (r *Reporter) Drain(ctx context.Context, wait bool) error {
	if err := r.queueCarriedUntil(ctx, r.deps.Clock.Now(), 0); err != nil {
		return err
	}
	run := newRun(r)
	for {
		now := r.deps.Clock.Now()
		if wait {
			now = now.Add(heldFor) // looks at held figures, too
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
			run = newRun(r) // which reads anew what is decided
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(heldPause):
			}
		}
	}
}

// reportRow reports the rest of a row to the provider and deletes the row.
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
		// What was reported is stored even when the run's time is over. The next chunk
		// begins at once, so this is also the time at which it was first tried.
		if err := r.saveProgress(context.WithoutCancel(ctx), row.id, done, rejected); err != nil {
			return err
		}
		row.triedAt = &now
	}
	return r.store.deleteReport(context.WithoutCancel(ctx), row.id)
}

// saveProgress stores that the first done figures of a row are reported, but for those
// that were rejected, and that the next chunk is tried now.
func (r *Reporter) saveProgress(ctx context.Context, row uuid.UUID, done int, rejected []rejection) error {
	now := r.deps.Clock.Now()
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		for _, f := range rejected {
			r.deps.Log.ErrorContext(ctx, "usage is not billed", "event", f.ID, "tenant", f.TenantID, "meter", f.MeterID,
				"recorded_at", f.At, "reason", f.reason)
			if err := r.store.insertRejection(ctx, f, now); err != nil {
				return err
			}
		}
		return r.store.advanceReport(ctx, row, done, now)
	})
}

// ignoreDeadline returns nil once the run's deadline has passed, and err otherwise: the
// next run goes on where this one stopped.
func ignoreDeadline(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Lag returns for how long the oldest figure in the queue has been waiting; 0 when the
// queue is empty.
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

// Rejected counts the reports that Rejections has.
func (r *Reporter) Rejected(ctx context.Context) (int64, error) { return r.store.countRejections(ctx) }
