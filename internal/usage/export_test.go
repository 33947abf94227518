package usage

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
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
	// Hold reserves units instead of recording an event, and Settles settles a reservation.
	Hold    *time.Duration
	Settles *uuid.UUID
}

// Decided is the outcome of a submission.
type Decided struct {
	Outcome
	Reservation *Reservation // of a submission that reserves units
}

// Decide stores submissions of any tenants in one transaction.
func (s *Service) Decide(ctx context.Context, wanted []*Submission) ([]Decided, error) {
	submissions := make([]*submission, len(wanted))
	for i, w := range wanted {
		submissions[i] = &submission{Recording: w.Recording, tenantID: w.TenantID, at: w.At, hold: w.Hold, settles: w.Settles}
	}
	var verdicts []verdict
	var err error
	if s.writer.Split != nil { // into several transactions
		verdicts = s.writer.storeGroups(ctx, submissions)
	} else {
		verdicts, err = s.writer.Decide(ctx, submissions)
	}
	outcomes := make([]Decided, len(verdicts))
	for i, v := range verdicts {
		outcomes[i] = Decided{Outcome{v.event, v.err}, v.reservation}
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

// Errors of reservations.
var (
	ErrOtherQuantity       = errOtherQuantity
	ErrSettled             = errSettled
	ErrNoReservation       = errNoReservation
	ErrNotReservable       = errNotReservable
	ErrTooManyReservations = errTooManyReservations
)

// ExtraOf returns the additional keys of an error's response.
func ExtraOf(err error) map[string]any {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return nil
	}
	return e.Extra
}

// Reservation is a reservation of units.
type Reservation = reservation

// Reserve opens a reservation.
func (s *Service) Reserve(ctx context.Context, tenantID uuid.UUID, code string, quantity money.Quantity, key string, ttl time.Duration) (Reservation, error) {
	return s.reserve(ctx, tenantID, code, quantity, key, ttl)
}

// Settle settles a reservation.
func (s *Service) Settle(ctx context.Context, tenantID, id uuid.UUID, r Recording) (Event, error) {
	return s.settle(ctx, tenantID, id, r)
}

// Release releases a reservation.
func (s *Service) Release(ctx context.Context, tenantID, id uuid.UUID) error {
	return s.release(ctx, tenantID, id)
}

// SetBatchTimeout limits the time to store one batch. No recording may be running.
func (s *Service) SetBatchTimeout(limit time.Duration) { s.writer.Timeout = limit }
