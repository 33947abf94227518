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

// featureExists reports whether the catalog has a feature.
func (s store) featureExists(ctx context.Context, code string) (bool, error) {
	n, err := s.q(ctx).FeatureExists(ctx, code)
	return n > 0, sqldb.Wrap(err, "find feature")
}

func (s store) hasActive(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	has, err := s.q(ctx).HasActiveSubscription(ctx, tenantID)
	return has, sqldb.Wrap(err, "find active subscription")
}

// productsWithoutTrial lists the products whose plans would not start a trial for the tenant.
func (s store) productsWithoutTrial(ctx context.Context, tenantID uuid.UUID) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).ProductsWithoutTrial(ctx, tenantID)
	return ids, sqldb.Wrap(err, "list products without a trial")
}

func (s store) hasBought(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	has, err := s.q(ctx).HasBoughtSubscription(ctx, tenantID)
	return has, sqldb.Wrap(err, "find paid subscription")
}

func (s store) planSlug(ctx context.Context, id uuid.UUID) (string, error) {
	slug, err := s.q(ctx).PlanSlug(ctx, id)
	return slug, sqldb.Wrap(err, "read slug of plan")
}

// limiting is the condition for a tenant's subscription whose plan sets limits. A tenant has at most
// one.
const limiting = `status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused')`

// termsQuery reads the terms of subscriptions that set limits, without their features, into terms. It
// reads the former terms of tenants whose subscriptions have ended into former.
func (s store) termsQuery(tenantIDs []uuid.UUID, terms map[uuid.UUID]Terms, former map[uuid.UUID][]FormerTerms) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read terms",
		// The latest subscription has the former terms of the earlier ones, too.
		Text: `SELECT tenant_id, plan_id, status, interval_unit, interval_count, billing_anchor, current_period_start, current_period_end, former_billing,
    currency, metered_items, unpaid_since
FROM subscriptions
WHERE (` + limiting + ` OR status = 'canceled' AND former_billing IS NOT NULL) AND tenant_id ` + among + `
ORDER BY created_at, id`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var t Terms
			var text sqldb.JSON
			err := scan(&id, &t.PlanID, &t.Status, &t.IntervalUnit, &t.IntervalCount, &t.BillingAnchor, &t.CurrentPeriodStart, &t.CurrentPeriodEnd, &text,
				&t.Currency, &t.MeteredItems, &t.unpaidSince)
			if err == nil {
				t.Former, err = DecodeFormer(text)
			}
			if t.Status == "canceled" {
				former[id] = t.Former
			} else {
				terms[id] = t
			}
			return err
		},
	}
}

// tenantPlansQuery reads the default plan, and the plans of the tenants' subscriptions that set limits,
// into found.
func (s store) tenantPlansQuery(tenantIDs []uuid.UUID, found *plansRead) sqldb.Query {
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read entitlements of tenants",
		Text: `SELECT p.id, p.is_default AND p.deleted_at IS NULL, p.pricing_type, q.code, q.type, q.value
FROM plans p
LEFT JOIN (` + entitledFeatures + `) q ON q.plan_id = p.id
WHERE p.is_default AND p.deleted_at IS NULL OR p.id IN (SELECT plan_id FROM subscriptions WHERE ` + limiting + ` AND tenant_id ` + among + `)
ORDER BY q.code`,
		Args: args,
		Row:  featureInto(found),
	}
}

// entitledFeatures are the entitlements of plans with the codes of their features.
const entitledFeatures = `SELECT e.plan_id, f.code, e.type, e.value FROM entitlements e JOIN features f ON f.id = e.feature_id WHERE f.deleted_at IS NULL`

// addPlans reads plans into found.
func (s store) addPlans(ctx context.Context, plans []uuid.UUID, found *plansRead) error {
	among, args := sqldb.InCondition(s.db, 1, "uuid", plans)
	return s.db.QueryAll(ctx, sqldb.Query{
		Doing: "read entitlements of plans",
		Text: `SELECT p.id, false, p.pricing_type, q.code, q.type, q.value
FROM plans p
LEFT JOIN (` + entitledFeatures + `) q ON q.plan_id = p.id
WHERE p.id ` + among + `
ORDER BY q.code`,
		Args: args,
		Row:  featureInto(found),
	})
}

// featureInto returns a function that reads a row into found: a plan, with one of its features if it
// has any. The rows of a plan are sorted by code.
func featureInto(found *plansRead) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var id uuid.UUID
		var isDefault bool
		var code, kind *string
		var value *int64
		var pricing catalog.PricingType
		err := scan(&id, &isDefault, &pricing, &code, &kind, &value)
		p := found.plan(id)
		p.pricing = pricing
		if isDefault {
			found.standard = id
		}
		if code != nil && kind != nil {
			p.add(Feature{Code: *code, Type: catalog.EntitlementType(*kind), Quota: value})
		}
		return err
	}
}
