package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// WebhookDelivery is the API representation of a delivery.
type WebhookDelivery struct {
	ID            uuid.UUID        `json:"id"`
	EventID       uuid.UUID        `json:"event_id" doc:"ID of the event, sent in the webhook-id header. The same for all endpoints and attempts."`
	Type          string           `json:"type" example:"invoice.paid"`
	Status        string           `json:"status" enum:"pending,delivered,failed"`
	Attempts      []WebhookAttempt `json:"attempts"`
	NextAttemptAt *shape.Time      `json:"next_attempt_at"`
	CreatedAt     shape.Time       `json:"created_at"`
}

// WebhookAttempt is one try to deliver.
type WebhookAttempt struct {
	At         shape.Time `json:"at"`
	StatusCode *int       `json:"status_code" doc:"HTTP status of the response. Null without a response."`
	DurationMS int64      `json:"duration_ms"`
	Error      *string    `json:"error" enum:"timeout,address_not_allowed,connection_failed,tls_failed,invalid_answer" doc:"Reason why the endpoint did not respond. Null if it responded. address_not_allowed: the host is unknown or its address is not public."`
}

func viewDelivery(d Delivery) WebhookDelivery {
	v := WebhookDelivery{
		ID: d.ID, EventID: d.EventID, Type: d.Type, Status: d.Status, Attempts: make([]WebhookAttempt, len(d.Attempts)),
		NextAttemptAt: shape.TP(d.NextAttemptAt), CreatedAt: shape.T(d.CreatedAt),
	}
	for i, a := range d.Attempts {
		v.Attempts[i] = viewAttempt(a)
	}
	return v
}

func viewAttempt(a Attempt) WebhookAttempt {
	return WebhookAttempt{At: shape.T(a.At), StatusCode: a.StatusCode, DurationMS: a.DurationMS, Error: a.Error}
}

// Deliveries handles GET /webhook-endpoints/{endpoint}/deliveries.
func (h *HTTP) Deliveries(ctx context.Context, in *endpointInput) (*rest.Body[page.Page[WebhookDelivery]], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	q, err := DeliveryList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	list, total, err := h.svc.Deliveries(ctx, h.owner(ctx), id, q)
	if err != nil {
		return nil, err
	}
	views := make([]WebhookDelivery, len(list))
	for i, d := range list {
		views[i] = viewDelivery(d)
	}
	return rest.NewBody(page.New(q, h.base(ctx)+id.String()+"/deliveries", views, total)), nil
}

// Test handles POST /webhook-endpoints/{endpoint}/test.
func (h *HTTP) Test(ctx context.Context, in *endpointInput) (*rest.Data[WebhookDelivery], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	d, err := h.svc.Test(ctx, h.owner(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OK(viewDelivery(d)), nil
}

type deliveryInput struct {
	Endpoint string `path:"endpoint"`
	Delivery string `path:"delivery"`
}

// Resend handles POST /webhook-endpoints/{endpoint}/deliveries/{delivery}/resend.
func (h *HTTP) Resend(ctx context.Context, in *deliveryInput) (*rest.Data[WebhookDelivery], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	deliveryID, err := shape.ParseID(in.Delivery)
	if err != nil {
		return nil, err
	}
	d, err := h.svc.Resend(ctx, h.owner(ctx), id, deliveryID)
	if err != nil {
		return nil, err
	}
	return rest.OK(viewDelivery(d)), nil
}

type replayInput struct {
	Endpoint string `path:"endpoint"`
	Body     struct {
		Since shape.Time `json:"since" doc:"Earliest creation time of the deliveries to send again. At most 30 days ago."`
	}
}

// WebhookReplay holds the number of deliveries that are sent again.
type WebhookReplay struct {
	Deliveries int64 `json:"deliveries"`
}

// Replay handles POST /webhook-endpoints/{endpoint}/replay.
func (h *HTTP) Replay(ctx context.Context, in *replayInput) (*rest.Data[WebhookReplay], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	n, err := h.svc.Replay(ctx, h.owner(ctx), id, in.Body.Since.Std())
	if err != nil {
		return nil, err
	}
	return rest.OK(WebhookReplay{n}), nil
}
