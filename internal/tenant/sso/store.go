package sso

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/tenant/sso/ssosql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *ssosql.Queries { return ssosql.New(s.db.Conn(ctx)) }

func toConnection(row ssosql.SsoConnection, role string) Connection {
	c := Connection{
		ID: row.ID, TenantID: row.TenantID, RoleID: row.RoleID, setBy: row.SetBy, LastLoginAt: row.LastLoginAt, LastError: row.LastError,
		LastTestAt: row.LastTestAt, LastTestResult: row.LastTestResult,
		Terms: Terms{
			Issuer: row.Issuer, ClientID: row.ClientID, Secret: row.ClientSecret, Role: role, ProvisionMembers: row.ProvisionMembers,
			Required: row.Required, CountsAsMFA: row.CountsAsMfa, SessionHours: row.SessionHours,
		},
	}
	c.setPermissions = splitList(row.SetPermissions)
	return c
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// ofTenant returns the connection of a tenant, or errNotFound.
func (s store) ofTenant(ctx context.Context, tenantID uuid.UUID) (Connection, error) {
	row, err := s.q(ctx).Connection(ctx, tenantID)
	return s.withDomains(ctx, toConnection(row.SsoConnection, row.RoleName), sqldb.WrapAbsent(err, "read connection", errNotFound))
}

// byID returns the connection of a live tenant, or errNotFound.
func (s store) byID(ctx context.Context, id uuid.UUID) (Connection, error) {
	row, err := s.q(ctx).ConnectionByID(ctx, id)
	return s.withDomains(ctx, toConnection(row.SsoConnection, row.RoleName), sqldb.WrapAbsent(err, "read connection", errNotFound))
}

func (s store) withDomains(ctx context.Context, c Connection, err error) (Connection, error) {
	if err != nil {
		return Connection{}, err
	}
	c.Domains, err = s.q(ctx).VerifiedDomains(ctx, c.TenantID)
	return c, sqldb.Wrap(err, "list verified domains")
}

// ofDomain returns the connection of the tenant that has verified a domain, or errNotAvailable.
func (s store) ofDomain(ctx context.Context, name string) (uuid.UUID, error) {
	id, err := s.q(ctx).ConnectionOfDomain(ctx, name)
	return id, sqldb.WrapAbsent(err, "find connection of domain", errNotAvailable)
}

func (s store) insert(ctx context.Context, c Connection, now time.Time) error {
	err := s.q(ctx).InsertConnection(ctx, ssosql.InsertConnectionParams{
		ID: c.ID, TenantID: c.TenantID, Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: c.Secret, RoleID: c.RoleID,
		ProvisionMembers: c.ProvisionMembers, Required: c.Required, CountsAsMfa: c.CountsAsMFA, SessionHours: c.SessionHours,
		SetBy: c.setBy, SetPermissions: strings.Join(c.setPermissions, ","), CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert connection")
}

func (s store) update(ctx context.Context, c Connection, now time.Time) error {
	err := s.q(ctx).UpdateConnection(ctx, ssosql.UpdateConnectionParams{
		TenantID: c.TenantID, ID: c.ID, ClientSecret: c.Secret, RoleID: c.RoleID, ProvisionMembers: c.ProvisionMembers,
		Required: c.Required, CountsAsMfa: c.CountsAsMFA, SessionHours: c.SessionHours, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "update connection")
}

func (s store) delete(ctx context.Context, c Connection) error {
	err := s.q(ctx).DeleteConnection(ctx, ssosql.DeleteConnectionParams{TenantID: c.TenantID, ID: c.ID})
	return sqldb.Wrap(err, "delete connection")
}

func (s store) setLastError(ctx context.Context, c Connection, reason string) error {
	err := s.q(ctx).SetLastError(ctx, ssosql.SetLastErrorParams{TenantID: c.TenantID, ID: c.ID, Reason: reason})
	return sqldb.Wrap(err, "store the last error of a connection")
}

func (s store) setLastTest(ctx context.Context, c Connection, result string, now time.Time) error {
	err := s.q(ctx).SetLastTest(ctx, ssosql.SetLastTestParams{TenantID: c.TenantID, ID: c.ID, Result: result, Now: now})
	return sqldb.Wrap(err, "store the last test of a connection")
}

// completeLogin marks a connection as used, and returns its session_hours.
func (s store) completeLogin(ctx context.Context, id uuid.UUID, now time.Time) (int64, error) {
	hours, err := s.q(ctx).CompleteLogin(ctx, ssosql.CompleteLoginParams{ID: id, Now: now})
	return hours, sqldb.WrapAbsent(err, "complete login through connection", errEnded)
}

// countsAsMFA reports whether logins of a connection count as a second factor. ok is false if the
// identity no longer exists.
func (s store) countsAsMFA(ctx context.Context, connection, identity uuid.UUID) (counts, ok bool, err error) {
	counts, err = s.q(ctx).CountsAsMFA(ctx, ssosql.CountsAsMFAParams{ConnectionID: connection, ID: identity})
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, false, nil
	}
	return counts, err == nil, sqldb.Wrap(err, "read connection of identity")
}

// link is the identity of a person at a connection, and the user that it is linked to.
type link struct {
	id     uuid.UUID
	userID int64
}

// link returns the identity of a subject; nil if it is new.
func (s store) link(ctx context.Context, connection uuid.UUID, subject string) (*link, error) {
	row, err := s.q(ctx).Link(ctx, ssosql.LinkParams{ConnectionID: connection, Subject: subject})
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil //nolint:nilnil // the identity is new
	}
	return &link{row.ID, row.UserID}, sqldb.Wrap(err, "read link")
}

// isLinked reports whether a user is linked to an identity of a connection.
func (s store) isLinked(ctx context.Context, connection uuid.UUID, userID int64) (bool, error) {
	n, err := s.q(ctx).CountLinksOfUser(ctx, ssosql.CountLinksOfUserParams{ConnectionID: connection, UserID: userID})
	return n > 0, sqldb.Wrap(err, "find link of user")
}

func (s store) insertLink(ctx context.Context, connection uuid.UUID, who person, l link, now time.Time) error {
	err := s.q(ctx).InsertLink(ctx, ssosql.InsertLinkParams{
		ConnectionID: connection, Subject: who.subject, ID: l.id, UserID: l.userID, Email: who.email, CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert link")
}

func (s store) setEmail(ctx context.Context, id uuid.UUID, email string) error {
	return sqldb.Wrap(s.q(ctx).SetLinkEmail(ctx, ssosql.SetLinkEmailParams{ID: id, Email: email}), "set email of link")
}

// markUsed marks an identity as used, and returns its connection. It returns errEnded if the identity
// no longer exists.
func (s store) markUsed(ctx context.Context, id uuid.UUID, now time.Time) (uuid.UUID, error) {
	connection, err := s.q(ctx).MarkLinkUsed(ctx, ssosql.MarkLinkUsedParams{ID: id, Now: now})
	return connection, sqldb.WrapAbsent(err, "mark link as used", errEnded)
}

// membership is the place of a user in a tenant. It is zero for a user without a tenant.
type membership struct {
	tenantID    uuid.UUID
	isOwner     bool
	permissions []string
}

func (s store) membership(ctx context.Context, userID int64) (membership, error) {
	row, err := s.q(ctx).Membership(ctx, ssosql.MembershipParams{UserID: userID, Owner: tenant.BuiltInOwner})
	if errors.Is(err, sqldb.ErrNoRows) {
		return membership{}, nil
	}
	m := membership{tenantID: row.TenantID, isOwner: row.IsOwner, permissions: splitList(row.Permissions)}
	slices.Sort(m.permissions)
	return m, sqldb.Wrap(err, "read membership")
}
