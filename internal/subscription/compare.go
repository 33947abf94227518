package subscription

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
)

// reasonMissing is why a subscription was canceled that the provider lost.
const reasonMissing = "The payment provider does not know this subscription."

// compare finds how a subscription of the provider's list differs from what is
// known of it here, and repairs it if wanted. The list is older than what was
// stored meanwhile: a difference counts only if it is there after reading back.
func (s *Service) compare(ctx context.Context, listed psp.Subscription, repair bool) ([]psp.Difference, error) {
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
	case psp.NotTakenOver:
	case psp.StillRunning:
		repaired, err = s.retireAgain(ctx, remote.ID)
	default:
		err = s.take(ctx, remote.ID)
		repaired = err == nil
	}
	for i := range found {
		found[i].Repaired = repaired
	}
	return found, err
}

// differences lists how the provider's state differs from what is stored; all are
// of one kind. What is no tenant's does not differ.
func (s *Service) differences(ctx context.Context, remote psp.Subscription) ([]psp.Difference, error) {
	known, err := s.store.byPSPID(ctx, remote.ID)
	if err != nil {
		return nil, err
	}
	next, err := s.merge(ctx, known, remote)
	d := psp.Difference{Of: psp.OfSubscription, TenantID: next.TenantID, PSPID: remote.ID}
	if unfit, ok := errors.AsType[*unfitError](err); ok {
		d.Kind, d.Field, d.There = psp.NotTakenOver, unfit.field, unfit.value
		return []psp.Difference{d}, nil
	}
	switch {
	case errors.Is(err, errNobodys):
		return nil, nil
	case err != nil:
		return nil, err
	case known != nil && known.Status.Over() && !next.Status.Over():
		d.Kind, d.Field, d.Here, d.There = psp.StillRunning, "status", string(known.Status), string(next.Status)
		return []psp.Difference{d}, nil
	case known != nil:
		return changes(*known, next), nil
	}
	p, err := s.placeOf(ctx, next, remote)
	if err != nil {
		return nil, err
	}
	switch p.place {
	case placeLater:
		return nil, nil
	case placeLeft:
		d.Kind, d.Field, d.Here, d.There = psp.NotTakenOver, "subscription", p.other.PSPSubscriptionID, remote.ID
	default:
		d.Kind = psp.MissingHere
	}
	return []psp.Difference{d}, nil
}

// retireAgain has the provider end a subscription that was replaced; false for one
// that was not.
func (s *Service) retireAgain(ctx context.Context, pspID string) (bool, error) {
	sub, err := s.store.byPSPID(ctx, pspID)
	if err != nil || sub == nil {
		return false, err
	}
	replaced, err := s.store.hasSuccessor(ctx, *sub)
	if err != nil || !replaced {
		return false, err
	}
	return true, s.deps.Jobs.Enqueue(ctx, jobRetire, pspID, jobs.Key(pspID))
}

// endMissing ends a subscription here that the provider does not know; false when
// another state was stored since it was read.
func (s *Service) endMissing(ctx context.Context, sub Subscription) (bool, error) {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		ended, err := s.endHere(ctx, sub)
		if err != nil {
			return err
		}
		reason := reasonMissing
		if err := s.store.setReason(ctx, sub, &reason, ended.UpdatedAt); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, operation{
			before: sub, request: request{Kind: opCancelNow, Reason: &reason},
		}.entry(ended))
	})
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}
