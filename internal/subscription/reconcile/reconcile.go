// Package reconcile compares all subscriptions with the payment provider's. It repairs differences
// as a notification would (rules: subscription#comparison).
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
)

// jobReconcile is the kind of job that compares a part of all subscriptions with the provider's.
const jobReconcile = "subscription.reconcile"

// unseenPage is the number of subscriptions read per query.
const unseenPage = 100

// errOtherAccount means that none of the stored subscriptions exists at the provider.
var errOtherAccount = errors.New("the payment provider does not know any of the subscriptions: the key seems to belong to a different account; nothing was changed")

// Provider is the part of the payment provider that a comparison uses. *psp.Client implements it.
type Provider interface {
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
	Subscriptions(ctx context.Context, customerID, after string) iter.Seq2[psp.Subscription, error]
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Jobs          *jobs.Queue
	Subscriptions *subscription.Service
	Provider      Provider
	Log           *slog.Logger
}

// Service compares subscriptions.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// progress is the progress of a comparison. It goes through the provider's list first, then through
// the stored subscriptions that were not in the list.
type progress struct {
	Since  time.Time `json:"since"`  // when the comparison began
	After  string    `json:"after"`  // the last of the provider's subscriptions that was compared
	Listed bool      `json:"listed"` // whether the provider's list is done
	Here   uuid.UUID `json:"here"`   // the last stored subscription that was compared
}

// part is one part of a comparison.
type part struct {
	*Service
	*compare.Part
	*progress
	// seen holds the IDs of the provider's list that are stored here. It is used in a dry run, which
	// does not write to the database.
	seen map[string]bool
}

// Comparison returns the comparison of all subscriptions with the provider's.
func (s *Service) Comparison() compare.Comparison[progress] {
	return compare.Comparison[progress]{
		Kind: jobReconcile, Jobs: s.deps.Jobs, Clock: s.deps.Clock, Log: s.deps.Log,
		Run: func(ctx context.Context, p *compare.Part, w *progress) (bool, error) {
			if w.Since.IsZero() {
				w.Since = s.deps.Clock.Now()
			}
			return part{s, p, w, map[string]bool{}}.run(ctx)
		},
	}
}

// run continues until everything is compared or the time of this part is up. If the provider's list
// cannot be read to the end, the stored subscriptions are still compared one by one.
func (p part) run(ctx context.Context) (done bool, err error) {
	var unlisted error
	if !p.Listed {
		done, unlisted = p.compareList(ctx)
		if unlisted == nil && !done {
			return false, nil
		}
		p.Listed = unlisted == nil
	}
	done, err = p.compareAllUnseen(ctx)
	return done && unlisted == nil, errors.Join(unlisted, err)
}

// compareList compares the subscriptions in the provider's list.
func (p part) compareList(ctx context.Context) (done bool, err error) {
	for remote, err := range p.deps.Provider.Subscriptions(ctx, "", p.After) {
		if err != nil {
			return false, fmt.Errorf("subscriptions of the provider's list after %q: %w", p.After, err)
		}
		if err := p.markSeen(ctx, remote.ID); err != nil {
			return false, err
		}
		if err := p.note(remote.ID)(p.compare(ctx, remote, p.Repair)); err != nil {
			return false, err
		}
		if p.After = remote.ID; p.IsOver() {
			return false, nil
		}
	}
	return true, nil
}

// markSeen records that a subscription is in the provider's list.
func (p part) markSeen(ctx context.Context, pspID string) error {
	if p.Repair {
		return p.store.markSeen(ctx, pspID, p.deps.Clock.Now())
	}
	_, err := p.deps.Subscriptions.ByPSPID(ctx, pspID)
	if errors.Is(err, subscription.ErrNotFound) {
		return nil
	}
	if err == nil {
		p.seen[pspID] = true
	}
	return err
}

// compareAllUnseen compares the stored subscriptions that were not in the provider's list. They are
// newer than the list, or they do not exist at the provider.
//
// Invariant: a missing subscription is ended here only if the provider has at least one other
// subscription of this service. IDs are unique across accounts, so this proves that the key belongs to
// the right account.
func (p part) compareAllUnseen(ctx context.Context) (done bool, err error) {
	sameAccount, err := p.store.hasSeen(ctx, p.Since)
	if err != nil {
		return false, err
	}
	sameAccount = sameAccount || len(p.seen) > 0
	missing := false
	for {
		rows, err := p.store.listUnseen(ctx, p.Since, p.Here, unseenPage)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if p.seen[row.pspID] {
				p.Here = row.id
				continue
			}
			lost, err := p.compareUnseen(ctx, row, sameAccount)
			if err != nil {
				return false, err
			}
			missing = missing || lost
			if p.Here = row.id; p.IsOver() {
				return false, nil
			}
		}
		if len(rows) < unseenPage {
			break
		}
	}
	if missing && !sameAccount && p.Listed {
		return false, jobs.MarkFatal(errOtherAccount)
	}
	return true, nil
}

// compareUnseen compares a subscription that was not in the provider's list. It reports whether the
// subscription is missing at the provider. If so and end is true, it ends the subscription here.
func (p part) compareUnseen(ctx context.Context, row missingSubscription, end bool) (lost bool, err error) {
	// Read it before calling the provider, so that a state that is stored in between is not
	// overwritten.
	sub, err := p.deps.Subscriptions.ByPSPID(ctx, row.pspID)
	if err != nil {
		return false, p.note(row.pspID)(nil, err)
	}
	remote, err := p.deps.Provider.GetSubscription(ctx, row.pspID)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return true, p.note(row.pspID)(p.handleMissing(ctx, sub, end))
	case err != nil:
		return false, p.note(row.pspID)(nil, err)
	default:
		return false, p.note(row.pspID)(p.compare(ctx, remote, p.Repair))
	}
}

// handleMissing handles a subscription that is missing at the provider.
func (p part) handleMissing(ctx context.Context, sub subscription.Subscription, end bool) ([]compare.Difference, error) {
	d := compare.Difference{Of: compare.SubscriptionDifference, Kind: compare.KindMissingThere, TenantID: sub.TenantID, PSPID: sub.PSPSubscriptionID}
	var err error
	if end && p.Repair {
		d.Repaired, err = p.deps.Subscriptions.EndMissing(ctx, sub)
	}
	return []compare.Difference{d}, err
}

// note returns a function that reports the result of a comparison and adds the subscription to an
// error.
func (p part) note(pspID string) func([]compare.Difference, error) error {
	return func(found []compare.Difference, err error) error {
		if err != nil {
			err = fmt.Errorf("subscription %s: %w", pspID, err)
		}
		return p.Report(found, err)
	}
}
