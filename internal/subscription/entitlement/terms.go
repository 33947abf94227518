package entitlement

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Terms are the plan that applies to a tenant, with the granted features and limits. It is the plan
// of the subscription that sets limits, or else the default plan (rules: subscription#statuses).
// The overrides of the tenant take precedence over the plan.
type Terms struct {
	PlanID uuid.UUID // Nil if neither a subscription nor the default plan sets limits
	// Status is the status of the subscription; empty without one.
	Status string
	// The billing periods of the subscription; zero without one.
	IntervalUnit                         string
	IntervalCount                        int32
	BillingAnchor                        time.Time
	CurrentPeriodStart, CurrentPeriodEnd time.Time
	// Currency and MeteredItems belong to the subscription. MeteredItems is the encoded list of the
	// provider's items that bill usage; nil if it is unknown.
	Currency     string
	MeteredItems sqldb.JSON
	// FeaturesUntil is the end of the grace period of a subscription that is past_due; nil without
	// one.
	FeaturesUntil *time.Time
	unpaidSince   *time.Time
	// Former are the terms that ended within the last month, in the order in which they ended.
	Former []FormerTerms
	// Overrides of the tenant by feature code, expired ones included.
	Overrides []Override
	// planFeatures must not be changed, because the tenants of a plan share them.
	planFeatures
}

// IsDefault reports whether the plan is the default plan.
func (t Terms) IsDefault() bool { return t.Status == "" && t.PlanID != uuid.Nil }

// grantsPlan reports whether the tenant has the features of the plan at the given time. Limits also
// apply while payments are late.
func (t Terms) grantsPlan(now time.Time) bool {
	return t.IsDefault() || t.Status == "active" || t.Status == "trialing" || t.isInGrace(now)
}

// isInGrace reports whether payments are late, but the tenant still has its features.
func (t Terms) isInGrace(now time.Time) bool {
	return t.FeaturesUntil != nil && now.Before(*t.FeaturesUntil)
}

// Limits returns the limits that apply at the given time, by feature code and in whole units. A missing
// code is unlimited.
func (t Terms) Limits(now time.Time) map[string]int64 {
	if !slices.ContainsFunc(t.Overrides, func(o Override) bool { return o.applies(now) }) {
		return t.quotas
	}
	limits := maps.Clone(t.quotas)
	if limits == nil {
		limits = map[string]int64{}
	}
	for _, o := range t.Overrides {
		if !o.applies(now) {
			continue
		}
		if limit := o.limit(); limit != nil {
			limits[o.FeatureCode] = *limit
		} else {
			delete(limits, o.FeatureCode)
		}
	}
	return limits
}

// ChangesAt returns the next time after the given time at which an override expires or the grace
// period ends, or nil.
func (t Terms) ChangesAt(now time.Time) *time.Time {
	var next *time.Time
	if t.isInGrace(now) {
		next = t.FeaturesUntil
	}
	for _, o := range t.Overrides {
		if o.ExpiresAt != nil && o.applies(now) && (next == nil || o.ExpiresAt.Before(*next)) {
			next = o.ExpiresAt
		}
	}
	return next
}

// featuresAt returns the features that the tenant has at the given time, by code. Callers must not
// change the list.
func (t Terms) featuresAt(now time.Time) []Feature {
	var features []Feature
	if t.grantsPlan(now) {
		features = t.features
	}
	if !slices.ContainsFunc(t.Overrides, func(o Override) bool { return o.applies(now) }) {
		return features
	}
	features = slices.Clone(features)
	for _, o := range t.Overrides {
		if !o.applies(now) {
			continue
		}
		features = slices.DeleteFunc(features, func(f Feature) bool { return f.Code == o.FeatureCode })
		if o.Type != TypeNone {
			features = append(features, Feature{Code: o.FeatureCode, Type: o.Type, Quota: o.Value})
		}
	}
	slices.SortFunc(features, func(a, b Feature) int { return cmp.Compare(a.Code, b.Code) })
	return features
}

// BillsUsage reports whether the plan bills usage.
func (t Terms) BillsUsage() bool { return t.PlanID != uuid.Nil && t.pricing == catalog.PricingUsage }

// planFeatures are the entitlements of a plan.
type planFeatures struct {
	pricing  catalog.PricingType
	features []Feature
	quotas   map[string]int64
}

func (p *planFeatures) add(f Feature) {
	p.features = append(p.features, f)
	if f.Quota != nil {
		p.quotas[f.Code] = *f.Quota
	}
}

// feature returns the entitlement of a feature, or nil.
func (p planFeatures) feature(code string) *Feature {
	for i := range p.features {
		if p.features[i].Code == code {
			return &p.features[i]
		}
	}
	return nil
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
func TermTables() []string {
	return []string{"subscriptions", "plans", "entitlements", "features", "limit_overrides"}
}

// TermsOf returns the queries that read the terms of tenants, and a function that returns the terms
// once the queries have run, in the transaction of ctx or without one. A tenant is missing in the
// result if it has no plan, no overrides and no former terms.
func (r Register) TermsOf(tenantIDs []uuid.UUID) (queries []sqldb.Query, read func(ctx context.Context) (map[uuid.UUID]Terms, error)) {
	terms := make(map[uuid.UUID]Terms, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return nil, func(context.Context) (map[uuid.UUID]Terms, error) { return terms, nil }
	}
	former := map[uuid.UUID][]FormerTerms{}
	overrides := map[uuid.UUID][]Override{}
	plans := newPlansRead()
	queries = []sqldb.Query{
		r.store.termsQuery(tenantIDs, terms, former), r.store.tenantPlansQuery(tenantIDs, plans), r.store.overridesQuery(tenantIDs, overrides),
	}
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
			if !subscribed && plans.standard == uuid.Nil && overrides[id] == nil && former[id] == nil {
				continue
			}
			if !subscribed {
				t = Terms{PlanID: plans.standard, Former: former[id]}
			}
			t.planFeatures, t.Overrides = *plans.plan(t.PlanID), overrides[id]
			if t.unpaidSince != nil && t.Status == "past_due" {
				t.FeaturesUntil = r.endOfGrace(*t.unpaidSince)
			}
			terms[id] = t
		}
		return terms, nil
	}
}

// loadTerms runs the queries of TermsOf and returns the terms.
func (r Register) loadTerms(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Terms, error) {
	queries, read := r.TermsOf(tenantIDs)
	if err := r.store.db.QueryAll(ctx, queries...); err != nil {
		return nil, err
	}
	return read(ctx)
}

// SeatLimit returns the limit of team members of a tenant, or nil if it is unlimited. The limit also
// applies while payments are late.
func (s *Service) SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error) {
	terms, err := s.loadTerms(ctx, []uuid.UUID{tenantID})
	if err != nil {
		return nil, err
	}
	if limit, limited := terms[tenantID].Limits(s.deps.Clock.Now())[catalog.TeamMembers]; limited {
		return &limit, nil
	}
	return nil, nil
}

// SeatLimitWith returns the limit of team members that a tenant has with another plan at a given time,
// or nil if it is unlimited. An override that applies then replaces the plan's quota.
func (s *Service) SeatLimitWith(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan, at time.Time) (*int64, error) {
	terms, err := s.loadTerms(ctx, []uuid.UUID{tenantID})
	if err != nil {
		return nil, err
	}
	if o := terms[tenantID].override(catalog.TeamMembers, at); o != nil {
		return o.limit(), nil
	}
	return plan.SeatQuota(), nil
}
