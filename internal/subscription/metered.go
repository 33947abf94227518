package subscription

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// MeteredItems returns the provider's items that bill the subscription's usage. known is false if
// they were never read.
func (s Subscription) MeteredItems() (items []psp.MeteredItem, known bool, err error) {
	if s.metered == nil {
		return nil, false, nil
	}
	if err := json.Unmarshal(s.metered, &items); err != nil {
		return nil, false, fmt.Errorf("decode metered items: %w", err)
	}
	return items, true, nil
}

// MeteredTerms are the items that bill the usage of a period, as decided when the period began
// (rules: usage#new-prices).
type MeteredTerms struct {
	Items  []psp.MeteredItem `json:"items"`
	Former []psp.MeteredItem `json:"former"` // the items that billed the previous period
	// Since is when the items start to bill, nil for the start of the period.
	Since *time.Time `json:"since,omitempty"`
}

// MeteredTerms returns the latest decision. decided reports whether it is for the current period.
func (s Subscription) MeteredTerms() (terms MeteredTerms, decided bool, err error) {
	decided = s.meteredPeriod != nil && !s.meteredPeriod.Before(s.CurrentPeriodStart)
	if s.terms == nil { // no decision was ever stored
		terms.Items, _, err = s.MeteredItems()
		return terms, decided, err
	}
	if err := json.Unmarshal(s.terms, &terms); err != nil {
		return terms, false, fmt.Errorf("decode metered terms: %w", err)
	}
	return terms, decided, nil
}

// decideMetered stores, once per period, that the subscription's current items bill the current
// period. The items bill from the start of the period if they certainly billed the previous period
// as well. Otherwise they bill from since. It takes part in the transaction of ctx.
func (s *Service) decideMetered(ctx context.Context, sub Subscription, since time.Time, isUnsure bool) error {
	before, decided, err := sub.MeteredTerms()
	if err != nil || decided {
		return err
	}
	terms := MeteredTerms{Former: before.Items}
	if terms.Items, _, err = sub.MeteredItems(); err != nil {
		return err
	}
	if isUnsure || !samePrices(terms.Items, terms.Former) {
		terms.Since = &since
	}
	return s.store.decideMetered(ctx, sub, terms)
}

// updateMeteredTerms stores that the items of a new plan bill usage from now on. The provider does
// not bill usage from before an item was added. Such usage is reported with its own time and stays
// free.
func (s *Service) updateMeteredTerms(ctx context.Context, known, next Subscription) error {
	was, _, err := known.MeteredItems()
	if err != nil || known.PlanID == next.PlanID {
		return err
	}
	is, _, err := next.MeteredItems()
	if err != nil || samePrices(was, is) {
		return err
	}
	before, decided, err := known.MeteredTerms()
	if err != nil {
		return err
	}
	terms := MeteredTerms{Items: is, Former: before.Items}
	if decided && next.CurrentPeriodStart.Equal(known.CurrentPeriodStart) {
		terms.Former, terms.Since = before.Former, before.Since
	}
	return s.store.changeMeteredTerms(ctx, next, terms)
}

func samePrices(a, b []psp.MeteredItem) bool {
	prices := map[string]int{}
	for _, item := range a {
		prices[item.PriceID]++
	}
	for _, item := range b {
		prices[item.PriceID]--
	}
	for _, n := range prices {
		if n != 0 {
			return false
		}
	}
	return true
}

// eachUndecided calls f for every tenant whose usage plan has started a period for which its
// metered items are not decided yet.
func (s *Service) eachUndecided(ctx context.Context, f func(tenantID uuid.UUID) error) error {
	for after := uuid.Nil; ; {
		page, err := s.store.listUndecided(ctx, after, s.deps.Clock.Now())
		if err != nil || len(page) == 0 {
			return err
		}
		for _, sub := range page {
			if err := f(sub.TenantID); err != nil {
				return err
			}
			after = sub.ID
		}
	}
}

// eachOfPlan calls f for every subscription to a plan that has billing periods.
func (s *Service) eachOfPlan(ctx context.Context, planID uuid.UUID, f func(sub Subscription) error) error {
	for after := uuid.Nil; ; {
		page, err := s.store.listByPlan(ctx, planID, after)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, sub := range page {
			if err := f(sub); err != nil {
				return err
			}
			after = sub.ID
		}
	}
}
