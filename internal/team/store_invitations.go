package team

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team/teamsql"
)

func toInvitation(row teamsql.InvitationRow, now time.Time) Invitation {
	i := row.Invitation
	return Invitation{
		ID: i.ID, Tenant: i.TenantID, Email: i.Email, RoleID: i.RoleID, Role: row.RoleName, Status: Status(i.Status),
		ExpiresAt: i.ExpiresAt, TenantName: row.TenantName, InviterID: i.InviterID, Inviter: row.InviterName,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, days: int(i.ExpiresInDays), tokenHash: i.TokenHash,
	}.at(now)
}

// invitations come newest first.
func (s store) invitations(ctx context.Context, tenantID uuid.UUID, pendingOnly bool, now time.Time) ([]Invitation, error) {
	rows, err := s.q(ctx).Invitations(ctx, teamsql.InvitationsParams{TenantID: tenantID, PendingOnly: pendingOnly, Now: now})
	invitations := make([]Invitation, len(rows))
	for i, row := range rows {
		invitations[i] = toInvitation(teamsql.InvitationRow(row), now)
	}
	return invitations, err
}

// invitation fails with errNoInvitation, also for one of another tenant.
func (s store) invitation(ctx context.Context, tenantID, id uuid.UUID, now time.Time) (Invitation, error) {
	row, err := s.q(ctx).Invitation(ctx, teamsql.InvitationParams{TenantID: tenantID, ID: id})
	if errors.Is(err, sqldb.ErrNoRows) {
		return Invitation{}, errNoInvitation
	}
	return toInvitation(row, now), err
}

// byToken fails with errNoInvitation.
func (s store) byToken(ctx context.Context, tokenHash string, now time.Time) (Invitation, error) {
	row, err := s.q(ctx).InvitationByToken(ctx, tokenHash)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Invitation{}, errNoInvitation
	}
	return toInvitation(teamsql.InvitationRow(row), now), err
}

func (s store) insertInvitation(ctx context.Context, i Invitation) error {
	return s.q(ctx).InsertInvitation(ctx, teamsql.InsertInvitationParams{
		ID: i.ID, TenantID: i.Tenant, Email: i.Email, RoleID: i.RoleID, InviterID: i.InviterID, Status: string(i.Status),
		TokenHash: i.tokenHash, ExpiresInDays: int32(i.days), ExpiresAt: i.ExpiresAt, CreatedAt: i.CreatedAt,
	})
}

func (s store) updateInvitation(ctx context.Context, i Invitation) error {
	return s.q(ctx).UpdateInvitation(ctx, teamsql.UpdateInvitationParams{
		ID: i.ID, Status: string(i.Status), TokenHash: i.tokenHash, ExpiresAt: i.ExpiresAt, UpdatedAt: i.UpdatedAt,
	})
}

// isInvited tells whether a valid invitation waits for an email. One that has
// expired is first stored as such: it would keep the place of the next.
func (s store) isInvited(ctx context.Context, tenantID uuid.UUID, email string, now time.Time) (bool, error) {
	err := s.q(ctx).ExpireInvitations(ctx, teamsql.ExpireInvitationsParams{TenantID: tenantID, Email: email, Now: now})
	if err != nil {
		return false, err
	}
	n, err := s.q(ctx).CountPending(ctx, teamsql.CountPendingParams{TenantID: tenantID, Email: email})
	return n > 0, err
}
