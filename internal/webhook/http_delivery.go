package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// WebhookDeliveryDetails is a delivery with the messages that were exchanged.
type WebhookDeliveryDetails struct {
	ID            uuid.UUID                `json:"id"`
	EventID       uuid.UUID                `json:"event_id" doc:"ID of the event, sent in the webhook-id header. The same for all endpoints and attempts."`
	Type          string                   `json:"type" example:"invoice.paid"`
	Status        string                   `json:"status" enum:"pending,delivered,failed"`
	Request       *WebhookRequest          `json:"request" doc:"Request of the last attempt. Null without an attempt."`
	Attempts      []WebhookAttemptResponse `json:"attempts"`
	NextAttemptAt *shape.Time              `json:"next_attempt_at"`
	CreatedAt     shape.Time               `json:"created_at"`
}

// PlatformWebhookDelivery is a delivery with its endpoint and tenant, and with the messages that
// were exchanged.
type PlatformWebhookDelivery struct {
	WebhookDeliveryDetails
	Endpoint NamedEndpoint      `json:"endpoint"`
	Tenant   *sheet.NamedTenant `json:"tenant" doc:"Tenant of the endpoint. Null for an endpoint of the platform."`
}

// WebhookRequest is the request of an attempt.
type WebhookRequest struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers" doc:"Headers by name, in lower case."`
	Body    string            `json:"body" doc:"Body, exactly as it was sent."`
}

// WebhookResponse is the stored part of a response.
type WebhookResponse struct {
	Headers   map[string]string `json:"headers" doc:"Headers by name, in lower case, up to 8 KiB. Set-Cookie and Authorization are left out."`
	Body      string            `json:"body" doc:"The first 16 KiB of the body. Bytes that are not UTF-8 are replaced."`
	Truncated bool              `json:"truncated" doc:"Whether a part of the body or of the headers is missing."`
}

// WebhookAttemptResponse is one try to deliver, with the response.
type WebhookAttemptResponse struct {
	WebhookAttempt
	Response *WebhookResponse `json:"response" doc:"Response of the endpoint. Null without a response, before the last ten attempts, and if the service does not store responses."`
}

func viewDetails(d Delivery, m messages) WebhookDeliveryDetails {
	v := WebhookDeliveryDetails{
		ID: d.ID, EventID: d.EventID, Type: d.Type, Status: d.Status, Attempts: make([]WebhookAttemptResponse, len(d.Attempts)),
		NextAttemptAt: shape.TP(d.NextAttemptAt), CreatedAt: shape.T(d.CreatedAt),
	}
	for i, a := range d.Attempts {
		v.Attempts[i] = WebhookAttemptResponse{WebhookAttempt: viewAttempt(a)}
		if r := m.responses[a.Number]; r != nil {
			v.Attempts[i].Response = &WebhookResponse{Headers: r.headers, Body: r.text(), Truncated: r.isTruncated}
		}
	}
	if m.sent != nil {
		v.Request = &WebhookRequest{URL: m.sent.url, Headers: m.sent.requestHeaders, Body: m.body}
	}
	return v
}

func viewPlatform(d deliveryOfAny, m messages) PlatformWebhookDelivery {
	v := PlatformWebhookDelivery{
		WebhookDeliveryDetails: viewDetails(d.Delivery, m), Endpoint: NamedEndpoint{ID: d.EndpointID, URL: d.URL},
	}
	if d.TenantID != nil && d.TenantName != nil {
		v.Tenant = &sheet.NamedTenant{ID: *d.TenantID, Name: *d.TenantName}
	}
	return v
}

// Delivery handles GET /webhook-endpoints/{endpoint}/deliveries/{delivery}.
func (h *HTTP) Delivery(ctx context.Context, in *deliveryInput) (*rest.Data[WebhookDeliveryDetails], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	deliveryID, err := shape.ParseID(in.Delivery)
	if err != nil {
		return nil, err
	}
	d, m, err := h.svc.delivery(ctx, h.owner(ctx), id, deliveryID)
	if err != nil {
		return nil, err
	}
	return rest.OK(viewDetails(d, m)), nil
}

type anyDeliveryInput struct {
	Delivery string `path:"delivery"`
}

// DeliveryOfAny handles GET /admin/webhook-deliveries/{delivery}.
func (h *HTTP) DeliveryOfAny(ctx context.Context, in *anyDeliveryInput) (*rest.Data[PlatformWebhookDelivery], error) {
	id, err := shape.ParseID(in.Delivery)
	if err != nil {
		return nil, err
	}
	d, m, err := h.svc.deliveryOfAny(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(viewPlatform(d, m)), nil
}

// ResendAny handles POST /admin/webhook-deliveries/{delivery}/resend.
func (h *HTTP) ResendAny(ctx context.Context, in *anyDeliveryInput) (*rest.Data[WebhookDelivery], error) {
	id, err := shape.ParseID(in.Delivery)
	if err != nil {
		return nil, err
	}
	d, err := h.svc.resendAny(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(viewDelivery(d)), nil
}
