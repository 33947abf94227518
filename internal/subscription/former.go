package subscription

import (
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

// formerTermsLife is the length of the longest window that can be interrupted: a month.
const formerTermsLife = 31 * 24 * time.Hour

// termsUntil is what the subscription says about its billing until a time.
func (s Subscription) termsUntil(until time.Time) entitlement.FormerTerms {
	return entitlement.FormerTerms{
		BillingAnchor: s.BillingAnchor, IntervalUnit: s.IntervalUnit, IntervalCount: s.IntervalCount,
		CurrentPeriodStart: s.CurrentPeriodStart, CurrentPeriodEnd: s.CurrentPeriodEnd, Until: until,
	}
}

// sameBilling reports whether the billing periods of both follow from the same terms.
func (s Subscription) sameBilling(o Subscription) bool {
	return s.BillingAnchor.Equal(o.BillingAnchor) && s.IntervalUnit == o.IntervalUnit && s.IntervalCount == o.IntervalCount
}

// noteFormerTerms returns the former terms of next, the new state of known, which is not
// over: those of known, and the terms that next replaces or ends.
//
// Invariant: of every moment of the last month in which a subscription of the tenant
// ran, the terms that held then are the first former ones that ended after it, or the
// present ones.
func noteFormerTerms(known, next Subscription, now time.Time) (sqldb.JSON, error) {
	begun := next.CurrentPeriodStart
	replaced := begun.After(known.CurrentPeriodStart) && (begun.Before(known.CurrentPeriodEnd) || !known.sameBilling(next))
	if !replaced && next.Status != Canceled {
		return known.former, nil
	}
	former, err := entitlement.DecodeFormer(known.former)
	if err != nil {
		return nil, err
	}
	if replaced {
		former = append(former, known.termsUntil(begun))
	}
	if next.Status == Canceled {
		until := now
		if next.CurrentPeriodEnd.Before(until) {
			until = next.CurrentPeriodEnd
		}
		if until.After(next.CurrentPeriodStart) {
			former = append(former, next.termsUntil(until))
		}
	}
	return entitlement.EncodeFormer(dropExpired(former, now))
}

// inheritFormerTerms puts together the former terms of all subscriptions that a tenant had,
// for its next one. They end with its beginning at the latest: the provider begins a
// subscription before the one that it replaces is ended here.
func inheritFormerTerms(had []Subscription, next Subscription) (sqldb.JSON, error) {
	var all []entitlement.FormerTerms
	for _, s := range had {
		former, err := entitlement.DecodeFormer(s.former)
		if err != nil {
			return nil, err
		}
		for _, f := range former {
			if f.Until.After(next.CurrentPeriodStart) {
				f.Until = next.CurrentPeriodStart
			}
			// A later subscription has the terms of an earlier one too.
			if f.Until.After(f.CurrentPeriodStart) && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entitlement.FormerTerms) int { return a.Until.Compare(b.Until) })
	return entitlement.EncodeFormer(dropExpired(all, next.CreatedAt))
}

// dropExpired leaves out the terms that ended too long ago to have interrupted a window that
// would still go on.
func dropExpired(former []entitlement.FormerTerms, now time.Time) []entitlement.FormerTerms {
	return slices.DeleteFunc(former, func(f entitlement.FormerTerms) bool { return f.Until.Before(now.Add(-formerTermsLife)) })
}
