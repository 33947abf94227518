package subscription

import (
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

// formerTermsLife is the length of the longest window that a change can interrupt: a month.
const formerTermsLife = 31 * 24 * time.Hour

// termsUntil returns the subscription's billing terms, ending at the given time.
func (s Subscription) termsUntil(until time.Time) entitlement.FormerTerms {
	return entitlement.FormerTerms{
		BillingAnchor: s.BillingAnchor, IntervalUnit: s.IntervalUnit, IntervalCount: s.IntervalCount,
		CurrentPeriodStart: s.CurrentPeriodStart, CurrentPeriodEnd: s.CurrentPeriodEnd, Until: until,
	}
}

// FormerTerms returns the billing terms that ended within the last month, ordered by their end.
func (s Subscription) FormerTerms() ([]entitlement.FormerTerms, error) {
	return entitlement.DecodeFormer(s.former)
}

// sameBilling reports whether both subscriptions have the same billing terms.
func (s Subscription) sameBilling(o Subscription) bool {
	return s.BillingAnchor.Equal(o.BillingAnchor) && s.IntervalUnit == o.IntervalUnit && s.IntervalCount == o.IntervalCount
}

// noteFormerTerms returns the former terms to store with next, the new state of the subscription known:
// the former terms of known, and the current terms of known if next replaces or ends them. known must
// not have ended.
//
// Invariant: for every time in the last month at which the tenant had a running subscription, the
// applicable terms are the first former terms that ended after it, or the current terms.
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

// inheritFormerTerms merges the former terms of all earlier subscriptions of a tenant for its next
// subscription. The merged terms end at the latest when the next subscription begins, because at the
// provider it begins before the replaced subscription is ended here.
func inheritFormerTerms(had []Subscription, next Subscription, hasDefaultPlan bool) (sqldb.JSON, error) {
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
			// A later subscription also holds the terms of the earlier ones.
			if f.Until.After(f.CurrentPeriodStart) && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entitlement.FormerTerms) int { return a.Until.Compare(b.Until) })
	if begun := next.CurrentPeriodStart; hasDefaultPlan && (len(all) == 0 || all[len(all)-1].Until.Before(begun)) {
		all = append(all, calendarTermsUntil(begun))
	}
	return entitlement.EncodeFormer(dropExpired(all, next.CreatedAt))
}

// calendarTermsUntil returns the terms of the default plan, whose months are calendar months, until
// a time.
func calendarTermsUntil(until time.Time) entitlement.FormerTerms {
	until = until.UTC()
	first := time.Date(until.Year(), until.Month(), 1, 0, 0, 0, 0, time.UTC)
	return entitlement.FormerTerms{
		BillingAnchor: first, IntervalUnit: "month", IntervalCount: 1,
		CurrentPeriodStart: first, CurrentPeriodEnd: first.AddDate(0, 1, 0), Until: until,
	}
}

// dropExpired removes the terms that ended so long ago that any window they interrupted is over.
func dropExpired(former []entitlement.FormerTerms, now time.Time) []entitlement.FormerTerms {
	return slices.DeleteFunc(former, func(f entitlement.FormerTerms) bool { return f.Until.Before(now.Add(-formerTermsLife)) })
}
