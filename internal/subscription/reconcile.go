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

// unseenPage is how many subscriptions are read at once.
const unseenPage = 100

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

// reconciliation is a part of a walk.
type reconciliation struct {
	*Service
	*psp.Part
	*walk
	// seen are, in a dry run, which writes nothing, those of the provider's list
	// that are known here.
	seen map[string]bool
}

// Comparison compares all subscriptions with the provider's, and repairs what
// differs the way that a notification would.
func (s *Service) Comparison() psp.Comparison[walk] {
	return psp.Comparison[walk]{
		Kind: jobReconcile, Jobs: s.deps.Jobs, Clock: s.deps.Clock, Log: s.deps.Log,
		Run: func(ctx context.Context, p *psp.Part, w *walk) (bool, error) {
			if w.Since.IsZero() {
				w.Since = s.deps.Clock.Now()
			}
			return reconciliation{s, p, w, map[string]bool{}}.run(ctx)
		},
	}
}

// run goes on until all is done, or the part is over. If the provider's list
// cannot be read to its end, what is known here is still compared, one by one.
func (r reconciliation) run(ctx context.Context) (done bool, err error) {
	var unlisted error
	if !r.Listed {
		done, unlisted = r.throughList(ctx)
		if unlisted == nil && !done {
			return false, nil
		}
		r.Listed = unlisted == nil
	}
	done, err = r.throughUnseen(ctx)
	return done && unlisted == nil, errors.Join(unlisted, err)
}

// throughList compares what the provider has.
func (r reconciliation) throughList(ctx context.Context) (done bool, err error) {
	for remote, err := range r.deps.Provider.Subscriptions(ctx, "", r.After) {
		if err != nil {
			return false, fmt.Errorf("subscriptions of the provider's list after %q: %w", r.After, err)
		}
		if err := r.markSeen(ctx, remote.ID); err != nil {
			return false, err
		}
		if err := r.note(remote.ID)(r.compare(ctx, remote, r.Repair)); err != nil {
			return false, err
		}
		if r.After = remote.ID; r.Due() {
			return false, nil
		}
	}
	return true, nil
}

// markSeen notes that a subscription is in the provider's list.
func (r reconciliation) markSeen(ctx context.Context, pspID string) error {
	if r.Repair {
		return r.store.markSeen(ctx, pspID, r.deps.Clock.Now())
	}
	known, err := r.store.byPSPID(ctx, pspID)
	if known != nil {
		r.seen[pspID] = true
	}
	return err
}

// throughUnseen looks for what is here and was not in the provider's list: what is
// newer than the list, or what the provider does not know.
//
// Invariant: a subscription ends here because the provider does not know it only
// if the provider knows another one. Ids are never the same in two accounts, so
// that proves that it is asked in the account that the subscriptions are of.
func (r reconciliation) throughUnseen(ctx context.Context) (done bool, err error) {
	sameAccount, err := r.store.anySeen(ctx, r.Since)
	if err != nil {
		return false, err
	}
	sameAccount = sameAccount || len(r.seen) > 0
	missing := false
	for {
		unseen, err := r.store.unseen(ctx, r.Since, r.Here, unseenPage)
		if err != nil {
			return false, err
		}
		for _, sub := range unseen {
			if r.seen[sub.PSPSubscriptionID] {
				r.Here = sub.ID
				continue
			}
			remote, err := r.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
			switch {
			case errors.Is(err, psp.ErrNotFound):
				missing = true
				err = r.note(sub.PSPSubscriptionID)(r.lost(ctx, sub, sameAccount))
			case err == nil:
				err = r.note(remote.ID)(r.compare(ctx, remote, r.Repair))
			default:
				err = r.note(sub.PSPSubscriptionID)(nil, err)
			}
			if err != nil {
				return false, err
			}
			if r.Here = sub.ID; r.Due() {
				return false, nil
			}
		}
		if len(unseen) < unseenPage {
			break
		}
	}
	if missing && !sameAccount && r.Listed {
		return false, jobs.Fatal(errOtherAccount)
	}
	return true, nil
}

// lost is what becomes of a subscription that the provider does not know.
func (r reconciliation) lost(ctx context.Context, sub Subscription, end bool) ([]psp.Difference, error) {
	d := psp.Difference{Of: psp.OfSubscription, Kind: psp.MissingThere, TenantID: sub.TenantID, PSPID: sub.PSPSubscriptionID}
	var err error
	if end && r.Repair {
		d.Repaired, err = r.endMissing(ctx, sub)
	}
	return []psp.Difference{d}, err
}

// note names the subscription that could not be compared.
func (r reconciliation) note(pspID string) func([]psp.Difference, error) error {
	return func(found []psp.Difference, err error) error {
		if err != nil {
			err = fmt.Errorf("subscription %s: %w", pspID, err)
		}
		return r.Note(found, err)
	}
}
