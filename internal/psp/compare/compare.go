// Package compare has what the comparisons with the payment provider have in common: the
// differences that they find, and the jobs that do a part each (rules: psp#differences).
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

// DifferenceMessage is the text of the warning for each difference that is found in the
// background.
const DifferenceMessage = "a difference from the payment provider"

const (
	// partTime is how long a job works on its part, less than a job may take.
	partTime = 30 * time.Second
	// startDelay keeps the comparison away from the start of the service.
	startDelay = 10 * time.Minute
	// maxFailures is how many failures in a row end a comparison: then the cause is
	// not in what is compared.
	maxFailures = 10
)

// Comparison compares everything of one kind that is kept here with the provider.
// W is its position, which each job passes on to the next; the zero value is the
// beginning (rules: psp#differences).
type Comparison[W any] struct {
	Kind  string // of its jobs, such as "invoice.reconcile"
	Jobs  *jobs.Queue
	Clock clock.Clock
	Log   *slog.Logger
	// Run goes on from w until everything is compared or the part is over, and moves
	// w. It may run at any time, several times at once, and again from where it was
	// interrupted.
	Run func(ctx context.Context, p *Part, w *W) (done bool, err error)
}

// Compare compares everything and repairs differences, unless it is a dry run. It returns
// the differences that it found, also beside an error. The error names what could
// not be compared.
func (c Comparison[W]) Compare(ctx context.Context, dryRun bool) ([]Difference, error) {
	found := []Difference{}
	p := &Part{
		Repair: !dryRun, due: func() bool { return false },
		report: func(d Difference) { found = append(found, d) },
	}
	_, err := c.Run(ctx, p, new(W))
	return found, errors.Join(append(p.failures, err)...)
}

// Start compares and repairs everything in the background, in jobs that do a part
// each.
func (c Comparison[W]) Start(ctx context.Context) error {
	return c.enqueue(ctx, *new(W), jobs.At(c.Clock.Now().Add(startDelay)))
}

func (c Comparison[W]) enqueue(ctx context.Context, w W, opts ...jobs.Option) error {
	return c.Jobs.Enqueue(ctx, c.Kind, w, append(opts, jobs.Key("walk"))...)
}

// HandlePart is the handler of the comparison's jobs: each compares a part and
// enqueues the next. An interrupted part is compared again, which does no harm.
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
		c.Log.ErrorContext(ctx, "not compared with the payment provider", "error", failure)
	}
	if err != nil || done {
		return err
	}
	return c.enqueue(ctx, w)
}

// Part is what one job does of a comparison.
type Part struct {
	// Repair says whether differences are repaired.
	Repair bool

	due      func() bool
	report   func(Difference)
	failures []error
	inARow   int
}

// IsOver reports whether the time of the part is over, so that the next one goes on.
func (p *Part) IsOver() bool { return p.due() }

// Report reports differences and keeps a failure, which names what could not be
// compared. It returns an error after so many failures in a row that the rest would
// fail too; that error ends the comparison.
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
		return fmt.Errorf("nothing after that was compared: %d failures in a row", p.inARow)
	}
	return nil
}

// maxNamed is how many failures an error names.
const maxNamed = 5

// JoinErrors returns failures, nil among them or not, as one error. It names the first few and
// counts the others: while the provider is away everything that is compared fails.
func JoinErrors(failures []error) error {
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if more := len(failures) - maxNamed; more > 0 {
		failures = append(failures[:maxNamed], fmt.Errorf("and %d more failures", more))
	}
	return errors.Join(failures...)
}
