package impersonation

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/impersonation/impersonationsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *impersonationsql.Queries {
	return impersonationsql.New(s.db.Conn(ctx))
}

// credential is what impersonation needs to know of one.
type credential struct {
	id        uuid.UUID
	userID    int64
	revoked   bool
	expiresAt time.Time
	target    *Target // nil while its user acts for themself
}

// dead tells whether it authenticates nobody any more.
func (c *credential) dead(now time.Time) bool { return c.revoked || !c.expiresAt.After(now) }

// lockCredential gives nil for one that does not exist.
func (s store) lockCredential(ctx context.Context, id uuid.UUID) (*credential, error) {
	row, err := s.q(ctx).LockCredential(ctx, id)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &credential{id: id, userID: row.UserID, revoked: row.RevokedAt != nil, expiresAt: row.ExpiresAt}
	if row.ImpersonatedUserID != nil && row.ImpersonatedTenantID != nil {
		c.target = &Target{UserID: *row.ImpersonatedUserID, TenantID: *row.ImpersonatedTenantID}
	}
	return c, nil
}

// lockTenant tells whether a tenant exists.
func (s store) lockTenant(ctx context.Context, id uuid.UUID) (bool, error) {
	_, err := s.q(ctx).LockTenant(ctx, id)
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

type user struct{ isPlatformAdmin bool }

// lockTarget gives nil for a user who does not exist.
func (s store) lockTarget(ctx context.Context, id int64) (*user, error) {
	row, err := s.q(ctx).LockTarget(ctx, id)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	return &user{isPlatformAdmin: row.IsPlatformAdmin}, err
}

func (s store) isMember(ctx context.Context, t Target) (bool, error) {
	n, err := s.q(ctx).IsMember(ctx, impersonationsql.IsMemberParams{UserID: t.UserID, TenantID: t.TenantID})
	return n > 0, err
}

// setTarget clears it with nil.
func (s store) setTarget(ctx context.Context, id uuid.UUID, t *Target) error {
	row := impersonationsql.SetImpersonatedParams{ID: id}
	if t != nil {
		row.ImpersonatedUserID, row.ImpersonatedTenantID = &t.UserID, &t.TenantID
	}
	return s.q(ctx).SetImpersonated(ctx, row)
}

func (s store) revoke(ctx context.Context, id uuid.UUID, now time.Time) error {
	return s.q(ctx).RevokeCredential(ctx, impersonationsql.RevokeCredentialParams{ID: id, RevokedAt: &now})
}

func (s store) impersonatingOfFamily(ctx context.Context, userID int64, family uuid.UUID) ([]uuid.UUID, error) {
	return s.q(ctx).ImpersonatingOfFamily(ctx, impersonationsql.ImpersonatingOfFamilyParams{UserID: userID, Family: family})
}
