package token

import (
	"context"
	"encoding/base64"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP implements the handlers for tokens.
type HTTP struct {
	svc  *Service
	keys *Keys
}

// NewHTTP returns the handlers.
func NewHTTP(svc *Service, keys *Keys) *HTTP { return &HTTP{svc: svc, keys: keys} }

type issueInput struct {
	Body struct {
		TenantID *uuid.UUID `json:"tenant_id,omitempty" nullable:"true" doc:"ID of the caller's tenant. Every other value is invalid. Default: the caller's tenant."`
	}
}

// BackendToken is a token for the backend of a product.
type BackendToken struct {
	Token     string     `json:"token" doc:"Signed JWT."`
	ExpiresAt shape.Time `json:"expires_at" doc:"Time at which the token expires, in UTC. The claim exp."`
}

// Issue handles POST /auth/token.
func (h *HTTP) Issue(ctx context.Context, in *issueInput) (*rest.Data[BackendToken], error) {
	caller := authz.FromContext(ctx)
	if id := in.Body.TenantID; id != nil && (caller.Tenant == nil || *id != caller.Tenant.TenantID) {
		return nil, errTenant
	}
	token, expires, err := h.svc.Issue(ctx, caller)
	if err != nil {
		return nil, err
	}
	return rest.OK(BackendToken{Token: token, ExpiresAt: shape.T(expires)}), nil
}

// cacheControl lets clients cache the key set for five minutes.
const cacheControl = "public, max-age=300"

// KeySet is a set of public keys (RFC 7517).
type KeySet struct {
	Keys []PublicKey `json:"keys" doc:"Public keys, in the order in which they sign."`
}

// PublicKey is a key that verifies tokens.
type PublicKey struct {
	Type      string `json:"kty" doc:"Type of the key: EC."`
	Curve     string `json:"crv" doc:"Curve: P-256."`
	ID        string `json:"kid" doc:"ID of the key, which the header of a token contains."`
	X         string `json:"x" doc:"X coordinate, in base64url."`
	Y         string `json:"y" doc:"Y coordinate, in base64url."`
	Algorithm string `json:"alg" doc:"Algorithm of the signatures: ES256."`
	Use       string `json:"use" doc:"Use of the key: sig, for signatures."`
}

// KeySet handles GET /.well-known/jwks.json.
func (h *HTTP) KeySet(ctx context.Context, _ *struct{}) (*rest.Body[KeySet], error) {
	keys, err := h.keys.load(ctx)
	if err != nil {
		return nil, err
	}
	set := KeySet{Keys: make([]PublicKey, len(keys))}
	for i, k := range keys {
		// The first byte is the form of the point.
		x, y := base64.RawURLEncoding.EncodeToString(k.public[1:33]), base64.RawURLEncoding.EncodeToString(k.public[33:])
		set.Keys[i] = PublicKey{Type: "EC", Curve: "P-256", ID: k.id, X: x, Y: y, Algorithm: "ES256", Use: "sig"}
	}
	rest.RequestOf(ctx).SetHeader("Cache-Control", cacheControl)
	return rest.NewBody(set), nil
}
