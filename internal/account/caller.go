package account

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Authenticate looks up who an access token belongs to, with their tenant, role
// and permissions, in one query. Unknown, revoked and expired tokens are one
// refusal.
func (s *Service) Authenticate(ctx context.Context, token string) (*authz.Caller, error) {
	row, err := s.store.q(ctx).CallerByToken(ctx, hashToken(token))
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, errUnauthenticated
	}
	if err != nil {
		return nil, err
	}
	if !row.ExpiresAt.After(s.deps.Clock.Now()) {
		return nil, errUnauthenticated
	}
	return callerOf(row)
}

func callerOf(row accountsql.CallerByTokenRow) (*authz.Caller, error) {
	caller := &authz.Caller{
		UserID: row.UserID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin,
		TokenID: row.TokenID, Family: row.Family,
	}
	if row.IsPlatformAdmin {
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
