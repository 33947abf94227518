// Package token issues the tokens with which the backend of a product verifies its callers (rules:
// account#tokens-for-backends). A token is a JWT that describes the caller. It is not a credential
// of this service.
package token

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
)

// lifetime is the lifetime of a token. A token can remain valid this long after a revocation.
const lifetime = 5 * time.Minute

// Entitlements is the part of the entitlement service that tokens use.
type Entitlements interface {
	// PlanAndFeatures returns the slug of the plan that applies to a tenant, or nil, and the limits of
	// its features by code. A nil limit is unlimited.
	PlanAndFeatures(ctx context.Context, tenantID uuid.UUID) (plan *string, limits map[string]*int64, err error)
}

// Deps holds the dependencies of the Service.
type Deps struct {
	Clock        clock.Clock
	Machine      clock.Clock // the machine's clock, for the times in tokens
	Keys         *Keys
	Entitlements Entitlements
	Issuer       string // the public URL
	Audience     string
}

// Service issues tokens.
type Service struct{ deps Deps }

// NewService returns a new Service.
func NewService(d Deps) *Service { return &Service{deps: d} }

// claims are the claims of a token. Null and empty values are present.
type claims struct {
	Issuer      string         `json:"iss"`
	Audience    string         `json:"aud"`
	Subject     string         `json:"sub"`
	TenantID    *uuid.UUID     `json:"tid"`
	TenantName  *string        `json:"tenant_name"`
	Role        *string        `json:"role"`
	Permissions []string       `json:"permissions"`
	Plan        *string        `json:"plan"`
	Features    map[string]any `json:"features"` // true, or the limit of the feature
	Methods     []string       `json:"amr"`
	SessionID   uuid.UUID      `json:"sid"`
	IssuedAt    int64          `json:"iat"`
	ExpiresAt   int64          `json:"exp"`
	Actor       *actor         `json:"act,omitempty"`
}

// actor is the platform admin who impersonates the subject.
type actor struct {
	Subject string `json:"sub"`
}

// Issue returns a token that describes the caller, and its expiry.
func (s *Service) Issue(ctx context.Context, caller *authz.Caller) (token string, expires time.Time, err error) {
	c, err := s.claims(ctx, caller)
	if err != nil {
		return "", time.Time{}, err
	}
	private, err := s.deps.Keys.signer(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign token: %w", err)
	}
	token, err = jwt.Signed(signer).Claims(c).Serialize()
	return token, time.Unix(c.ExpiresAt, 0).UTC(), err
}

func (s *Service) claims(ctx context.Context, caller *authz.Caller) (claims, error) {
	issued := s.deps.Machine.Now().Unix()
	c := claims{
		Issuer: s.deps.Issuer, Audience: s.deps.Audience, Subject: strconv.FormatInt(caller.UserID, 10),
		Permissions: []string{}, Features: map[string]any{}, Methods: methods(caller), SessionID: caller.Family,
		IssuedAt: issued, ExpiresAt: issued + int64(s.lifetime(caller)/time.Second),
	}
	if caller.Impersonator != nil {
		c.Actor = &actor{Subject: strconv.FormatInt(caller.Impersonator.UserID, 10)}
	}
	if caller.Tenant == nil {
		return c, nil
	}
	c.TenantID, c.TenantName, c.Role = &caller.Tenant.TenantID, &caller.Tenant.TenantName, &caller.Tenant.Role
	c.Permissions = append(c.Permissions, caller.Tenant.Permissions...)
	plan, limits, err := s.deps.Entitlements.PlanAndFeatures(ctx, caller.Tenant.TenantID)
	c.Plan = plan
	for code, limit := range limits {
		if c.Features[code] = true; limit != nil {
			c.Features[code] = *limit
		}
	}
	return c, err
}

// methods returns the methods of the caller's login. It adds mfa if the login passed two factors,
// or a single factor that counts as two. Enrolling a factor does not count.
func methods(caller *authz.Caller) []string {
	list := append([]string{}, caller.Methods...)
	countsAsTwo := slices.Contains(list, authz.Passkey) || slices.Contains(list, authz.SSO)
	if caller.FactorPassed && (len(list) > 1 || countsAsTwo) {
		list = append(list, "mfa")
	}
	return list
}

// lifetime returns the lifetime of a token for the caller. A token of an impersonation ends with
// the impersonation.
//
// Verifiers compare the times in a token with their own clocks, so the times are from the machine's
// clock. The end of an impersonation is a time of the service's clock, which the sandbox can move.
func (s *Service) lifetime(caller *authz.Caller) time.Duration {
	if caller.Impersonator == nil {
		return lifetime
	}
	return min(lifetime, max(0, caller.Impersonator.EndsAt.Sub(s.deps.Clock.Now())))
}
