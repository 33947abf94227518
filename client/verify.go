package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// ErrInvalidToken means that a token is not valid: it is malformed, expired, or was not signed by
// the service for this audience. The backend should respond with 401.
var ErrInvalidToken = errors.New("tenantry: the token is invalid")

// skew is the accepted difference between the clocks of the service and of this machine.
const skew = time.Minute

// Claims describe the caller of a request to your backend. They come from a token of
// POST /api/v1/auth/token.
type Claims struct {
	Subject     string             `json:"sub"` // ID of the user
	TenantID    string             `json:"tid"` // "" without a tenant
	TenantName  string             `json:"tenant_name"`
	Role        string             `json:"role"`
	Permissions []string           `json:"permissions"`
	Plan        string             `json:"plan"`     // slug; "" without a plan
	Features    map[string]Feature `json:"features"` // by code
	Methods     []string           `json:"amr"`      // of the login, such as pwd
	SessionID   string             `json:"sid"`
	Actor       *Actor             `json:"act"` // nil unless an admin impersonates the user
	IssuedAt    time.Time          `json:"-"`
	ExpiresAt   time.Time          `json:"-"`
}

// Can reports whether the user has a permission in the tenant.
func (c *Claims) Can(permission string) bool { return slices.Contains(c.Permissions, permission) }

// Feature is a feature that the tenant has.
type Feature struct {
	Limit *int64 // nil if it is unlimited
}

// UnmarshalJSON reads true or a limit.
func (f *Feature) UnmarshalJSON(text []byte) error {
	if string(text) == "true" {
		*f = Feature{}
		return nil
	}
	f.Limit = new(int64)
	return json.Unmarshal(text, f.Limit)
}

// Actor is the platform admin who impersonates the user.
type Actor struct {
	Subject string `json:"sub"` // ID of the admin
}

// WithIssuer sets the issuer of tokens for [Client.VerifyToken]: the public URL of the service. The
// default is the base URL of the client.
func WithIssuer(issuer string) Option {
	return func(c *Client) error {
		c.issuer = strings.TrimRight(issuer, "/")
		return nil
	}
}

// WithAudience sets the audience of tokens for [Client.VerifyToken]: the service's setting
// TENANTRY_TOKEN_AUDIENCE. The default is the issuer.
func WithAudience(audience string) Option {
	return func(c *Client) error {
		c.audience = audience
		return nil
	}
}

// VerifyToken verifies a token that a user's frontend got from POST /api/v1/auth/token, and returns
// its claims. It returns [ErrInvalidToken] if the token is invalid. Any other error means that the
// key set could not be loaded.
//
// The key set is cached, and most calls make no request to the service. A token therefore stays
// valid for up to 5 minutes after its login or a permission was revoked. The clocks can differ by
// 60 seconds.
func (c *Client) VerifyToken(ctx context.Context, token string) (*Claims, error) {
	signed, signature, ok := cutLast(token, ".")
	header, payload, ok2 := strings.Cut(signed, ".")
	if !ok || !ok2 {
		return nil, invalid("it is malformed")
	}
	var head struct {
		Algorithm string          `json:"alg"`
		KeyID     string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	if err := decodePart(header, &head); err != nil {
		return nil, err
	}
	if head.Algorithm != "ES256" || head.Critical != nil {
		return nil, invalid("it must be signed with ES256, without extensions")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || len(raw) != 64 {
		return nil, invalid("the signature is malformed")
	}
	key, err := c.keys.find(ctx, c, head.KeyID)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(signed))
	if !ecdsa.Verify(key, hash[:], new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])) {
		return nil, invalid("the signature is wrong")
	}
	return c.checkClaims(payload, time.Now())
}

// checkClaims reads the claims of a token with a valid signature.
func (c *Client) checkClaims(payload string, now time.Time) (*Claims, error) {
	var claims struct {
		Claims

		Issuer    string   `json:"iss"`
		Audience  audience `json:"aud"`
		ExpiresAt int64    `json:"exp"`
		IssuedAt  int64    `json:"iat"`
	}
	if err := decodePart(payload, &claims); err != nil {
		return nil, err
	}
	verified := &claims.Claims
	verified.IssuedAt, verified.ExpiresAt = time.Unix(claims.IssuedAt, 0).UTC(), time.Unix(claims.ExpiresAt, 0).UTC()
	switch {
	case claims.Issuer != c.issuer:
		return nil, invalid(fmt.Sprintf("the issuer is %q, want %q", claims.Issuer, c.issuer))
	case !slices.Contains(claims.Audience, c.audience):
		return nil, invalid(fmt.Sprintf("the audience is %q, want %q", claims.Audience, c.audience))
	case claims.Subject == "":
		return nil, invalid("the subject is missing")
	case !now.Before(verified.ExpiresAt.Add(skew)):
		return nil, invalid("it has expired")
	case verified.IssuedAt.After(now.Add(skew)):
		return nil, invalid("it is not valid yet")
	}
	return verified, nil
}

// audience is the claim aud: a JSON string or an array of strings.
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if err := json.Unmarshal(text, &one); err == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// decodePart reads a part of a token.
func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return invalid("it is malformed")
	}
	if err := json.Unmarshal(text, into); err != nil {
		return invalid("it is malformed")
	}
	return nil
}

func invalid(reason string) error { return fmt.Errorf("%w: %s", ErrInvalidToken, reason) }

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// parseKey returns a public key for ES256, or nil for another key.
func parseKey(k publicKey) *ecdsa.PublicKey {
	x, errX := base64.RawURLEncoding.DecodeString(k.X)
	y, errY := base64.RawURLEncoding.DecodeString(k.Y)
	if k.Type != "EC" || k.Curve != "P-256" || errX != nil || errY != nil {
		return nil
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return nil
	}
	return key
}
