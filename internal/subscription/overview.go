package subscription

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Overview tells the status and the plan of each tenant's subscription, in one
// query; a tenant whose subscriptions are all over is left out.
func (s *Service) Overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	overviews := make(map[uuid.UUID]tenant.Overview, len(tenantIDs))
	if len(tenantIDs) == 0 {
		return overviews, nil
	}
	places, args := placesOf(tenantIDs)
	rows, err := s.store.db.Conn(ctx).QueryContext(ctx, `SELECT s.tenant_id, s.status, p.name
FROM subscriptions s JOIN plans p ON p.id = s.plan_id
WHERE s.status NOT IN ('canceled', 'incomplete_expired') AND s.tenant_id IN (`+places+`)`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		var (
			id     uuid.UUID
			status string
			text   sqldb.JSON
			name   map[string]string
		)
		if err := rows.Scan(&id, &status, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &name); err != nil {
			return nil, err
		}
		overviews[id] = tenant.Overview{Status: status, PlanName: i18n.Pick(name, i18n.Locale(ctx))}
	}
	return overviews, rows.Err()
}

// AnyTo tells whether a subscription that is not canceled or incomplete_expired
// is to one of the plans.
func (s *Service) AnyTo(ctx context.Context, plans []uuid.UUID) (bool, error) {
	if len(plans) == 0 {
		return false, nil
	}
	places, args := placesOf(plans)
	var found bool
	err := s.store.db.Conn(ctx).QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM subscriptions
WHERE status NOT IN ('canceled', 'incomplete_expired') AND plan_id IN (`+places+`))`, args...).Scan(&found)
	return found, err
}

// placesOf writes ids as the parameters of a list in a query.
func placesOf(ids []uuid.UUID) (places string, args []any) {
	list := make([]string, len(ids))
	args = make([]any, len(ids))
	for i, id := range ids {
		list[i], args[i] = "$"+strconv.Itoa(i+1)+"::uuid", id
	}
	return strings.Join(list, ", "), args
}
