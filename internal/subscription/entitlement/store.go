package entitlement

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement/entitlementsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *entitlementsql.Queries {
	return entitlementsql.New(s.db.Conn(ctx))
}

func (s store) hasActive(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	has, err := s.q(ctx).HasActiveSubscription(ctx, tenantID)
	return has, sqldb.Wrap(err, "look for an active subscription")
}

// productsWithoutTrial lists the products whose plans would not start a trial for the tenant.
func (s store) productsWithoutTrial(ctx context.Context, tenantID uuid.UUID) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).ProductsWithoutTrial(ctx, tenantID)
	return ids, sqldb.Wrap(err, "list products without a trial")
}

func (s store) hasBought(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	has, err := s.q(ctx).HasBoughtSubscription(ctx, tenantID)
	return has, sqldb.Wrap(err, "look for a subscription that is not free")
}

// loadGranted reads the features of the tenants' subscriptions, sorted by code. It omits tenants
// without a subscription that grants features.
func (s store) loadGranted(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID][]Feature, error) {
	found := make(map[uuid.UUID][]Feature, len(tenantIDs))
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	err := s.db.QueryAll(ctx, sqldb.Query{
		Doing: "list granted features",
		// A plan without features yields one row with a null code.
		Text: `SELECT s.tenant_id, f.code, e.type, e.value
FROM subscriptions s
LEFT JOIN entitlements e ON e.plan_id = s.plan_id
LEFT JOIN features f ON f.id = e.feature_id AND f.deleted_at IS NULL
WHERE s.status IN ('active', 'trialing') AND s.tenant_id ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var code, kind *string
			var value *int64
			err := scan(&id, &code, &kind, &value)
			features := found[id]
			if code != nil && kind != nil {
				features = append(features, Feature{Code: *code, Type: catalog.EntitlementType(*kind), Quota: value})
			}
			found[id] = features
			return err
		},
	})
	for _, features := range found {
		slices.SortFunc(features, func(a, b Feature) int { return cmp.Compare(a.Code, b.Code) })
	}
	return found, err
}

// listActive returns which of the tenants have a subscription that grants features.
func (s store) listActive(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]bool, error) {
	found := make(map[uuid.UUID]bool, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return found, nil
	}
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "look for active subscriptions",
		Text:  `SELECT tenant_id FROM subscriptions WHERE status IN ('active', 'trialing') AND tenant_id ` + among,
		Args:  args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			err := scan(&id)
			found[id] = true
			return err
		},
	})
}

// quota returns the quota of a feature on a tenant's plan, or nil if it is unlimited. It returns
// errNoQuota if the plan has no quota of the feature or no plan sets limits.
func (s store) quota(ctx context.Context, tenantID uuid.UUID, code string) (*int64, error) {
	value, err := s.q(ctx).QuotaOfFeature(ctx, entitlementsql.QuotaOfFeatureParams{TenantID: tenantID, Code: code})
	return value, sqldb.WrapAbsent(err, "read quota", errNoQuota)
}

// termsQuery returns a query that reads the terms of tenants into found, without their quotas.
func (s store) termsQuery(tenantIDs []uuid.UUID, found map[uuid.UUID]Terms) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read terms",
		Text: `SELECT tenant_id, plan_id, interval_unit, interval_count, billing_anchor, current_period_start, current_period_end, former_billing
FROM subscriptions
WHERE ` + limiting + ` AND tenant_id ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var t Terms
			var former sqldb.JSON
			err := scan(&id, &t.PlanID, &t.IntervalUnit, &t.IntervalCount, &t.BillingAnchor, &t.CurrentPeriodStart, &t.CurrentPeriodEnd, &former)
			if err == nil {
				t.Former, err = DecodeFormer(former)
			}
			found[id] = t
			return err
		},
	}
}

// limiting is the SQL condition for a tenant's only subscription whose plan sets limits.
const limiting = `status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused')`

// tenantQuotasQuery returns a query that reads the quotas of the tenants' plans into found. A plan
// without quotas gets an empty map.
func (s store) tenantQuotasQuery(tenantIDs []uuid.UUID, found map[uuid.UUID]map[string]int64) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read quotas",
		Text: `SELECT p.plan_id, q.code, q.value
FROM (SELECT DISTINCT plan_id FROM subscriptions WHERE ` + limiting + ` AND tenant_id ` + among + `) p
LEFT JOIN (SELECT e.plan_id, f.code, e.value FROM entitlements e JOIN features f ON f.id = e.feature_id
    WHERE f.deleted_at IS NULL AND e.value IS NOT NULL) q ON q.plan_id = p.plan_id`,
		Args: args,
		Row:  quotaInto(found),
	}
}

// quotas reads the quotas of plans into found, which must already hold a map for each plan.
func (s store) quotas(ctx context.Context, plans []uuid.UUID, found map[uuid.UUID]map[string]int64) error {
	among, args := sqldb.InCondition(s.db, 1, "uuid", plans)
	return s.db.QueryAll(ctx, sqldb.Query{
		Doing: "read quotas",
		Text: `SELECT e.plan_id, f.code, e.value
FROM entitlements e JOIN features f ON f.id = e.feature_id
WHERE f.deleted_at IS NULL AND e.value IS NOT NULL AND e.plan_id ` + among,
		Args: args,
		Row:  quotaInto(found),
	})
}

// quotaInto returns a row function that adds a plan, and its quota if there is one, to found.
func quotaInto(found map[uuid.UUID]map[string]int64) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var id uuid.UUID
		var code *string
		var value *int64
		err := scan(&id, &code, &value)
		if found[id] == nil {
			found[id] = map[string]int64{}
		}
		if code != nil && value != nil {
			found[id][*code] = *value
		}
		return err
	}
}
