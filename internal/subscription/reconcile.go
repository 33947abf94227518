package subscription

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
)

// jobReconcile compares a part of all subscriptions with the provider's.
const jobReconcile = "subscription.reconcile"

const (
	// partTime is how long a job works on its part, less than a job may take.
	partTime = 30 * time.Second
	// startDelay keeps the first comparison off the service's start.
	startDelay = 10 * time.Minute
	// maxFailures is after how many single failures a comparison gives up: then it
	// is not the subscriptions' fault.
	maxFailures = 10
	// unseenPage is how many subscriptions are read at once.
	unseenPage = 100
)

// errOtherAccount says that the provider has none of the subscriptions here.
var errOtherAccount = errors.New("the payment provider knows none of the subscriptions here: its key seems to be of another account, so nothing was ended")

// walk is how far a comparison has come: first through the provider's list, then
// through what is here and was not in it.
type walk struct {
	Since  time.Time `json:"since"`  // when it began
	After  string    `json:"after"`  // the last of the provider's that is done
	Listed bool      `json:"listed"` // the provider's list is done
	Here   uuid.UUID `json:"here"`   // the last of ours that is done
}

// reconciliation is a walk, or a part of one, with what it finds.
type reconciliation struct {
	*Service
	walk
	repair   bool
	due      func() bool // tells that the part is over
	report   func(Difference)
	failures []error
}

// Reconcile compares all subscriptions with the provider's and repairs what
// differs, the way that a notification would; a dry run only tells. It returns the
// differences that it found, also with an error, which joins those of single
// subscriptions. It may run at any time, at the same time as itself, and again
// after it was interrupted.
func (s *Service) Reconcile(ctx context.Context, dryRun bool) ([]Difference, error) {
	found := []Difference{}
	r := reconciliation{
		Service: s, walk: walk{Since: s.deps.Clock.Now()}, repair: !dryRun,
		due:    func() bool { return false },
		report: func(d Difference) { found = append(found, d) },
	}
	_, err := r.run(ctx)
	return found, errors.Join(append(r.failures, err)...)
}

// StartReconciliation has all subscriptions reconciled in the background, by jobs
// of which each does a part.
func (s *Service) StartReconciliation(ctx context.Context) error {
	return s.enqueueWalk(ctx, walk{}, jobs.At(s.deps.Clock.Now().Add(startDelay)))
}

func (s *Service) enqueueWalk(ctx context.Context, w walk, opts ...jobs.Option) error {
	return s.deps.Jobs.Enqueue(ctx, jobReconcile, w, append(opts, jobs.Key("walk"))...)
}

// reconcilePart is the job. Interrupted, it does its part again, which does no
// harm.
func (s *Service) reconcilePart(ctx context.Context, job jobs.Job) error {
	r := reconciliation{Service: s, repair: true}
	if err := job.Decode(&r.walk); err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	if r.Since.IsZero() {
		r.Since = now
	}
	soon, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	r.due = func() bool { return soon.Err() != nil }
	r.report = func(d Difference) {
		s.deps.Log.WarnContext(ctx, "a subscription differed from the payment provider's", "difference", d.String())
	}
	done, err := r.run(ctx)
	for _, failure := range r.failures {
		s.deps.Log.ErrorContext(ctx, "a subscription could not be reconciled", "error", failure)
	}
	if errors.Is(err, errOtherAccount) {
		return jobs.Fatal(err)
	}
	if err != nil || done {
		return err
	}
	return s.enqueueWalk(ctx, r.walk)
}

// run goes on until all is done, or the part is over.
func (r *reconciliation) run(ctx context.Context) (done bool, err error) {
	if !r.Listed {
		if done, err := r.throughList(ctx); err != nil || !done {
			return false, err
		}
		r.Listed = true
	}
	return r.throughUnseen(ctx)
}

// throughList compares what the provider has.
func (r *reconciliation) throughList(ctx context.Context) (done bool, err error) {
	for remote, err := range r.deps.Provider.Subscriptions(ctx, "", r.After) {
		if err != nil {
			return false, err
		}
		if err := r.store.markSeen(ctx, remote.ID, r.deps.Clock.Now()); err != nil {
			return false, err
		}
		if err := r.note(r.compare(ctx, remote, r.repair)); err != nil {
			return false, err
		}
		if r.After = remote.ID; r.due() {
			return false, nil
		}
	}
	return true, nil
}

// throughUnseen looks for what is here and was not in the provider's list: what is
// newer than the list, or what the provider does not know.
//
// Invariant: a subscription ends here because the provider does not know it only
// if the provider knows another one. Ids are never the same in two accounts, so
// that proves that it is asked in the account that the subscriptions are of.
func (r *reconciliation) throughUnseen(ctx context.Context) (done bool, err error) {
	sameAccount, err := r.store.anySeen(ctx, r.Since)
	if err != nil {
		return false, err
	}
	missing := false
	for {
		unseen, err := r.store.unseen(ctx, r.Since, r.Here, unseenPage)
		if err != nil {
			return false, err
		}
		for _, sub := range unseen {
			remote, err := r.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
			switch {
			case errors.Is(err, psp.ErrNotFound):
				missing = true
				err = r.note(r.lost(ctx, sub, sameAccount))
			case err == nil:
				err = r.note(r.compare(ctx, remote, r.repair))
			default:
				err = r.note(nil, fmt.Errorf("subscription %s: %w", sub.PSPSubscriptionID, err))
			}
			if err != nil {
				return false, err
			}
			if r.Here = sub.ID; r.due() {
				return false, nil
			}
		}
		if len(unseen) < unseenPage {
			break
		}
	}
	if missing && !sameAccount {
		return false, errOtherAccount
	}
	return true, nil
}

// lost is what becomes of a subscription that the provider does not know.
func (r *reconciliation) lost(ctx context.Context, sub Subscription, end bool) ([]Difference, error) {
	d := Difference{Kind: MissingThere, TenantID: sub.TenantID, PSPID: sub.PSPSubscriptionID}
	var err error
	if end && r.repair {
		d.Repaired, err = r.endMissing(ctx, sub)
	}
	return []Difference{d}, err
}

// note reports differences and keeps a failure; an error ends the walk.
func (r *reconciliation) note(found []Difference, err error) error {
	for _, d := range found {
		r.report(d)
	}
	if err != nil {
		r.failures = append(r.failures, err)
	}
	if len(r.failures) >= maxFailures {
		return fmt.Errorf("%d subscriptions could not be reconciled", len(r.failures))
	}
	return nil
}
