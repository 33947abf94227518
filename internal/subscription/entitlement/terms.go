package entitlement

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
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

// TermTables are all tables that TermsOf reads.
func TermTables() []string { return []string{"subscriptions", "entitlements", "features"} }

// TermsOf returns the queries that read the terms of any number of tenants, and what has
// them when the queries have run in the transaction of ctx, or without one. A tenant whose
// subscription sets no limits, or who has none, is left out.
func (s *Service) TermsOf(tenantIDs []uuid.UUID) (queries []sqldb.Query, read func(ctx context.Context) (map[uuid.UUID]Terms, error)) {
	terms := make(map[uuid.UUID]Terms, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return nil, func(context.Context) (map[uuid.UUID]Terms, error) { return terms, nil }
	}
	quotas := map[uuid.UUID]map[string]int64{}
	queries = []sqldb.Query{s.store.termsQuery(tenantIDs, terms), s.store.tenantQuotasQuery(tenantIDs, quotas)}
	return queries, func(ctx context.Context) (map[uuid.UUID]Terms, error) {
		var missing []uuid.UUID
		for id, t := range terms {
			if quotas[t.PlanID] == nil { // the plan was changed between the two queries
				quotas[t.PlanID] = map[string]int64{}
				missing = append(missing, t.PlanID)
			}
			t.Quotas = quotas[t.PlanID]
			terms[id] = t
		}
		if len(missing) == 0 {
			return terms, nil
		}
		return terms, s.store.quotas(ctx, missing, quotas)
	}
}
