package domain

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant/domain/domainsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *domainsql.Queries { return domainsql.New(s.db.Conn(ctx)) }

func toDomain(row domainsql.TenantDomain, role string) Domain {
	return Domain{
		ID: row.ID, TenantID: row.TenantID, Name: row.Domain, Status: row.Status, token: row.Token, AutoJoin: row.AutoJoin,
		RoleID: row.RoleID, Role: role, VerifiedAt: row.VerifiedAt, LastCheckedAt: row.LastCheckedAt, FailedChecks: row.FailedChecks,
	}
}

// insert inserts a pending domain with a built-in role.
func (s store) insert(ctx context.Context, d Domain, role string, now time.Time) error {
	err := s.q(ctx).InsertDomain(ctx, domainsql.InsertDomainParams{
		ID: d.ID, TenantID: d.TenantID, Domain: d.Name, Status: statusPending, Token: d.token, CreatedAt: now, Role: role,
	})
	if err != nil {
		return sqldb.Wrap(err, "insert domain")
	}
	return search.NewIndex(s.db).Put(ctx, search.Object{Kind: search.Domain, ID: d.ID, TenantID: &d.TenantID, Wholes: []string{d.Name}})
}

// list returns the domains of a tenant, oldest first.
func (s store) list(ctx context.Context, tenantID uuid.UUID) ([]Domain, error) {
	rows, err := s.q(ctx).Domains(ctx, tenantID)
	domains := make([]Domain, len(rows))
	for i, row := range rows {
		domains[i] = toDomain(row.TenantDomain, row.RoleName)
	}
	return domains, sqldb.Wrap(err, "list domains")
}

// get returns a domain of a tenant, or errNotFound.
func (s store) get(ctx context.Context, tenantID, id uuid.UUID) (Domain, error) {
	row, err := s.q(ctx).Domain(ctx, domainsql.DomainParams{TenantID: tenantID, ID: id})
	return toDomain(row.TenantDomain, row.RoleName), sqldb.WrapAbsent(err, "read domain", errNotFound)
}

// update stores a domain. It fails if another tenant has verified it (sqldb.IsUnique).
func (s store) update(ctx context.Context, d Domain, now time.Time) error {
	err := s.q(ctx).UpdateDomain(ctx, domainsql.UpdateDomainParams{
		TenantID: d.TenantID, ID: d.ID, Status: d.Status, AutoJoin: d.AutoJoin, RoleID: d.RoleID, VerifiedAt: d.VerifiedAt,
		LastCheckedAt: d.LastCheckedAt, FailedChecks: d.FailedChecks, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "update domain")
}

func (s store) delete(ctx context.Context, tenantID, id uuid.UUID) error {
	if err := search.NewIndex(s.db).Remove(ctx, search.Domain, id); err != nil {
		return err
	}
	return sqldb.Wrap(s.q(ctx).DeleteDomain(ctx, domainsql.DeleteDomainParams{TenantID: tenantID, ID: id}), "delete domain")
}

// isTaken reports whether another tenant has verified a domain.
func (s store) isTaken(ctx context.Context, name string, tenantID uuid.UUID) (bool, error) {
	n, err := s.q(ctx).TakenByOther(ctx, domainsql.TakenByOtherParams{Domain: name, TenantID: tenantID})
	return n > 0, sqldb.Wrap(err, "find domain of another tenant")
}

// release takes a domain from a deleted tenant.
func (s store) release(ctx context.Context, name string, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).ReleaseDomain(ctx, domainsql.ReleaseDomainParams{Domain: name, UpdatedAt: now}), "release domain")
}

// dueForCheck lists verified domains that were last checked before a time.
func (s store) dueForCheck(ctx context.Context, before time.Time, most int32) ([]Domain, error) {
	rows, err := s.q(ctx).DueDomains(ctx, domainsql.DueDomainsParams{Before: before, Most: most})
	domains := make([]Domain, len(rows))
	for i, row := range rows {
		domains[i] = Domain{ID: row.ID, TenantID: row.TenantID, Name: row.Domain, token: row.Token}
	}
	return domains, sqldb.Wrap(err, "list domains to check")
}

// joinable returns the tenant that users with an address in a domain join, or Nil.
func (s store) joinable(ctx context.Context, name string) (tenantID uuid.UUID, roleID int64, err error) {
	row, err := s.q(ctx).JoinableDomain(ctx, name)
	if errors.Is(err, sqldb.ErrNoRows) {
		return uuid.Nil, 0, nil
	}
	return row.TenantID, row.RoleID, sqldb.Wrap(err, "find tenant of domain")
}

// unplacedEmail returns the verified email of a user without a tenant, or "".
func (s store) unplacedEmail(ctx context.Context, userID int64) (string, error) {
	email, err := s.q(ctx).UnplacedEmail(ctx, userID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return "", nil
	}
	return email, sqldb.Wrap(err, "read email of user without a tenant")
}
