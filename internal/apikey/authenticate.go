package apikey

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// lookup identifies a key by the hash of its secret, for a request with a tenant in its path
// (uuid.Nil without one). A key of the platform acts for that tenant.
type lookup struct {
	secretHash string
	tenantID   uuid.UUID
}

// foundKey is an unrevoked key with everything that authorizes a request.
type foundKey struct {
	id         uuid.UUID
	name       string
	scopes     string
	isPlatform bool
	expiresAt  *time.Time
	lastUsedAt *time.Time

	tenantID    *uuid.UUID // its own, or the one of the lookup for a key of the platform
	tenantName  *string
	isOnboarded bool
}

// Authenticate returns the caller of a request with a key. tenantID is the tenant in the path
// of the request, uuid.Nil if there is none. A revoked key fails from the next request on. Keys
// that are unknown, have expired, or whose tenant is deleted get the same error.
func (s *Service) Authenticate(ctx context.Context, secret string, tenantID uuid.UUID) (*authz.Caller, error) {
	if !wellFormed(secret) {
		return nil, errUnauthenticated
	}
	k, found, err := s.keys.Get(ctx, lookup{hash(secret), tenantID})
	if err != nil {
		return nil, err
	}
	now := s.deps.Clock.Now()
	if !found || k.expiresAt != nil && !k.expiresAt.After(now) {
		return nil, errUnauthenticated
	}
	s.uses.Add(k.id, k.lastUsedAt, now)
	caller := &authz.Caller{
		Name: k.name, Key: &authz.Key{ID: k.id, Scopes: strings.Split(k.scopes, ","), Platform: k.isPlatform},
	}
	if k.tenantID != nil {
		caller.Tenant = &authz.Membership{TenantID: *k.tenantID, TenantName: *k.tenantName, OnboardingComplete: k.isOnboarded}
	}
	return caller, nil
}

// Run stores when keys were last used, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.uses.Run(ctx) }
