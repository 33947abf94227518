package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// credential is an unrevoked credential with the data that authorizes a request.
type credential struct {
	id              uuid.UUID
	kind            string
	family          uuid.UUID
	familyExpiresAt time.Time
	expiresAt       time.Time
	idleSeconds     int64
	lastUsedAt      *time.Time

	userID              int64
	name, email         string
	isPlatformAdmin     bool
	platformPermissions sqldb.JSON
	avatarHash          *string
	locale              *string
	isVerified          bool
	hasFactor           bool // the user, or the target of an impersonation, has a second factor
	methods             string
	factorPassed        bool

	impersonatorID      *int64
	impersonatorName    *string
	impersonatorIsAdmin *bool
	impersonation       impersonation

	tenantID    *uuid.UUID
	tenantName  *string
	isOnboarded bool
	roleName    *string
	permissions string // comma-separated
	ssoRequired bool   // see authz.Caller
	// factorFrom is the time from which the tenant requires a second factor, or nil.
	factorFrom *time.Time
}

// impersonation is the state of an impersonation. It is the zero value for a credential that never
// impersonated.
type impersonation struct {
	isEnded, isReadOnly bool
	expiresAt           *time.Time
	reason              *string
}

// credentialTables returns the tables that credentialsByHash reads.
func credentialTables() []string {
	return []string{"credentials", "users", "memberships", "tenants", "roles", "role_permissions", "sso_connections", "tenant_domains"}
}

// credentialsByHash returns the unrevoked credentials for the token hashes. For an impersonating
// credential, the user is the target, in the tenant of the impersonation.
func (s store) credentialsByHash(ctx context.Context, hashes []string) (map[string]credential, error) {
	found := make(map[string]credential, len(hashes))
	among, args := sqldb.InCondition(s.db, 1, "text", hashes)
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "look up credentials",
		Text: `SELECT
    t.token_hash, t.id, t.kind, t.family, t.family_expires_at, t.expires_at, t.idle_seconds, t.last_used_at,
    u.id, u.name, u.email, u.is_platform_admin, u.platform_permissions, u.avatar_hash, u.locale, u.email_verified_at IS NOT NULL,
    u.mfa_enabled, t.methods, t.mfa_passed,
    i.id, i.name, i.is_platform_admin, t.impersonation_ended_at IS NOT NULL, t.impersonation_expires_at, t.impersonation_reason, t.impersonation_read_only,
    m.tenant_id, tn.name, tn.onboarding_completed_at IS NOT NULL, tn.require_mfa_from, r.name,
    COALESCE((SELECT string_agg(p.permission, ',') FROM role_permissions p WHERE p.role_id = m.role_id), '')::text,
    CASE WHEN k.id IS NULL OR t.impersonated_user_id IS NOT NULL OR (r.tenant_id IS NULL AND r.name = 'owner') OR t.connection_id = k.id THEN false
    ELSE EXISTS (
        SELECT 1 FROM tenant_domains d WHERE d.tenant_id = m.tenant_id AND d.status = 'verified' AND u.email LIKE '%@' || d.domain
    ) END
FROM credentials t
JOIN users u ON u.id = COALESCE(t.impersonated_user_id, t.user_id)
LEFT JOIN users i ON i.id = CASE WHEN t.impersonated_user_id IS NOT NULL THEN t.user_id END
LEFT JOIN memberships m ON m.user_id = u.id AND (t.impersonated_tenant_id IS NULL OR m.tenant_id = t.impersonated_tenant_id)
LEFT JOIN tenants tn ON tn.id = m.tenant_id
LEFT JOIN roles r ON r.id = m.role_id
LEFT JOIN sso_connections k ON k.tenant_id = m.tenant_id AND k.required
WHERE t.revoked_at IS NULL AND t.token_hash ` + among,
		Args: args,
		Row: func(scan func(...any) error) error {
			var hash string
			var c credential
			err := scan(
				&hash, &c.id, &c.kind, &c.family, &c.familyExpiresAt, &c.expiresAt, &c.idleSeconds, &c.lastUsedAt,
				&c.userID, &c.name, &c.email, &c.isPlatformAdmin, &c.platformPermissions, &c.avatarHash, &c.locale, &c.isVerified,
				&c.hasFactor, &c.methods, &c.factorPassed,
				&c.impersonatorID, &c.impersonatorName, &c.impersonatorIsAdmin,
				&c.impersonation.isEnded, &c.impersonation.expiresAt, &c.impersonation.reason, &c.impersonation.isReadOnly,
				&c.tenantID, &c.tenantName, &c.isOnboarded, &c.factorFrom, &c.roleName, &c.permissions, &c.ssoRequired,
			)
			found[hash] = c
			return err
		},
	})
}
