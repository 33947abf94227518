package account

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Authenticate looks up who an access token belongs to, with their tenant, role
// and permissions, in one query. Unknown, revoked and expired tokens are one
// refusal.
func (s *Service) Authenticate(ctx context.Context, token string) (*authz.Caller, error) {
	row, err := s.lookUp(ctx, kindAccess, token)
	if err != nil {
		return nil, err
	}
	return callerOf(row)
}

// AuthenticateSession does the same for a session, and moves its end: a session
// lives for so long without use, but no longer than its family.
func (s *Service) AuthenticateSession(ctx context.Context, token string) (*authz.Caller, error) {
	row, err := s.lookUp(ctx, kindSession, token)
	if err != nil {
		return nil, err
	}
	expires := s.deps.Clock.Now().Add(time.Duration(row.IdleSeconds) * time.Second)
	if expires.After(row.FamilyExpiresAt) {
		expires = row.FamilyExpiresAt
	}
	// Not at each request: a minute more or less is not worth a write.
	if expires.Sub(row.ExpiresAt) > time.Minute {
		if err := s.store.moveExpiry(ctx, row.TokenID, expires); err != nil {
			return nil, err
		}
	}
	return callerOf(row)
}

func (s *Service) lookUp(ctx context.Context, kind, token string) (accountsql.CallerByCredentialRow, error) {
	row, err := s.store.q(ctx).CallerByCredential(ctx, accountsql.CallerByCredentialParams{TokenHash: hashToken(token), Kind: kind})
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && !row.ExpiresAt.After(s.deps.Clock.Now()) {
		return row, errUnauthenticated
	}
	if err == nil && row.ImpersonatorIsAdmin != nil && !*row.ImpersonatorIsAdmin {
		return row, errUnauthenticated // revoking the admin revokes the credential as well
	}
	return row, err
}

func callerOf(row accountsql.CallerByCredentialRow) (*authz.Caller, error) {
	caller := &authz.Caller{
		UserID: row.UserID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin,
		AvatarHash: row.AvatarHash, TokenID: row.TokenID, Family: row.Family,
	}
	if row.ImpersonatorID != nil {
		// The caller is the target, and never more than a member of a tenant.
		caller.Impersonator = &authz.Impersonator{UserID: *row.ImpersonatorID, Name: *row.ImpersonatorName}
		caller.IsPlatformAdmin = false
	}
	if caller.IsPlatformAdmin {
		caller.PlatformPermissions = authz.PlatformPermissions()
		if row.PlatformPermissions != nil {
			caller.PlatformPermissions = nil
			if err := json.Unmarshal(row.PlatformPermissions, &caller.PlatformPermissions); err != nil {
				return nil, err
			}
		}
	}
	if row.TenantID != nil {
		caller.Tenant = &authz.Membership{
			TenantID: *row.TenantID, TenantName: *row.TenantName, Role: *row.RoleName,
			OnboardingComplete: row.OnboardingCompletedAt != nil,
		}
		if row.Permissions != "" {
			caller.Tenant.Permissions = strings.Split(row.Permissions, ",")
			slices.Sort(caller.Tenant.Permissions)
		}
	}
	return caller, nil
}
