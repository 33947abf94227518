package entitlement

import (
	"context"

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

func (s store) hasBought(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	has, err := s.q(ctx).HasBoughtSubscription(ctx, tenantID)
	return has, sqldb.Wrap(err, "look for a subscription that is not free")
}

// granted lists what a tenant's subscription grants, in no order; ErrNone without
// one that grants features.
func (s store) granted(ctx context.Context, tenantID uuid.UUID) ([]Feature, error) {
	rows, err := s.q(ctx).GrantedFeatures(ctx, tenantID)
	if err != nil {
		return nil, sqldb.Wrap(err, "list granted features")
	}
	if len(rows) == 0 {
		return nil, ErrNone
	}
	var features []Feature
	for _, row := range rows {
		if row.Code != nil {
			features = append(features, Feature{Code: *row.Code, Type: catalog.EntitlementType(*row.Type), Quota: row.Value})
		}
	}
	return features, nil
}

// quota returns the quota of a feature on a tenant's plan, nil where it is
// unlimited; errNoQuota where the plan has none or no plan sets limits.
func (s store) quota(ctx context.Context, tenantID uuid.UUID, code string) (*int64, error) {
	value, err := s.q(ctx).QuotaOfFeature(ctx, entitlementsql.QuotaOfFeatureParams{TenantID: tenantID, Code: code})
	return value, sqldb.WrapAbsent(err, "read quota", errNoQuota)
}

// terms reads the terms of tenants into found, without their quotas.
func (s store) terms(ctx context.Context, tenantIDs []uuid.UUID, found map[uuid.UUID]Terms) error {
	err := s.each(ctx, `SELECT tenant_id, plan_id, interval_unit, interval_count, billing_anchor, current_period_start, current_period_end, former_billing
FROM subscriptions
WHERE status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused') AND tenant_id IN (VALUES `, tenantIDs, func(scan func(...any) error) error {
		var id uuid.UUID
		var t Terms
		var former sqldb.JSON
		err := scan(&id, &t.PlanID, &t.IntervalUnit, &t.IntervalCount, &t.BillingAnchor, &t.CurrentPeriodStart, &t.CurrentPeriodEnd, &former)
		if err == nil {
			t.Former, err = DecodeFormer(former)
		}
		found[id] = t
		return err
	})
	return sqldb.Wrap(err, "read terms")
}

// quotas reads the quotas of plans into found, which has a map for each plan.
func (s store) quotas(ctx context.Context, plans []uuid.UUID, found map[uuid.UUID]map[string]int64) error {
	err := s.each(ctx, `SELECT e.plan_id, f.code, e.value
FROM entitlements e JOIN features f ON f.id = e.feature_id
WHERE f.deleted_at IS NULL AND e.value IS NOT NULL AND e.plan_id IN (VALUES `, plans, func(scan func(...any) error) error {
		var id uuid.UUID
		var code string
		var value int64
		err := scan(&id, &code, &value)
		if err == nil {
			found[id][code] = value
		}
		return err
	})
	return sqldb.Wrap(err, "read quotas")
}

// each runs a query that ends in a list of ids and hands every row to read.
func (s store) each(ctx context.Context, query string, ids []uuid.UUID, read func(scan func(...any) error) error) error {
	ids = sqldb.Padded(ids)
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query+sqldb.Tuples(1, len(ids), "uuid")+`)`, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
