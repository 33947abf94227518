package team

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team/teamsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *teamsql.Queries { return teamsql.New(s.db.Conn(ctx)) }

func toMember(row teamsql.MemberRow) Member {
	return Member{
		UserID: row.ID, Name: row.Name, Email: row.Email, AvatarHash: row.AvatarHash, HasFactor: row.MfaEnabled,
		RoleID: row.RoleID, Role: row.RoleName, JoinedAt: row.JoinedAt,
	}
}

// members lists up to most members of a tenant, in no particular order.
func (s store) members(ctx context.Context, tenantID uuid.UUID, most int) ([]Member, error) {
	rows, err := s.q(ctx).Members(ctx, teamsql.MembersParams{TenantID: tenantID, Most: int32(most)})
	members := make([]Member, len(rows))
	for i, row := range rows {
		members[i] = toMember(teamsql.MemberRow(row))
	}
	return members, sqldb.Wrap(err, "list members")
}

// memberOrder lists the IDs of a tenant's members in list order. It reads only the fields that
// determine the order. If words is not empty, it lists only members whose name or email matches.
func (s store) memberOrder(ctx context.Context, tenantID uuid.UUID, words string) ([]int64, error) {
	rows, err := s.q(ctx).MemberNames(ctx, tenantID)
	names, places := i18n.NewCollator(i18n.Locale(ctx)), make([]sortKey, 0, len(rows))
	for _, row := range rows {
		if words == "" || search.Matches(words, row.Name, row.Email) {
			places = append(places, newSortKey(names, row.UserID, row.Name, row.RoleName))
		}
	}
	slices.SortFunc(places, sortKey.compare)
	order := make([]int64, len(places))
	for i, p := range places {
		order[i] = p.id
	}
	return order, sqldb.Wrap(err, "list names of members")
}

// membersAmong returns the given users who are members of a tenant, in no particular order. There
// must be at least one user.
func (s store) membersAmong(ctx context.Context, tenantID uuid.UUID, users []int64) ([]Member, error) {
	ids := make([]any, len(users))
	for i, id := range users {
		ids[i] = id
	}
	values, args := sqldb.Values(s.db, 2, ids, "bigint") // a list of hundreds would be compared with each member
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT u.id, u.name, u.email, u.avatar_hash, u.mfa_enabled, r.id, r.name, m.joined_at
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1 AND m.user_id IN (`+values+`)`, append([]any{tenantID}, args...)...)
	if err != nil {
		return nil, sqldb.Wrap(err, "list some members")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	var members []Member
	for rows.Next() {
		var m Member
		if err := rows.Scan(&m.UserID, &m.Name, &m.Email, &m.AvatarHash, &m.HasFactor, &m.RoleID, &m.Role, &m.JoinedAt); err != nil {
			return nil, sqldb.Wrap(err, "list some members")
		}
		members = append(members, m)
	}
	return members, sqldb.Wrap(rows.Err(), "list some members")
}

// member returns a member, or ErrNotMember.
func (s store) member(ctx context.Context, tenantID uuid.UUID, userID int64) (Member, error) {
	row, err := s.q(ctx).Member(ctx, teamsql.MemberParams{TenantID: tenantID, UserID: userID})
	return toMember(row), sqldb.WrapAbsent(err, "read member", ErrNotMember)
}

// tenantOf returns the tenant of the account with the email, or errInNoTenant.
func (s store) tenantOf(ctx context.Context, email string) (uuid.UUID, error) {
	id, err := s.q(ctx).TenantOfEmail(ctx, email)
	return id, sqldb.WrapAbsent(err, "read tenant of email", errInNoTenant)
}

// insertMember reports whether the user was added. It returns false if the user already belongs to
// a tenant.
func (s store) insertMember(ctx context.Context, tenantID uuid.UUID, userID, roleID int64, now time.Time) (bool, error) {
	n, err := s.q(ctx).InsertMember(ctx, teamsql.InsertMemberParams{
		TenantID: tenantID, UserID: userID, RoleID: roleID, JoinedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "insert member")
}

func (s store) setRole(ctx context.Context, tenantID uuid.UUID, userID, roleID int64) error {
	err := s.q(ctx).SetRoleOfMember(ctx, teamsql.SetRoleOfMemberParams{TenantID: tenantID, UserID: userID, RoleID: roleID})
	return sqldb.Wrap(err, "set role of member")
}

func (s store) deleteMember(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	err := s.q(ctx).DeleteMember(ctx, teamsql.DeleteMemberParams{TenantID: tenantID, UserID: userID})
	return sqldb.Wrap(err, "delete member")
}

// seats counts the members and pending invitations. It does not set Limit.
func (s store) seats(ctx context.Context, tenantID uuid.UUID, now time.Time) (Seats, error) {
	row, err := s.q(ctx).Seats(ctx, teamsql.SeatsParams{TenantID: tenantID, Now: now})
	return Seats{Members: row.Members, Invitations: row.Invitations}, sqldb.Wrap(err, "count seats")
}
