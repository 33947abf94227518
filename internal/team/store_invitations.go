package team

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team/teamsql"
)

func toInvitation(row teamsql.InvitationRow, now time.Time) Invitation {
	i := row.Invitation
	return Invitation{
		ID: i.ID, Tenant: i.TenantID, Email: i.Email, RoleID: i.RoleID, Role: row.RoleName, Status: Status(i.Status),
		ExpiresAt: i.ExpiresAt, TenantName: row.TenantName, InviterID: orZero(i.InviterID), Inviter: row.InviterName,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, days: int(i.ExpiresInDays), tokenHash: i.TokenHash,
	}.withStatusAt(now)
}

// invitationsOnPage returns one page of a tenant's invitations, newest first, and their total
// number.
func (s store) invitationsOnPage(ctx context.Context, tenantID uuid.UUID, q page.Query, now time.Time) ([]Invitation, int64, error) {
	most, skipped := q.Limits()
	rows, err := s.q(ctx).Invitations(ctx, teamsql.InvitationsParams{TenantID: tenantID, Most: most, Skipped: skipped})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list invitations")
	}
	total, err := s.q(ctx).CountInvitations(ctx, tenantID)
	return toInvitations(rows, now), total, sqldb.Wrap(err, "count invitations")
}

// pendingOnPage is invitationsOnPage for invitations that can be accepted at now.
func (s store) pendingOnPage(ctx context.Context, tenantID uuid.UUID, q page.Query, now time.Time) ([]Invitation, int64, error) {
	most, skipped := q.Limits()
	rows, err := s.q(ctx).PendingInvitations(ctx, teamsql.PendingInvitationsParams{TenantID: tenantID, Now: now, Most: most, Skipped: skipped})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list pending invitations")
	}
	total, err := s.q(ctx).CountPendingInvitations(ctx, teamsql.CountPendingInvitationsParams{TenantID: tenantID, Now: now})
	return toInvitations(rows, now), total, sqldb.Wrap(err, "count pending invitations")
}

// beforeNewest sorts before the first invitation of any list.
var beforeNewest = Invitation{ID: uuid.Max, CreatedAt: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}

// invitationsAfter lists up to most of a tenant's invitations that follow last, newest first.
func (s store) invitationsAfter(ctx context.Context, tenantID uuid.UUID, last Invitation, most int, now time.Time) ([]Invitation, error) {
	rows, err := s.q(ctx).OlderInvitations(ctx, teamsql.OlderInvitationsParams{
		TenantID: tenantID, CreatedAt: last.CreatedAt, ID: last.ID, Most: int32(most),
	})
	return toInvitations(rows, now), sqldb.Wrap(err, "list older invitations")
}

// pendingAfter is invitationsAfter for invitations that can be accepted at now.
func (s store) pendingAfter(ctx context.Context, tenantID uuid.UUID, last Invitation, most int, now time.Time) ([]Invitation, error) {
	rows, err := s.q(ctx).OlderPendingInvitations(ctx, teamsql.OlderPendingInvitationsParams{
		TenantID: tenantID, Now: now, CreatedAt: last.CreatedAt, ID: last.ID, Most: int32(most),
	})
	return toInvitations(rows, now), sqldb.Wrap(err, "list older pending invitations")
}

// rowsOfInvitations are the row types of queries that list invitations.
type rowsOfInvitations interface {
	teamsql.InvitationsRow | teamsql.PendingInvitationsRow | teamsql.OlderInvitationsRow | teamsql.OlderPendingInvitationsRow
}

func toInvitations[R rowsOfInvitations](rows []R, now time.Time) []Invitation {
	found := make([]Invitation, len(rows))
	for i, row := range rows {
		found[i] = toInvitation(teamsql.InvitationRow(row), now)
	}
	return found
}

// invitation returns a tenant's invitation with its status at now, or errNoInvitation.
func (s store) invitation(ctx context.Context, tenantID, id uuid.UUID, now time.Time) (Invitation, error) {
	row, err := s.q(ctx).Invitation(ctx, teamsql.InvitationParams{TenantID: tenantID, ID: id})
	return toInvitation(row, now), sqldb.WrapAbsent(err, "read invitation", errNoInvitation)
}

// findByToken returns the invitation that was mailed with the token, or errNoInvitation.
func (s store) findByToken(ctx context.Context, tokenHash string, now time.Time) (Invitation, error) {
	row, err := s.q(ctx).InvitationByToken(ctx, tokenHash)
	return toInvitation(teamsql.InvitationRow(row), now), sqldb.WrapAbsent(err, "read invitation by token", errNoInvitation)
}

// orZero returns the ID, or 0 for nil.
func orZero(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func (s store) insertInvitation(ctx context.Context, i Invitation) error {
	row := teamsql.InsertInvitationParams{
		ID: i.ID, TenantID: i.Tenant, Email: i.Email, RoleID: i.RoleID, Status: string(i.Status),
		TokenHash: i.tokenHash, ExpiresInDays: int32(i.days), ExpiresAt: i.ExpiresAt, CreatedAt: i.CreatedAt,
	}
	if i.InviterID != 0 {
		row.InviterID = &i.InviterID
	}
	return sqldb.Wrap(s.q(ctx).InsertInvitation(ctx, row), "insert invitation")
}

func (s store) updateInvitation(ctx context.Context, i Invitation) error {
	err := s.q(ctx).UpdateInvitation(ctx, teamsql.UpdateInvitationParams{
		TenantID: i.Tenant, ID: i.ID, Status: string(i.Status), TokenHash: i.tokenHash, ExpiresAt: i.ExpiresAt, UpdatedAt: i.UpdatedAt,
	})
	return sqldb.Wrap(err, "update invitation")
}

// pendingOf returns an email's invitation that can be accepted, or errNoInvitation. It first expires
// older invitations, which would otherwise still count as pending.
func (s store) pendingOf(ctx context.Context, tenantID uuid.UUID, email string, now time.Time) (Invitation, error) {
	err := s.q(ctx).ExpireInvitations(ctx, teamsql.ExpireInvitationsParams{TenantID: tenantID, Email: email, Now: now})
	if err != nil {
		return Invitation{}, sqldb.Wrap(err, "expire invitations")
	}
	id, err := s.q(ctx).PendingInvitationOf(ctx, teamsql.PendingInvitationOfParams{TenantID: tenantID, Email: email})
	if err != nil {
		return Invitation{}, sqldb.WrapAbsent(err, "find pending invitation", errNoInvitation)
	}
	return s.invitation(ctx, tenantID, id, now)
}

// deleteOldInvitations deletes invitations that expired in a time range, oldest first. It returns
// their expiry times.
func (s store) deleteOldInvitations(ctx context.Context, earliest, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteOldInvitations(ctx, teamsql.DeleteOldInvitationsParams{Earliest: earliest, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete old invitations")
}
