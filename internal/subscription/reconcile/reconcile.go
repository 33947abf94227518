// Package reconcile compares all subscriptions with the payment provider's, and
// repairs what differs the way that a notification would
// (rules: subscription#comparison).
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

// jobReconcile compares a part of all subscriptions with the provider's.
const jobReconcile = "subscription.reconcile"

// unseenPage is how many subscriptions are read at once.
const unseenPage = 100

// errOtherAccount says that the provider has none of the subscriptions here.
var errOtherAccount = errors.New("the payment provider knows none of the subscriptions here: its key seems to be of another account, so nothing was ended")

// Provider is what the comparison needs of the payment provider; *psp.Client is one.
type Provider interface {
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
	Subscriptions(ctx context.Context, customerID, after string) iter.Seq2[psp.Subscription, error]
}

// Deps is what the service needs.
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

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// progress is how far a comparison has come: first through the provider's list, then
// through what is stored here and was not in the list.
type progress struct {
	Since  time.Time `json:"since"`  // when it began
	After  string    `json:"after"`  // the last of the provider's subscriptions that is done
	Listed bool      `json:"listed"` // the provider's list is done
	Here   uuid.UUID `json:"here"`   // the last of the subscriptions here that is done
}

// part is one part of a comparison.
type part struct {
	*Service
	*compare.Part
	*progress
	// seen has, in a dry run, which writes nothing, the ids of the provider's list
	// that are stored here.
	seen map[string]bool
}

// Comparison compares all subscriptions with the provider's.
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

// run goes on until everything is compared, or the part's time is up. If the
// provider's list cannot be read to its end, the subscriptions here are still
// compared, one by one.
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

// compareList compares the subscriptions that the provider has.
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

// markSeen notes that a subscription is in the provider's list.
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

// compareAllUnseen looks at the subscriptions here that were not in the provider's list:
// they are newer than the list, or the provider does not know them.
//
// Invariant: a subscription ends here because the provider does not know it only
// if the provider knows another one. Ids are never the same in two accounts, so
// that proves that the provider is asked about the right account.
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

// compareUnseen compares a subscription that was not in the provider's list. It
// reports whether the provider does not know it; such a one ends here if end says so.
func (p part) compareUnseen(ctx context.Context, row unseen, end bool) (lost bool, err error) {
	// It is read before the provider is asked, so that a state that is stored
	// meanwhile is not overwritten.
	sub, err := p.deps.Subscriptions.ByPSPID(ctx, row.pspID)
	if err != nil {
		return false, p.note(row.pspID)(nil, err)
	}
	remote, err := p.deps.Provider.GetSubscription(ctx, row.pspID)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return true, p.note(row.pspID)(p.handleLost(ctx, sub, end))
	case err != nil:
		return false, p.note(row.pspID)(nil, err)
	default:
		return false, p.note(row.pspID)(p.compare(ctx, remote, p.Repair))
	}
}

// handleLost handles a subscription that the provider does not know.
func (p part) handleLost(ctx context.Context, sub subscription.Subscription, end bool) ([]compare.Difference, error) {
	d := compare.Difference{Of: compare.SubscriptionDifference, Kind: compare.KindMissingThere, TenantID: sub.TenantID, PSPID: sub.PSPSubscriptionID}
	var err error
	if end && p.Repair {
		d.Repaired, err = p.deps.Subscriptions.EndMissing(ctx, sub)
	}
	return []compare.Difference{d}, err
}

// note reports what a comparison found, and names the subscription that could not be
// compared.
func (p part) note(pspID string) func([]compare.Difference, error) error {
	return func(found []compare.Difference, err error) error {
		if err != nil {
			err = fmt.Errorf("subscription %s: %w", pspID, err)
		}
		return p.Report(found, err)
	}
}
