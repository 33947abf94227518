package impersonation

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/impersonation/impersonationsql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *impersonationsql.Queries {
	return impersonationsql.New(s.db.Conn(ctx))
}

// credential holds the state of a credential that impersonation needs.
type credential struct {
	id        uuid.UUID
	userID    int64
	revoked   bool
	expiresAt time.Time
	isToken   bool // an access token
	// ownExpiresAt is the expiry of an access token before it impersonated, or nil.
	ownExpiresAt *time.Time
	// target is nil while not impersonating. limits and impersonatesUntil belong to the impersonation.
	target            *Target
	limits            Limits
	impersonatesUntil *time.Time
	// factorPassed means that the login of the credential has passed its second factor.
	factorPassed bool
	ended        bool // the impersonation has ended and is logged, but was not stopped yet
}

// isDead reports whether the credential is revoked or expired.
func (c *credential) isDead(now time.Time) bool { return c.revoked || !c.expiresAt.After(now) }

// isOverdue reports whether the impersonation has expired and its end is not logged yet.
func (c *credential) isOverdue(now time.Time) bool {
	return c.target != nil && !c.ended && c.impersonatesUntil != nil && !now.Before(*c.impersonatesUntil)
}

// expiryAfterwards returns the expiry of the credential after the impersonation. An access token
// that would have expired during the impersonation remains valid for up to stopPeriod, so that the
// admin can continue.
func (c *credential) expiryAfterwards(now time.Time) time.Time {
	if c.ownExpiresAt == nil {
		return c.expiresAt
	}
	if c.ownExpiresAt.After(now) {
		return *c.ownExpiresAt
	}
	if limit := now.Add(stopPeriod); limit.Before(c.expiresAt) {
		return limit
	}
	return c.expiresAt
}

// lockCredential locks a credential and returns it. It returns errNoCredential if it does not
// exist.
func (s store) lockCredential(ctx context.Context, id uuid.UUID) (credential, error) {
	row, err := s.q(ctx).LockCredential(ctx, id)
	if err != nil {
		return credential{}, sqldb.WrapAbsent(err, "lock credential", errNoCredential)
	}
	c := credential{
		id: id, userID: row.UserID, revoked: row.RevokedAt != nil, expiresAt: row.ExpiresAt, isToken: row.Kind == kindAccess,
		ownExpiresAt: row.OwnExpiresAt, ended: row.ImpersonationEndedAt != nil, factorPassed: row.MfaPassed,
		limits: Limits{Reason: row.ImpersonationReason, ReadOnly: row.ImpersonationReadOnly}, impersonatesUntil: row.ImpersonationExpiresAt,
	}
	if row.ImpersonatedUserID != nil && row.ImpersonatedTenantID != nil {
		c.target = &Target{UserID: *row.ImpersonatedUserID, TenantID: *row.ImpersonatedTenantID}
	}
	return c, nil
}

// lockTenant locks a tenant, so that the target cannot leave it. It returns errNoTenant if the
// tenant does not exist.
func (s store) lockTenant(ctx context.Context, id uuid.UUID) error {
	absent := errNoTenant
	err := s.db.QueryAll(ctx, append(distribution.LockTenants(s.db, id), sqldb.Query{
		Doing: "lock tenant", Text: `SELECT id FROM tenants WHERE id = $1` + distribution.RowLock(s.db, ` FOR UPDATE`), Args: []any{id},
		Row: func(func(...any) error) error {
			absent = nil
			return nil
		},
	})...)
	return cmp.Or(err, absent)
}

// user is a user, read under the lock.
type user struct {
	isPlatformAdmin bool
	permissions     sqldb.JSON // of a platform admin; nil means all
	hasFactor       bool       // a second factor
}

// canStart reports whether the user is allowed to start impersonations.
func (u user) canStart() (bool, error) {
	if !u.isPlatformAdmin || u.permissions == nil {
		return u.isPlatformAdmin, nil
	}
	var permissions []string
	err := json.Unmarshal(u.permissions, &permissions)
	return slices.Contains(permissions, authz.ImpersonationStart), err
}

// lockUser locks a user and returns it. It returns errNoUser if it does not exist.
func (s store) lockUser(ctx context.Context, id int64) (user, error) {
	row, err := s.q(ctx).LockUser(ctx, id)
	return user{row.IsPlatformAdmin, row.PlatformPermissions, row.MfaEnabled}, sqldb.WrapAbsent(err, "lock user", errNoUser)
}

// ownerOf returns the owner of a credential. It returns errNoCredential if it does not exist.
func (s store) ownerOf(ctx context.Context, id uuid.UUID) (int64, error) {
	owner, err := s.q(ctx).OwnerOfCredential(ctx, id)
	return owner, sqldb.WrapAbsent(err, "read owner of credential", errNoCredential)
}

// impersonatorsOf returns the users who impersonate a user.
func (s store) impersonatorsOf(ctx context.Context, targetID int64) ([]int64, error) {
	ids, err := s.q(ctx).ImpersonatorsOf(ctx, &targetID)
	return ids, sqldb.Wrap(err, "list impersonators of user")
}

func (s store) isMember(ctx context.Context, t Target) (bool, error) {
	n, err := s.q(ctx).IsMember(ctx, impersonationsql.IsMemberParams{UserID: t.UserID, TenantID: t.TenantID})
	return n > 0, sqldb.Wrap(err, "read membership")
}

// start makes a credential impersonate a target until a time. An access token expires stopPeriod
// after that time.
func (s store) start(ctx context.Context, c credential, t Target, l Limits, until time.Time) error {
	row := impersonationsql.SetImpersonatedParams{
		ID: c.id, ImpersonatedUserID: &t.UserID, ImpersonatedTenantID: &t.TenantID,
		ImpersonationReason: l.Reason, ImpersonationReadOnly: l.ReadOnly, ImpersonationExpiresAt: &until, ExpiresAt: c.expiresAt,
	}
	if c.isToken {
		row.OwnExpiresAt, row.ExpiresAt = &c.expiresAt, until.Add(stopPeriod)
	}
	return sqldb.Wrap(s.q(ctx).SetImpersonated(ctx, row), "set target of credential")
}

// stop removes the target of a credential.
func (s store) stop(ctx context.Context, c credential, now time.Time) error {
	err := s.q(ctx).SetImpersonated(ctx, impersonationsql.SetImpersonatedParams{ID: c.id, ExpiresAt: c.expiryAfterwards(now)})
	return sqldb.Wrap(err, "remove target of credential")
}

// setEnded records the end of an impersonation, and keeps its target until it is stopped.
func (s store) setEnded(ctx context.Context, id uuid.UUID, at time.Time) error {
	err := s.q(ctx).SetImpersonationEnded(ctx, impersonationsql.SetImpersonationEndedParams{ID: id, ImpersonationEndedAt: &at})
	return sqldb.Wrap(err, "set end of impersonation")
}

func (s store) revoke(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).RevokeCredential(ctx, impersonationsql.RevokeCredentialParams{ID: id, RevokedAt: &now})
	return sqldb.Wrap(err, "revoke credential")
}

// impersonatingOfFamily returns the impersonating credentials of one login of an admin.
func (s store) impersonatingOfFamily(ctx context.Context, userID int64, family uuid.UUID) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).ImpersonatingOfFamily(ctx, impersonationsql.ImpersonatingOfFamilyParams{UserID: userID, Family: family})
	return ids, sqldb.Wrap(err, "list impersonating credentials of login")
}

// impersonatingOfUser returns the impersonating credentials of an admin.
func (s store) impersonatingOfUser(ctx context.Context, userID int64) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).ImpersonatingOfUser(ctx, userID)
	return ids, sqldb.Wrap(err, "list impersonating credentials of user")
}

// impersonatingTarget returns the credentials that impersonate a user.
func (s store) impersonatingTarget(ctx context.Context, targetID int64) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).ImpersonatingTarget(ctx, &targetID)
	return ids, sqldb.Wrap(err, "list credentials that impersonate user")
}

// listOverdue returns up to 1,000 impersonating credentials that are revoked or expired, or whose
// impersonation has expired without a record in the log.
func (s store) listOverdue(ctx context.Context, now time.Time) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).OverdueImpersonating(ctx, now)
	return ids, sqldb.Wrap(err, "list overdue impersonating credentials")
}

// insertLog adds a record to the impersonation log.
func (s store) insertLog(ctx context.Context, action string, f Facts, now time.Time) error {
	row := impersonationsql.InsertLogParams{
		ImpersonatorID: f.ImpersonatorID, ImpersonatedID: f.ImpersonatedID, TenantID: f.TenantID,
		Action: action, Reason: f.Reason, ReadOnly: f.ReadOnly, IpAddress: f.IPAddress, CreatedAt: now,
	}
	if f.UserAgent != "" {
		row.UserAgent = &f.UserAgent
	}
	return sqldb.Wrap(s.q(ctx).InsertLog(ctx, row), "insert impersonation log record")
}

// records returns a page of the impersonation log and the total number of records.
func (s store) records(ctx context.Context, q page.Query) ([]ImpersonationRecord, int64, error) {
	sel := page.Select{
		Columns: "id, impersonator_id, impersonated_id, tenant_id, action, reason, read_only, ip_address, user_agent, created_at",
		From:    "impersonation_logs",
	}
	list, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (ImpersonationRecord, error) {
		var (
			r  ImpersonationRecord
			at time.Time
		)
		err := row.Scan(&r.ID, &r.ImpersonatorID, &r.ImpersonatedID, &r.TenantID, &r.Action, &r.Reason, &r.ReadOnly, &r.IPAddress, &r.UserAgent, &at)
		r.CreatedAt = shape.T(at)
		return r, err
	})
	return list, total, sqldb.Wrap(err, "list impersonation log")
}

// deleteOld implements Service.DeleteOldLogs.
func (s store) deleteOld(ctx context.Context, earliest, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteOldLogs(ctx, impersonationsql.DeleteOldLogsParams{Earliest: earliest, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete old impersonation logs")
}
