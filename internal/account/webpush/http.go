package webpush

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP implements the handlers for push subscriptions.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// PushSubscription is a browser that receives the caller's messages.
type PushSubscription struct {
	ID        uuid.UUID  `json:"id"`
	Endpoint  string     `json:"endpoint"`
	CreatedAt shape.Time `json:"created_at"`
}

func (b browser) view() PushSubscription {
	return PushSubscription{ID: b.id, Endpoint: b.endpoint, CreatedAt: shape.T(b.createdAt)}
}

// List handles GET /push-subscriptions.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Data[[]PushSubscription], error) {
	browsers, err := h.svc.list(ctx, authz.FromContext(ctx).UserID)
	if err != nil {
		return nil, err
	}
	views := make([]PushSubscription, len(browsers))
	for i, b := range browsers {
		views[i] = b.view()
	}
	return rest.OK(views), nil
}

type subscribeInput struct {
	Body struct {
		Endpoint string `json:"endpoint" format:"uri" maxLength:"2048"`
		Keys     struct {
			P256dh string `json:"p256dh" maxLength:"255" doc:"Public key of the browser: an uncompressed P-256 point in base64url."`
			Auth   string `json:"auth" maxLength:"255" doc:"Authentication secret of the browser: 16 bytes in base64url."`
		} `json:"keys"`
	}
}

func (in *subscribeInput) subscription() push.Subscription {
	return push.Subscription{Endpoint: in.Body.Endpoint, P256dh: in.Body.Keys.P256dh, Auth: in.Body.Keys.Auth}
}

// Subscribe handles POST /push-subscriptions.
func (h *HTTP) Subscribe(ctx context.Context, in *subscribeInput) (*rest.Data[PushSubscription], error) {
	b, err := h.svc.subscribe(ctx, authz.FromContext(ctx).UserID, in.subscription())
	if err != nil {
		return nil, err
	}
	return rest.OK(b.view()), nil
}

// CheckSubscribe validates the subscription before Subscribe runs. See rest.Checks.
func (h *HTTP) CheckSubscribe(_ context.Context, in *subscribeInput) error {
	return validationError(in.subscription().Validate())
}

type unsubscribeInput struct {
	Body struct {
		Endpoint string `json:"endpoint" maxLength:"2048"`
	}
}

// Unsubscribe handles DELETE /push-subscriptions.
func (h *HTTP) Unsubscribe(ctx context.Context, in *unsubscribeInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.unsubscribe(ctx, authz.FromContext(ctx).UserID, in.Body.Endpoint)
}
