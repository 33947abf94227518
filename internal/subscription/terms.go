package subscription

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Terms is what a subscription that grants features says about its usage.
type Terms struct {
	PlanID                               uuid.UUID
	IntervalUnit                         string
	IntervalCount                        int32
	BillingAnchor                        time.Time
	CurrentPeriodStart, CurrentPeriodEnd time.Time
	// Quotas are those of the plan's entitlements by feature code, in whole units;
	// an entitlement without one is left out. Tenants of one plan share the map:
	// it must not be changed.
	Quotas map[string]int64
}

// TermsOf reads the terms of any number of tenants in two queries, in the
// transaction of ctx where there is one. A tenant whose subscription grants
// nothing, or who has none, is left out.
func (s *Service) TermsOf(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Terms, error) {
	terms := make(map[uuid.UUID]Terms, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return terms, nil
	}
	if err := s.store.terms(ctx, tenantIDs, terms); err != nil {
		return nil, fmt.Errorf("subscription: terms: %w", err)
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
		return nil, fmt.Errorf("subscription: quotas: %w", err)
	}
	return terms, nil
}

// terms reads the terms, but for the quotas, into found.
func (s store) terms(ctx context.Context, tenantIDs []uuid.UUID, found map[uuid.UUID]Terms) error {
	return s.each(ctx, `SELECT tenant_id, plan_id, interval_unit, interval_count, billing_anchor, current_period_start, current_period_end
FROM subscriptions
WHERE status IN ('active', 'trialing') AND tenant_id IN (VALUES `, tenantIDs, func(scan func(...any) error) error {
		var id uuid.UUID
		var t Terms
		err := scan(&id, &t.PlanID, &t.IntervalUnit, &t.IntervalCount, &t.BillingAnchor, &t.CurrentPeriodStart, &t.CurrentPeriodEnd)
		found[id] = t
		return err
	})
}

// quotas reads the quotas of plans into found, which has a map for each.
func (s store) quotas(ctx context.Context, plans []uuid.UUID, found map[uuid.UUID]map[string]int64) error {
	return s.each(ctx, `SELECT e.plan_id, f.code, e.value
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
