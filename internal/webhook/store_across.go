package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// acrossEntry is a delivery with its endpoint and tenant. The tenant is nil for an endpoint of the
// platform.
type acrossEntry struct {
	Delivery
	endpoint NamedEndpoint
	tenant   *sheet.NamedTenant
}

// pageAcross returns a page of the deliveries to all endpoints and their total number.
func (s store) pageAcross(ctx context.Context, q page.Query) ([]acrossEntry, int64, error) {
	sel := page.Select{
		Columns: "d.id, d.event_id, d.type, d.status, d.attempts, d.next_attempt_at, d.created_at, e.id, e.url, t.id, COALESCE(t.name, '')",
		From:    "webhook_deliveries d",
		Join:    "JOIN webhook_endpoints e ON e.id = d.endpoint_id LEFT JOIN tenants t ON t.id = e.tenant_id",
	}
	list, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (e acrossEntry, err error) {
		var attempts, name string
		var tenantID *uuid.UUID
		d := &e.Delivery
		if err := row.Scan(&d.ID, &d.EventID, &d.Type, &d.Status, &attempts, &d.NextAttemptAt, &d.CreatedAt, &e.endpoint.ID, &e.endpoint.URL, &tenantID, &name); err != nil {
			return e, err
		}
		if tenantID != nil {
			e.tenant = &sheet.NamedTenant{ID: *tenantID, Name: name}
		}
		d.Attempts, err = readAttempts(attempts)
		return e, err
	})
	return list, total, sqldb.Wrap(err, "list webhook deliveries across tenants")
}
