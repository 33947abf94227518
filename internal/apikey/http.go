package apikey

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP implements the handlers for API keys.
type HTTP struct {
	svc *Service
	// owner returns the tenant that owns the keys, or nil for platform keys.
	owner func(ctx context.Context) *uuid.UUID
	// address returns the absolute URL of the list.
	address func(ctx context.Context) string
}

// NewHTTP returns the handlers for the keys of the caller's tenant. publicURL, without a trailing
// slash, is the prefix of the pagination links.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{
		svc: svc,
		owner: func(ctx context.Context) *uuid.UUID {
			id := authz.TenantID(ctx)
			return &id
		},
		address: func(ctx context.Context) string {
			return publicURL + "/api/v1/tenant/" + authz.TenantID(ctx).String() + "/api-keys"
		},
	}
}

// NewPlatformHTTP returns the handlers for platform keys.
func NewPlatformHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{
		svc: svc, owner: func(context.Context) *uuid.UUID { return nil },
		address: func(context.Context) string { return publicURL + "/api/v1/admin/api-keys" },
	}
}

// APIKeyMaker identifies the creator of a key.
type APIKeyMaker struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// APIKey is an API key without its secret.
type APIKey struct {
	ID         uuid.UUID    `json:"id"`
	Name       string       `json:"name" example:"Metering"`
	Prefix     string       `json:"prefix" example:"tnk_4fK9sQ2x" doc:"First 12 characters of the secret."`
	Scopes     []string     `json:"scopes" example:"[\"usage.read\",\"usage.write\"]" doc:"Scopes of the key, sorted."`
	CreatedBy  *APIKeyMaker `json:"created_by" doc:"User who created the key. Null if the key was created with the command line or the user was deleted."`
	CreatedAt  shape.Time   `json:"created_at"`
	LastUsedAt *shape.Time  `json:"last_used_at" doc:"Time of last use, in UTC, to the minute. Null if never used."`
	ExpiresAt  *shape.Time  `json:"expires_at"`
	RevokedAt  *shape.Time  `json:"revoked_at"`
}

// NewAPIKey is the response to creating a key. No other response contains the secret.
type NewAPIKey struct {
	APIKey
	Secret string `json:"secret" example:"tnk_4fK9sQ2xV7mB1nC8zL5pR3tY6wA0dG2hJ4kE9uXoSf1aWq" doc:"Secret. Returned only in this response."`
}

func view(k Key) APIKey {
	v := APIKey{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: k.Scopes, CreatedAt: shape.T(k.CreatedAt),
		LastUsedAt: shape.TP(k.LastUsedAt), ExpiresAt: shape.TP(k.ExpiresAt), RevokedAt: shape.TP(k.RevokedAt),
	}
	if k.CreatedBy != nil {
		v.CreatedBy = &APIKeyMaker{ID: k.CreatedBy.ID, Name: k.CreatedBy.Name}
	}
	return v
}

// Exists returns an error if the key in the path does not exist. It runs before the body is
// checked.
func (h *HTTP) Exists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("key"))
	if err != nil {
		return err
	}
	_, err = h.svc.Get(ctx, h.owner(ctx), id)
	return err
}

// List handles GET /api-keys.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Body[page.Page[APIKey]], error) {
	return h.list(ctx, h.owner(ctx), h.address(ctx))
}

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminList handles GET /admin/tenants/{tenant}/api-keys.
func (h *HTTP) AdminList(ctx context.Context, in *adminTenantInput) (*rest.Body[page.Page[APIKey]], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.list(ctx, &id, strings.TrimSuffix(h.address(ctx), "api-keys")+"tenants/"+id.String()+"/api-keys")
}

func (h *HTTP) list(ctx context.Context, owner *uuid.UUID, address string) (*rest.Body[page.Page[APIKey]], error) {
	q, err := KeyList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	all, total, err := h.svc.List(ctx, owner, q)
	if err != nil {
		return nil, err
	}
	views := make([]APIKey, len(all))
	for i, k := range all {
		views[i] = view(k)
	}
	return rest.NewBody(page.New(q, address, views, total)), nil
}

type createInput struct {
	Body struct {
		Name          string   `json:"name" format:"name" maxLength:"255" example:"Metering"`
		Scopes        []string `json:"scopes" minItems:"1" example:"[\"usage.read\",\"usage.write\"]" doc:"Scopes of the key. Each operation states the scope that it requires (x-api-key-scope)."`
		ExpiresInDays *int64   `json:"expires_in_days,omitempty" nullable:"true" minimum:"1" maximum:"3650" example:"365" doc:"Number of days until the key expires. Null or absent if it does not expire."`
	}
}

// Create handles POST /api-keys.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[NewAPIKey], error) {
	key, secret, err := h.svc.Create(ctx, h.owner(ctx), Terms{Name: in.Body.Name, Scopes: in.Body.Scopes, Days: in.Body.ExpiresInDays})
	if err != nil {
		return nil, err
	}
	return rest.OK(NewAPIKey{APIKey: view(key), Secret: secret}), nil
}

// CheckCreate validates the scopes before Create runs. See rest.Checks.
func (h *HTTP) CheckCreate(ctx context.Context, in *createInput) error {
	return checkScopes(h.owner(ctx), in.Body.Scopes)
}

type renameInput struct {
	Key  string `path:"key"`
	Body struct {
		Name *string `json:"name,omitempty" format:"name" minLength:"1" maxLength:"255" example:"Metering"`
	}
}

// Rename handles PATCH /api-keys/{key}.
func (h *HTTP) Rename(ctx context.Context, in *renameInput) (*rest.Data[APIKey], error) {
	id, err := shape.ParseID(in.Key)
	if err != nil {
		return nil, err
	}
	var key Key
	if in.Body.Name == nil {
		key, err = h.svc.Get(ctx, h.owner(ctx), id)
	} else {
		key, err = h.svc.Rename(ctx, h.owner(ctx), id, *in.Body.Name)
	}
	if err != nil {
		return nil, err
	}
	return rest.OK(view(key)), nil
}

type rotateInput struct {
	Key  string `path:"key"`
	Body struct {
		OverlapMinutes int64 `json:"overlap_minutes,omitempty" minimum:"0" maximum:"10080" default:"0" example:"60" doc:"Number of minutes for which the old key remains valid."`
	}
}

// Rotate handles POST /api-keys/{key}/rotate.
func (h *HTTP) Rotate(ctx context.Context, in *rotateInput) (*rest.Data[NewAPIKey], error) {
	id, err := shape.ParseID(in.Key)
	if err != nil {
		return nil, err
	}
	key, secret, err := h.svc.Rotate(ctx, h.owner(ctx), id, time.Duration(in.Body.OverlapMinutes)*time.Minute)
	if err != nil {
		return nil, err
	}
	return rest.OK(NewAPIKey{APIKey: view(key), Secret: secret}), nil
}

type revokeInput struct {
	Key string `path:"key"`
}

// Revoke handles DELETE /api-keys/{key}.
func (h *HTTP) Revoke(ctx context.Context, in *revokeInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Key)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Revoke(ctx, h.owner(ctx), id)
}
