package usage

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Exports for tests outside the package.

const (
	MaxAhead     = maxAhead
	RecentEvents = recentEvents
)

var (
	ErrInFuture      = errInFuture
	ErrNoSuchMeter   = errNoSuchMeter
	ErrTotalTooLarge = errTotalTooLarge
)

// Submission is a recording of a tenant at a given time.
type Submission struct {
	Recording
	TenantID uuid.UUID
	At       time.Time
}

// Decide stores submissions of any tenants in one transaction.
func (s *Service) Decide(ctx context.Context, wanted []*Submission) ([]Outcome, error) {
	submissions := make([]*submission, len(wanted))
	for i, w := range wanted {
		submissions[i] = &submission{Recording: w.Recording, tenantID: w.TenantID, at: w.At}
	}
	verdicts, err := s.writer.Decide(ctx, submissions)
	outcomes := make([]Outcome, len(verdicts))
	for i, v := range verdicts {
		outcomes[i] = Outcome{v.event, v.err}
	}
	return outcomes, err
}

// Counters returns the counters of a stream whose periods overlap p.
func (s *Service) Counters(ctx context.Context, k StreamKey, p Period) ([]*Counter, error) {
	counters, err := s.store.counters(ctx, []StreamKey{k}, p)
	return counters[k], err
}

// Summarize returns the summaries of several tenants, loaded together.
func (s *Service) Summarize(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Summary, error) {
	all, err := s.loadSummaries(ctx, tenantIDs)
	summaries := make(map[uuid.UUID]Summary, len(all))
	for id, one := range all {
		summaries[id] = one.Summary
	}
	return summaries, err
}

// Tally returns the counts that Deps.Observe receives for verdicts with the given errors.
func Tally(errs ...error) (counts [4]int) {
	verdicts := make([]verdict, len(errs))
	for i, err := range errs {
		verdicts[i].err = err
	}
	tally(func(accepted, duplicate, overQuota, failed int) {
		counts = [4]int{accepted, duplicate, overQuota, failed}
	})(verdicts)
	return counts
}

// SummaryTables returns the tables that summaries depend on.
func (s *Service) SummaryTables() []string { return s.summaryTables() }

// MaxWaiting is the capacity of the queue, in calls.
const MaxWaiting = maxWaiting
