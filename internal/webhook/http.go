package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP has the handlers for endpoints.
type HTTP struct {
	svc *Service
	// owner returns the tenant whose endpoints a request addresses, or nil for the platform. base
	// returns the absolute URL of these endpoints.
	owner func(ctx context.Context) *uuid.UUID
	base  func(ctx context.Context) string
	// across is the absolute URL of the list of deliveries to all endpoints.
	across string
}

// NewHTTP returns the handlers for the endpoints of the caller's tenant. publicURL, without a
// trailing slash, is the prefix of pagination links.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{
		svc: svc,
		owner: func(ctx context.Context) *uuid.UUID {
			id := authz.TenantID(ctx)
			return &id
		},
		base: func(ctx context.Context) string {
			return publicURL + "/api/v1/tenant/" + authz.TenantID(ctx).String() + "/webhook-endpoints/"
		},
	}
}

// NewPlatformHTTP returns the handlers for the platform's endpoints.
func NewPlatformHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{
		svc:   svc,
		owner: func(context.Context) *uuid.UUID { return nil },
		base:  func(context.Context) string { return publicURL + "/api/v1/admin/webhook-endpoints/" },

		across: publicURL + "/api/v1/admin/webhook-deliveries",
	}
}

// WebhookEndpoint is the API representation of an endpoint.
type WebhookEndpoint struct {
	ID             uuid.UUID   `json:"id"`
	URL            string      `json:"url" example:"https://example.com/hooks"`
	Events         []string    `json:"events" example:"[\"invoice.paid\",\"subscription.updated\"]" doc:"Event types to send, or * for all types."`
	Description    *string     `json:"description"`
	Enabled        bool        `json:"enabled"`
	DisabledReason *string     `json:"disabled_reason" enum:"gone,failing" doc:"Reason why the endpoint was disabled automatically: it returned 410 (gone), or deliveries failed for five days (failing). Null if it is enabled or was disabled by a user."`
	CreatedAt      shape.Time  `json:"created_at"`
	LastDeliveryAt *shape.Time `json:"last_delivery_at" doc:"Time of the last successful delivery, in UTC. Null before the first."`
}

// NewWebhookEndpoint is an endpoint with its new secret, which is returned only once.
type NewWebhookEndpoint struct {
	WebhookEndpoint
	Secret string `json:"secret" example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" doc:"Secret. Returned only in this response."`
}

func view(e Endpoint) WebhookEndpoint {
	return WebhookEndpoint{
		ID: e.ID, URL: e.URL, Events: e.Types, Description: e.Description, Enabled: e.Enabled, DisabledReason: e.DisabledReason,
		CreatedAt: shape.T(e.CreatedAt), LastDeliveryAt: shape.TP(e.LastDeliveryAt),
	}
}

// Exists returns a not-found error for an unknown endpoint before the body is validated.
func (h *HTTP) Exists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("endpoint"))
	if err != nil {
		return err
	}
	_, err = h.svc.Get(ctx, h.owner(ctx), id)
	return err
}

// List handles GET /webhook-endpoints.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Data[[]WebhookEndpoint], error) {
	return h.list(ctx, h.owner(ctx))
}

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminList handles GET /admin/tenants/{tenant}/webhook-endpoints.
func (h *HTTP) AdminList(ctx context.Context, in *adminTenantInput) (*rest.Data[[]WebhookEndpoint], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.list(ctx, &id)
}

func (h *HTTP) list(ctx context.Context, owner *uuid.UUID) (*rest.Data[[]WebhookEndpoint], error) {
	all, err := h.svc.List(ctx, owner)
	if err != nil {
		return nil, err
	}
	views := make([]WebhookEndpoint, len(all))
	for i, e := range all {
		views[i] = view(e)
	}
	return rest.OK(views), nil
}

type createInput struct {
	Body struct {
		URL         string   `json:"url" format:"uri" maxLength:"2048" example:"https://example.com/hooks" doc:"HTTPS URL with a public address. The sandbox also accepts HTTP and the local machine."`
		Events      []string `json:"events" minItems:"1" example:"[\"invoice.paid\",\"subscription.updated\"]" doc:"Event types to send, or * for all types."`
		Description *string  `json:"description,omitempty" nullable:"true" format:"multiline" maxLength:"255"`
	}
}

func (in *createInput) terms() Terms {
	return Terms{URL: in.Body.URL, Types: in.Body.Events, Description: in.Body.Description}
}

// CheckCreate validates the fields of a request to Create (see rest.Checks).
func (h *HTTP) CheckCreate(_ context.Context, in *createInput) error {
	t := in.terms()
	return h.svc.check(&t)
}

// Create handles POST /webhook-endpoints.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[NewWebhookEndpoint], error) {
	e, secret, err := h.svc.Create(ctx, h.owner(ctx), in.terms())
	if err != nil {
		return nil, err
	}
	return rest.OK(NewWebhookEndpoint{view(e), secret}), nil
}

type endpointInput struct {
	Endpoint string `path:"endpoint"`
}

// Show handles GET /webhook-endpoints/{endpoint}.
func (h *HTTP) Show(ctx context.Context, in *endpointInput) (*rest.Data[WebhookEndpoint], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	e, err := h.svc.Get(ctx, h.owner(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OK(view(e)), nil
}

type updateInput struct {
	Endpoint string `path:"endpoint"`
	Body     struct {
		URL         shape.Opt[string]   `json:"url,omitzero" format:"uri" maxLength:"2048"`
		Events      shape.Opt[[]string] `json:"events,omitzero" minItems:"1"`
		Description shape.Opt[string]   `json:"description,omitzero" nullable:"true" format:"multiline" maxLength:"255"`
		Enabled     shape.Opt[bool]     `json:"enabled,omitzero" doc:"Whether events are sent to the endpoint. Failed deliveries are not sent when the endpoint is enabled; use replay."`
	}
}

// CheckUpdate validates the fields of a request to Update (see rest.Checks).
func (h *HTTP) CheckUpdate(_ context.Context, in *updateInput) error {
	return h.svc.checkChange(Change{URL: in.Body.URL.Or(nil)}, &Terms{Types: in.Body.Events.Value})
}

// Update handles PATCH /webhook-endpoints/{endpoint}.
func (h *HTTP) Update(ctx context.Context, in *updateInput) (*rest.Data[WebhookEndpoint], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	e, err := h.svc.Update(ctx, h.owner(ctx), id, Change{
		URL: in.Body.URL.Or(nil), Types: in.Body.Events.Value, Description: in.Body.Description.Or, Enabled: in.Body.Enabled.Or(nil),
	})
	if err != nil {
		return nil, err
	}
	return rest.OK(view(e)), nil
}

// Rotate handles POST /webhook-endpoints/{endpoint}/rotate-secret.
func (h *HTTP) Rotate(ctx context.Context, in *endpointInput) (*rest.Data[NewWebhookEndpoint], error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	e, secret, err := h.svc.Rotate(ctx, h.owner(ctx), id)
	if err != nil {
		return nil, err
	}
	return rest.OK(NewWebhookEndpoint{view(e), secret}), nil
}

// Delete handles DELETE /webhook-endpoints/{endpoint}.
func (h *HTTP) Delete(ctx context.Context, in *endpointInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Endpoint)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Delete(ctx, h.owner(ctx), id)
}
