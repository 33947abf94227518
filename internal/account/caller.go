package account

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
)

// Authenticate returns the user of an access token, with their tenant, role and permissions.
// Unknown, revoked and expired tokens return the same error.
func (s *Service) Authenticate(ctx context.Context, token string) (*authz.Caller, error) {
	c, err := s.lookUp(ctx, kindAccess, token)
	if err != nil {
		return nil, err
	}
	return callerOf(c, s.deps.Clock.Now())
}

// AuthenticateSession is like Authenticate for a session token. It also extends the session. A
// session expires when it has been idle for too long, or at the end of its family.
func (s *Service) AuthenticateSession(ctx context.Context, token string) (*authz.Caller, error) {
	c, err := s.lookUp(ctx, kindSession, token)
	if err != nil {
		return nil, err
	}
	expires := s.deps.Clock.Now().Add(time.Duration(c.idleSeconds) * time.Second)
	if expires.After(c.familyExpiresAt) {
		expires = c.familyExpiresAt
	}
	// Update the expiry at most once a minute, to avoid a write per request.
	if expires.Sub(c.expiresAt) > time.Minute {
		if err := s.store.setExpiry(ctx, c.id, expires); err != nil {
			return nil, err
		}
		c.expiresAt = expires
	}
	return callerOf(c, s.deps.Clock.Now())
}

func (s *Service) lookUp(ctx context.Context, kind, token string) (credential, error) {
	if len(token) != tokenLength { // never issued, so no query is needed
		return credential{}, errUnauthenticated
	}
	c, found, err := s.credentials.Get(ctx, hashToken(token))
	if err != nil {
		return c, err
	}
	if !found || c.kind != kind || !c.expiresAt.After(s.deps.Clock.Now()) {
		return c, errUnauthenticated
	}
	s.uses.Add(c.id, c.lastUsedAt, s.deps.Clock.Now())
	if c.impersonatorIsAdmin != nil && !*c.impersonatorIsAdmin {
		return c, errUnauthenticated // a former admin cannot impersonate
	}
	if c.tenantID != nil && c.impersonatorID == nil {
		s.deps.Tenants.MarkActive(*c.tenantID)
	}
	return c, nil
}

// impersonator returns the admin who impersonates with the credential at the time now.
func (c credential) impersonator(now time.Time) *authz.Impersonator {
	i := &authz.Impersonator{
		UserID: *c.impersonatorID, Name: *c.impersonatorName, Reason: c.impersonation.reason, ReadOnly: c.impersonation.isReadOnly,
		Ended: c.impersonation.isEnded, EndLogged: c.impersonation.isEnded,
	}
	if end := c.impersonation.expiresAt; end != nil {
		i.EndsAt = *end
		i.Ended = i.Ended || !now.Before(*end)
	}
	return i
}

// callerOf returns the caller for a request with the credential at the time now.
func callerOf(c credential, now time.Time) (*authz.Caller, error) {
	caller := &authz.Caller{
		UserID: c.userID, Name: c.name, Email: c.email, IsPlatformAdmin: c.isPlatformAdmin,
		AvatarHash: c.avatarHash, Locale: c.locale, EmailVerified: c.isVerified, TokenID: c.id, Family: c.family,
		SSORequired: c.ssoRequired,
		HasFactor:   c.hasFactor, FactorPassed: c.factorPassed, Methods: strings.Fields(c.methods),
	}
	if c.impersonatorID != nil {
		// The caller is the target, without permissions of a platform admin.
		caller.Impersonator = c.impersonator(now)
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
			TenantID: *c.tenantID, TenantName: *c.tenantName, Role: *c.roleName, OnboardingComplete: c.isOnboarded,
			FactorMissing: c.factorFrom != nil && !c.factorFrom.After(now) && !c.hasFactor && !caller.CountsAsFactor(),
		}
		if c.permissions != "" {
			caller.Tenant.Permissions = strings.Split(c.permissions, ",")
			slices.Sort(caller.Tenant.Permissions)
		}
	}
	return caller, nil
}
