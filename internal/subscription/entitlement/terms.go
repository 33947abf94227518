package entitlement

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Terms is what a subscription says about usage: its billing period and its limits,
// which hold while features are off too (rules: subscription#statuses).
type Terms struct {
	PlanID                               uuid.UUID
	IntervalUnit                         string
	IntervalCount                        int32
	BillingAnchor                        time.Time
	CurrentPeriodStart, CurrentPeriodEnd time.Time
	// Former are the terms of the last month that hold no more, by their end.
	Former []FormerTerms
	// Quotas are those of the plan's entitlements by feature code, in whole units;
	// an entitlement without one is left out. Tenants of one plan share the map:
	// it must not be changed.
	Quotas map[string]int64
}

// TermsOf reads the terms of any number of tenants in two queries, in the
// transaction of ctx where there is one. A tenant whose subscription sets no limits,
// or who has none, is left out.
func (s *Service) TermsOf(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Terms, error) {
	terms := make(map[uuid.UUID]Terms, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return terms, nil
	}
	if err := s.store.terms(ctx, tenantIDs, terms); err != nil {
		return nil, err
	}
	var plans []uuid.UUID
	quotas := map[uuid.UUID]map[string]int64{}
	for id, t := range terms {
		if quotas[t.PlanID] == nil {
			quotas[t.PlanID] = map[string]int64{}
			plans = append(plans, t.PlanID)
		}
		t.Quotas = quotas[t.PlanID]
		terms[id] = t
	}
	if len(plans) == 0 {
		return terms, nil
	}
	if err := s.store.quotas(ctx, plans, quotas); err != nil {
		return nil, err
	}
	return terms, nil
}
