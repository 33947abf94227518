package entitlement

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Terms are the terms of a subscription that apply to usage: its billing period and its limits. The
// limits also apply while features are off (rules: subscription#statuses).
type Terms struct {
	PlanID                               uuid.UUID
	IntervalUnit                         string
	IntervalCount                        int32
	BillingAnchor                        time.Time
	CurrentPeriodStart, CurrentPeriodEnd time.Time
	// Former are the terms that ended within the last month, ordered by their end.
	Former []FormerTerms
	// Quotas are the quotas of the plan by feature code, in whole units. Entitlements without a
	// quota are omitted. Tenants of the same plan share the map, so it must not be modified.
	Quotas map[string]int64
}

// TermTables returns all tables that TermsOf reads.
func TermTables() []string { return []string{"subscriptions", "entitlements", "features"} }

// TermsOf returns the queries that read the terms of tenants, and a function that returns the terms
// once the queries have run, inside or outside a transaction. It omits tenants without a
// subscription that sets limits.
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
