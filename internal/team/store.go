package team

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team/teamsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *teamsql.Queries { return teamsql.New(s.db.Conn(ctx)) }

func toMember(row teamsql.MemberRow) Member {
	return Member{
		UserID: row.ID, Name: row.Name, Email: row.Email, AvatarHash: row.AvatarHash,
		RoleID: row.RoleID, Role: row.RoleName, JoinedAt: row.JoinedAt,
	}
}

// members come in no order.
func (s store) members(ctx context.Context, tenantID uuid.UUID) ([]Member, error) {
	rows, err := s.q(ctx).Members(ctx, tenantID)
	members := make([]Member, len(rows))
	for i, row := range rows {
		members[i] = toMember(teamsql.MemberRow(row))
	}
	return members, err
}

// member fails with ErrNotMember.
func (s store) member(ctx context.Context, tenantID uuid.UUID, userID int64) (Member, error) {
	row, err := s.q(ctx).Member(ctx, teamsql.MemberParams{TenantID: tenantID, UserID: userID})
	if errors.Is(err, sqldb.ErrNoRows) {
		return Member{}, ErrNotMember
	}
	return toMember(row), err
}

// tenantOf gives the tenant that an email's account is in, nil for none.
func (s store) tenantOf(ctx context.Context, email string) (*uuid.UUID, error) {
	id, err := s.q(ctx).TenantOfEmail(ctx, email)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	return &id, err
}

// insertMember tells false when the user is in a tenant already.
func (s store) insertMember(ctx context.Context, tenantID uuid.UUID, userID, roleID int64, now time.Time) (bool, error) {
	n, err := s.q(ctx).InsertMember(ctx, teamsql.InsertMemberParams{
		TenantID: tenantID, UserID: userID, RoleID: roleID, JoinedAt: now,
	})
	return n == 1, err
}

func (s store) setRole(ctx context.Context, tenantID uuid.UUID, userID, roleID int64) error {
	return s.q(ctx).SetRoleOfMember(ctx, teamsql.SetRoleOfMemberParams{TenantID: tenantID, UserID: userID, RoleID: roleID})
}

func (s store) deleteMember(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	return s.q(ctx).DeleteMember(ctx, teamsql.DeleteMemberParams{TenantID: tenantID, UserID: userID})
}

func (s store) seats(ctx context.Context, tenantID uuid.UUID, now time.Time) (Seats, error) {
	row, err := s.q(ctx).Seats(ctx, teamsql.SeatsParams{TenantID: tenantID, Now: now})
	return Seats{Members: row.Members, Invitations: row.Invitations}, err
}
