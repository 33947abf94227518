package entitlement

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

// overview reads the status and the plan name, in the locale of ctx, of the tenants' subscriptions
// that are not over.
func (s store) overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	found := make(map[uuid.UUID]tenant.Overview, len(tenantIDs))
	places, args := placesOf(tenantIDs)
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT s.tenant_id, s.status, p.name
FROM subscriptions s JOIN plans p ON p.id = s.plan_id
WHERE s.status NOT IN ('canceled', 'incomplete_expired') AND s.tenant_id IN (`+places+`)`, args...)
	if err != nil {
		return nil, sqldb.Wrap(err, "list subscriptions of tenants")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var (
			id     uuid.UUID
			status string
			text   sqldb.JSON
			name   map[string]string
		)
		if err := rows.Scan(&id, &status, &text); err != nil {
			return nil, sqldb.Wrap(err, "scan subscription of tenant")
		}
		if err := json.Unmarshal(text, &name); err != nil {
			return nil, sqldb.Wrap(err, "read name of plan")
		}
		found[id] = tenant.Overview{Status: status, PlanName: i18n.Pick(name, i18n.Locale(ctx))}
	}
	return found, sqldb.Wrap(rows.Err(), "list subscriptions of tenants")
}

// hasSubscribers reports whether any of the plans has a subscription that is not over.
func (s store) hasSubscribers(ctx context.Context, plans []uuid.UUID) (bool, error) {
	places, args := placesOf(plans)
	var found bool
	err := s.db.Conn(ctx).QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM subscriptions
WHERE status NOT IN ('canceled', 'incomplete_expired') AND plan_id IN (`+places+`))`, args...).Scan(&found)
	return found, sqldb.Wrap(err, "look for subscriptions to plans")
}

// placesOf returns the placeholders and arguments of an IN list of IDs.
func placesOf(ids []uuid.UUID) (places string, args []any) {
	list := make([]string, len(ids))
	args = make([]any, len(ids))
	for i, id := range ids {
		list[i], args[i] = "$"+strconv.Itoa(i+1)+"::uuid", id
	}
	return strings.Join(list, ", "), args
}
