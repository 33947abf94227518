package apikey

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// asked is what is looked up: the hash of a secret, and the tenant in the path, for which
// a key of the platform speaks.
type asked struct {
	hash   string
	tenant uuid.UUID // Nil where the path has none
}

// found is a key that is not revoked, with what the guards of a request need to know.
type found struct {
	id         uuid.UUID
	name       string
	scopes     string
	platform   bool
	expiresAt  *time.Time
	lastUsedAt *time.Time

	tenantID   *uuid.UUID // its own, or for a key of the platform the one that was asked for
	tenantName *string
	onboarded  bool
}

// Authenticate looks up who a key speaks for. tenantID is the tenant in the path of the
// request, uuid.Nil where there is none. Requests that come at the same time share one
// query, as they do for tokens, and use it again only for as long as it would find the
// same: a key that ends is dead for the very next request. Keys that are unknown, have ended, or whose tenant is gone get the
// same refusal.
func (s *Service) Authenticate(ctx context.Context, secret string, tenantID uuid.UUID) (*authz.Caller, error) {
	if !wellFormed(secret) {
		return nil, errUnauthenticated
	}
	k, known, err := s.known.Get(ctx, asked{hash(secret), tenantID})
	if err != nil {
		return nil, err
	}
	now := s.deps.Clock.Now()
	if !known || k.expiresAt != nil && !k.expiresAt.After(now) {
		return nil, errUnauthenticated
	}
	s.uses.Add(k.id, k.lastUsedAt, now)
	caller := &authz.Caller{
		Name: k.name, Key: &authz.Key{ID: k.id, Scopes: strings.Split(k.scopes, ","), Platform: k.platform},
	}
	if k.tenantID != nil {
		caller.Tenant = &authz.Membership{TenantID: *k.tenantID, TenantName: *k.tenantName, OnboardingComplete: k.onboarded}
	}
	return caller, nil
}

// Run stores when keys were used until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.uses.Run(ctx) }
