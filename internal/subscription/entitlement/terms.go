package entitlement

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Terms are the plan that applies to a tenant with its features and limits: the plan of the
// subscription that sets limits, otherwise the default plan (rules: subscription#statuses).
type Terms struct {
	PlanID uuid.UUID
	// Status is the status of the subscription; empty for the default plan.
	Status string
	// The billing periods of the subscription; zero for the default plan.
	IntervalUnit                         string
	IntervalCount                        int32
	BillingAnchor                        time.Time
	CurrentPeriodStart, CurrentPeriodEnd time.Time
	// Former are the terms of the last month that no longer apply, in the order in which they
	// ended.
	Former []FormerTerms
	// Features are the entitlements of the plan by code. Tenants of one plan share the list and
	// the map, which must not be changed.
	Features []Feature
	// Quotas are the features with a limit, by code and in whole units.
	Quotas map[string]int64
}

// IsDefault reports whether the terms are those of the default plan.
func (t Terms) IsDefault() bool { return t.Status == "" }

// grantsFeatures reports whether the tenant has the features of the plan. Limits apply while
// payments are late, too.
func (t Terms) grantsFeatures() bool {
	return t.IsDefault() || t.Status == "active" || t.Status == "trialing"
}

// planFeatures are the entitlements of a plan.
type planFeatures struct {
	features []Feature
	quotas   map[string]int64
}

func (p *planFeatures) add(f Feature) {
	p.features = append(p.features, f)
	if f.Quota != nil {
		p.quotas[f.Code] = *f.Quota
	}
}

// plansRead are the plans that the queries of TermsOf read.
type plansRead struct {
	byID     map[uuid.UUID]*planFeatures
	standard uuid.UUID // the default plan; Nil for none
}

func newPlansRead() *plansRead { return &plansRead{byID: map[uuid.UUID]*planFeatures{}} }

func (p *plansRead) plan(id uuid.UUID) *planFeatures {
	if p.byID[id] == nil {
		p.byID[id] = &planFeatures{quotas: map[string]int64{}}
	}
	return p.byID[id]
}

// TermTables are all tables that TermsOf reads.
func TermTables() []string { return []string{"subscriptions", "plans", "entitlements", "features"} }

// TermsOf returns the queries that read the terms of tenants, and a function that returns the terms
// once the queries have run, in the transaction of ctx or without one. A tenant is missing in the
// result if no subscription sets its limits and there is no default plan.
func (r Register) TermsOf(tenantIDs []uuid.UUID) (queries []sqldb.Query, read func(ctx context.Context) (map[uuid.UUID]Terms, error)) {
	terms := make(map[uuid.UUID]Terms, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return nil, func(context.Context) (map[uuid.UUID]Terms, error) { return terms, nil }
	}
	former := map[uuid.UUID][]FormerTerms{}
	plans := newPlansRead()
	queries = []sqldb.Query{r.store.termsQuery(tenantIDs, terms, former), r.store.tenantPlansQuery(tenantIDs, plans)}
	return queries, func(ctx context.Context) (map[uuid.UUID]Terms, error) {
		var missing []uuid.UUID
		for _, t := range terms {
			if plans.byID[t.PlanID] == nil { // the plan was changed between the two queries
				plans.plan(t.PlanID)
				missing = append(missing, t.PlanID)
			}
		}
		if len(missing) > 0 {
			if err := r.store.addPlans(ctx, missing, plans); err != nil {
				return nil, err
			}
		}
		for _, id := range tenantIDs {
			t, subscribed := terms[id]
			if !subscribed && plans.standard == uuid.Nil {
				continue
			}
			if !subscribed {
				t = Terms{PlanID: plans.standard, Former: former[id]}
			}
			p := plans.plan(t.PlanID)
			t.Features, t.Quotas = p.features, p.quotas
			terms[id] = t
		}
		return terms, nil
	}
}

// loadTerms is TermsOf as one call.
func (r Register) loadTerms(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Terms, error) {
	queries, read := r.TermsOf(tenantIDs)
	if err := r.store.db.QueryAll(ctx, queries...); err != nil {
		return nil, err
	}
	return read(ctx)
}

// SeatLimit returns the limit of team members of a tenant, which applies while payments are late,
// too; nil is unlimited.
func (s *Service) SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error) {
	terms, err := s.loadTerms(ctx, []uuid.UUID{tenantID})
	if err != nil {
		return nil, err
	}
	if limit, limited := terms[tenantID].Quotas[catalog.TeamMembers]; limited {
		return &limit, nil
	}
	return nil, nil
}
