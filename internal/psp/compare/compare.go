// Package compare contains the common parts of the comparisons with the payment provider: the
// differences, and the jobs that each compare a part (rules: psp#differences).
package compare

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
)

// DifferenceMessage is the log message for each difference that is found in the background.
const DifferenceMessage = "difference from the payment provider"

const (
	// partTime is how long a job works on its part. It is shorter than the job timeout.
	partTime = 30 * time.Second
	// startDelay postpones the comparison after the service has started.
	startDelay = 10 * time.Minute
	// maxFailures is the number of consecutive failures that ends a comparison, because the cause
	// is then not in the compared objects.
	maxFailures = 10
)

// Comparison compares all stored objects of one kind with the provider (rules: psp#differences). W
// is the position of the comparison, which each job passes on to the next job. The zero value is
// the beginning.
type Comparison[W any] struct {
	Kind  string // the kind of its jobs, such as "invoice.reconcile"
	Jobs  *jobs.Queue
	Clock clock.Clock
	Log   *slog.Logger
	// Run continues from w until everything is compared or the part is over, and advances w. It can
	// run at any time, concurrently, and again from where it was interrupted.
	Run func(ctx context.Context, p *Part, w *W) (done bool, err error)
}

// Compare compares everything and repairs the differences, unless it is a dry run. It returns the
// differences that it found even if it also returns an error. The error names the objects that
// could not be compared.
func (c Comparison[W]) Compare(ctx context.Context, dryRun bool) ([]Difference, error) {
	found := []Difference{}
	p := &Part{
		Repair: !dryRun, due: func() bool { return false },
		report: func(d Difference) { found = append(found, d) },
	}
	_, err := c.Run(ctx, p, new(W))
	return found, errors.Join(append(p.failures, err)...)
}

// Start compares and repairs everything in the background, in jobs that each handle a part.
func (c Comparison[W]) Start(ctx context.Context) error {
	return c.enqueue(ctx, *new(W), jobs.At(c.Clock.Now().Add(startDelay)))
}

func (c Comparison[W]) enqueue(ctx context.Context, w W, opts ...jobs.Option) error {
	return c.Jobs.Enqueue(ctx, c.Kind, w, append(opts, jobs.Key("walk"))...)
}

// HandlePart handles the jobs of the comparison: each compares a part and enqueues the next one. An
// interrupted part is compared again, which is harmless.
func (c Comparison[W]) HandlePart(ctx context.Context, job jobs.Job) error {
	var w W
	if err := job.Decode(&w); err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	p := &Part{Repair: true, due: func() bool { return soon.Err() != nil }}
	p.report = func(d Difference) {
		c.Log.WarnContext(ctx, DifferenceMessage, "difference", d.String())
	}
	done, err := c.Run(ctx, p, &w)
	for _, failure := range p.failures {
		c.Log.ErrorContext(ctx, "comparison with the payment provider failed", "error", failure)
	}
	if err != nil || done {
		return err
	}
	return c.enqueue(ctx, w)
}

// Part is the part of a comparison that one job handles.
type Part struct {
	// Repair enables the repair of differences.
	Repair bool

	due      func() bool
	report   func(Difference)
	failures []error
	inARow   int
}

// IsOver reports whether the time of the part has run out, so that the next job must continue.
func (p *Part) IsOver() bool { return p.due() }

// Report reports differences and records a failure, which names the object that could not be
// compared. After maxFailures consecutive failures it returns an error, which ends the comparison,
// because the rest would fail too.
func (p *Part) Report(found []Difference, err error) error {
	for _, d := range found {
		p.report(d)
	}
	if err == nil {
		p.inARow = 0
		return nil
	}
	p.failures = append(p.failures, err)
	if p.inARow++; p.inARow >= maxFailures {
		return fmt.Errorf("comparison stopped after %d consecutive failures", p.inARow)
	}
	return nil
}

// maxNamed is the maximum number of failures that an error names.
const maxNamed = 5

// JoinErrors joins failures, which can contain nil, into one error. It names the first few and
// counts the rest, because every comparison fails while the provider is unavailable.
func JoinErrors(failures []error) error {
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if more := len(failures) - maxNamed; more > 0 {
		failures = append(failures[:maxNamed], fmt.Errorf("and %d more failures", more))
	}
	return errors.Join(failures...)
}
