package apikey

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// lookup identifies a key by the hash of its secret. tenantID is the tenant in the request path, or
// uuid.Nil on a path without a tenant. A platform key acts for that tenant.
type lookup struct {
	secretHash string
	tenantID   uuid.UUID
}

// foundKey is an unrevoked key with the data that authorizes a request.
type foundKey struct {
	id         uuid.UUID
	name       string
	scopes     string
	isPlatform bool
	expiresAt  *time.Time
	lastUsedAt *time.Time

	tenantID    *uuid.UUID // the key's tenant, or for a platform key the lookup's tenant
	tenantName  *string
	isOnboarded bool
}

// Authenticate returns the caller for a request with an API key. tenantID is the tenant in the
// request path, or uuid.Nil on a path without a tenant. Revoking a key takes effect with the next
// request. Unknown and expired keys and keys of deleted tenants get the same error.
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
		if !k.isPlatform {
			s.deps.Tenants.MarkActive(*k.tenantID)
		}
	}
	return caller, nil
}

// Run stores the last-used times of keys until ctx is done.
func (s *Service) Run(ctx context.Context) error { return s.uses.Run(ctx) }
