package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// AdminWebhookDelivery is a delivery in the list across tenants.
type AdminWebhookDelivery struct {
	WebhookDelivery
	Endpoint NamedEndpoint      `json:"endpoint" doc:"Endpoint of the delivery."`
	Tenant   *sheet.NamedTenant `json:"tenant" doc:"Tenant of the endpoint. Null for an endpoint of the platform."`
}

// NamedEndpoint is the endpoint of a delivery.
type NamedEndpoint struct {
	ID  uuid.UUID `json:"id"`
	URL string    `json:"url"`
}

// ListAcross handles GET /admin/webhook-deliveries.
func (h *HTTP) ListAcross(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[AdminWebhookDelivery]], error) {
	q, err := h.AcrossList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	list := sheet.List[AdminWebhookDelivery]{Name: "webhook-deliveries", Read: h.readAcross}
	return sheet.Page(ctx, list, q, h.across)
}

func (h *HTTP) readAcross(ctx context.Context, q page.Query) ([]AdminWebhookDelivery, int64, error) {
	entries, total, err := h.svc.store.pageAcross(ctx, q)
	views := make([]AdminWebhookDelivery, len(entries))
	for i, e := range entries {
		views[i] = AdminWebhookDelivery{viewDelivery(e.Delivery), e.endpoint, e.tenant}
	}
	return views, total, err
}
