package account

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
)

// Authenticate looks up who an access token belongs to, with their tenant, role and
// permissions. Requests that come at the same time share one query, which begins
// after all of them have come; what it found is used for later ones for as long as it
// would find the same (see gather.Kept). Unknown, revoked and expired tokens get the same
// refusal.
func (s *Service) Authenticate(ctx context.Context, token string) (*authz.Caller, error) {
	c, err := s.lookUp(ctx, kindAccess, token)
	if err != nil {
		return nil, err
	}
	return c.caller()
}

// AuthenticateSession does the same for a session, and extends it: a session ends
// when it was not used for some time, at the latest with its family.
func (s *Service) AuthenticateSession(ctx context.Context, token string) (*authz.Caller, error) {
	c, err := s.lookUp(ctx, kindSession, token)
	if err != nil {
		return nil, err
	}
	expires := s.deps.Clock.Now().Add(time.Duration(c.idleSeconds) * time.Second)
	if expires.After(c.familyExpiresAt) {
		expires = c.familyExpiresAt
	}
	// A minute more or less is not worth a write at each request.
	if expires.Sub(c.expiresAt) > time.Minute {
		if err := s.store.setExpiry(ctx, c.id, expires); err != nil {
			return nil, err
		}
	}
	return c.caller()
}

func (s *Service) lookUp(ctx context.Context, kind, token string) (credential, error) {
	c, found, err := s.callers.Get(ctx, hashToken(token))
	switch {
	case err != nil:
		return c, err
	case !found || c.kind != kind || !c.expiresAt.After(s.deps.Clock.Now()):
		return c, errUnauthenticated
	}
	s.uses.Add(c.id, c.lastUsedAt, s.deps.Clock.Now())
	if c.impersonatorIsAdmin != nil && !*c.impersonatorIsAdmin {
		return c, errUnauthenticated // who is no admin any more impersonates nobody
	}
	return c, nil
}

// caller returns the caller of a request with the credential, a new one each time.
func (c *credential) caller() (*authz.Caller, error) {
	caller := &authz.Caller{
		UserID: c.userID, Name: c.name, Email: c.email, IsPlatformAdmin: c.isPlatformAdmin,
		AvatarHash: c.avatarHash, Locale: c.locale, EmailVerified: c.verified, TokenID: c.id, Family: c.family,
	}
	if c.impersonatorID != nil {
		// The caller is the target, without any rights of a platform admin.
		caller.Impersonator = &authz.Impersonator{UserID: *c.impersonatorID, Name: *c.impersonatorName}
		caller.IsPlatformAdmin = false
	}
	if caller.IsPlatformAdmin {
		caller.PlatformPermissions = authz.PlatformPermissions()
		if c.platformPermissions != nil {
			caller.PlatformPermissions = nil
			if err := json.Unmarshal(c.platformPermissions, &caller.PlatformPermissions); err != nil {
				return nil, err
			}
		}
	}
	if c.tenantID != nil {
		caller.Tenant = &authz.Membership{
			TenantID: *c.tenantID, TenantName: *c.tenantName, Role: *c.roleName, OnboardingComplete: c.onboarded,
		}
		if c.permissions != "" {
			caller.Tenant.Permissions = strings.Split(c.permissions, ",")
			slices.Sort(caller.Tenant.Permissions)
		}
	}
	return caller, nil
}
