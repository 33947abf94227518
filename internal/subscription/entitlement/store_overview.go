package entitlement

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// overview reads the status and the plan's name of the tenants' subscriptions that have not ended,
// and the name of the default plan for the other tenants.
func (s store) overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	found := make(map[uuid.UUID]tenant.Overview, len(tenantIDs))
	var standard tenant.Overview
	among, args := sqldb.InCondition(s.db, 1, "uuid", tenantIDs)
	err := s.db.QueryAll(ctx, sqldb.Query{
		Doing: "list subscriptions of tenants",
		Text: `SELECT s.tenant_id, s.status, p.name
FROM subscriptions s JOIN plans p ON p.id = s.plan_id
WHERE s.status NOT IN ('canceled', 'incomplete_expired') AND s.tenant_id ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			o, err := scanOverview(scan, &id)
			found[id] = o
			return err
		},
	}, sqldb.Query{
		Doing: "read the name of the default plan",
		Text:  `SELECT id, '', name FROM plans WHERE is_default AND deleted_at IS NULL`,
		Row: func(scan func(...any) error) (err error) {
			standard, err = scanOverview(scan, new(uuid.UUID))
			return err
		},
	})
	if err != nil || standard.PlanName == nil {
		return found, err
	}
	for _, id := range tenantIDs {
		if _, subscribed := found[id]; !subscribed {
			found[id] = standard
		}
	}
	return found, nil
}

func scanOverview(scan func(...any) error, id *uuid.UUID) (tenant.Overview, error) {
	var o tenant.Overview
	var name sqldb.JSON
	if err := scan(id, &o.Status, &name); err != nil {
		return o, err
	}
	return o, json.Unmarshal(name, &o.PlanName)
}

// hasSubscribers reports whether any of the plans has a subscription that is not over.
func (s store) hasSubscribers(ctx context.Context, plans []uuid.UUID) (bool, error) {
	places, args := placesOf(plans)
	var found bool
	err := s.db.Conn(ctx).QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM subscriptions
WHERE status NOT IN ('canceled', 'incomplete_expired') AND plan_id IN (`+places+`))`, args...).Scan(&found)
	return found, sqldb.Wrap(err, "find subscriptions to plans")
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
