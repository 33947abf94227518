package reconcile

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/subscription"
)

// adviceUnknown is how an operator resolves a subscription of an unknown tenant.
const adviceUnknown = "cancel and refund it in Stripe's dashboard, or create the customer again and import the subscription"

// compare returns the differences between a subscription in the provider's list and the stored one, and
// repairs them if repair is set. The list can be older than the stored state, so the subscription is
// read back first, and only the remaining differences count.
func (s *Service) compare(ctx context.Context, listed psp.Subscription, repair bool) ([]compare.Difference, error) {
	found, err := s.differences(ctx, listed)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, listed.ID)
	if err != nil {
		return nil, err
	}
	found, err = s.differences(ctx, remote)
	if err != nil || len(found) == 0 || !repair {
		return found, err
	}
	repaired := false
	switch found[0].Kind {
	case compare.KindNotTakenOver, compare.KindUnknownTenant:
	case compare.KindStillRunning:
		repaired, err = s.retireAgain(ctx, remote.ID)
	default:
		err = s.deps.Subscriptions.TakeOver(ctx, remote.ID)
		repaired = err == nil
	}
	for i := range found {
		found[i].Repaired = repaired
	}
	return found, err
}

// differences lists how the provider's state of a subscription differs from the stored one. All
// differences are of the same kind. A subscription of another program yields no differences.
func (s *Service) differences(ctx context.Context, remote psp.Subscription) ([]compare.Difference, error) {
	known, next, err := s.deps.Subscriptions.Merge(ctx, remote)
	d := compare.Difference{Of: compare.SubscriptionDifference, TenantID: next.TenantID, PSPID: remote.ID}
	if unfit, ok := errors.AsType[*subscription.UnfitError](err); ok {
		d.Kind, d.Field, d.There = compare.KindNotTakenOver, unfit.Field, unfit.Value
		return []compare.Difference{d}, nil
	}
	if foreign, ok := errors.AsType[*subscription.ForeignError](err); ok {
		if foreign.TenantID == uuid.Nil {
			return nil, nil
		}
		d.Kind, d.TenantID, d.PSPCustomerID, d.Reason = compare.KindUnknownTenant, foreign.TenantID, foreign.CustomerID, adviceUnknown
		return []compare.Difference{d}, nil
	}
	isNew := known.ID == uuid.Nil
	switch {
	case err != nil:
		return nil, err
	case !isNew && known.Status.IsOver() && !next.Status.IsOver():
		d.Kind, d.Field, d.Here, d.There = compare.KindStillRunning, "status", string(known.Status), string(next.Status)
		return []compare.Difference{d}, nil
	case !isNew:
		return fieldDifferences(known, next), nil
	}
	adoption, other, err := s.deps.Subscriptions.DecideAdoption(ctx, next, remote)
	if err != nil {
		return nil, err
	}
	switch adoption {
	case subscription.AdoptLater:
		return nil, nil
	case subscription.AdoptIgnored:
		d.Kind, d.Field, d.Here, d.There = compare.KindNotTakenOver, "subscription", other.PSPSubscriptionID, remote.ID
	default:
		d.Kind = compare.KindMissingHere
	}
	return []compare.Difference{d}, nil
}

// retireAgain enqueues the end, at the provider, of a subscription that was replaced here. It
// reports whether the subscription was replaced.
func (s *Service) retireAgain(ctx context.Context, pspID string) (bool, error) {
	sub, err := s.deps.Subscriptions.ByPSPID(ctx, pspID)
	if errors.Is(err, subscription.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return s.deps.Subscriptions.RetireReplaced(ctx, sub)
}
