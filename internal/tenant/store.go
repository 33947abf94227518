package tenant

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/tenant/tenantsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *tenantsql.Queries { return tenantsql.New(s.db.Conn(ctx)) }

func toTenant(row tenantsql.Tenant) Tenant {
	return Tenant{
		ID: row.ID, Name: row.Name, Slug: row.Slug, ExternalID: row.ExternalID, Metadata: row.Metadata, OwnerAssigned: row.OwnerAssigned,
		Settings: row.Settings, PreferredCurrency: row.PreferredCurrency,
		Billing: BillingDetails{
			LegalName: row.LegalName, Address: row.Address, City: row.City, PostalCode: row.PostalCode,
			Country: row.Country, VATNumber: row.VATNumber, BillingEmail: row.BillingEmail,
		},
		VAT:                   VATCheck{Status: row.VATStatus, Name: row.VATName, ValidAt: row.VATValidAt},
		OnboardingCompletedAt: row.OnboardingCompletedAt, FactorFrom: row.RequireMfaFrom, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		DeletedAt: row.DeletedAt, PurgedAt: row.PurgedAt,
	}
}

// insert reports whether the tenant was inserted. It returns false if the slug is taken, and an
// error if the external ID is taken (sqldb.IsUnique).
func (s store) insert(ctx context.Context, t Tenant) (bool, error) {
	b := t.Billing
	_, err := s.q(ctx).InsertTenant(ctx, tenantsql.InsertTenantParams{
		ID: t.ID, Name: t.Name, Slug: t.Slug, PreferredCurrency: t.PreferredCurrency, CreatedAt: t.CreatedAt,
		LegalName: b.LegalName, Address: b.Address, City: b.City, PostalCode: b.PostalCode, Country: b.Country,
		VATNumber: b.VATNumber, VATStatus: t.VAT.Status, BillingEmail: b.BillingEmail,
		NameKey: nameKey(t.Name, i18n.Default), NameKeyEs: nameKey(t.Name, spanish),
		ExternalID: t.ExternalID, Metadata: t.Metadata, OnboardingCompletedAt: t.OnboardingCompletedAt, OwnerAssigned: t.OwnerAssigned,
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, sqldb.Wrap(err, "insert tenant")
	}
	return true, s.putWords(ctx, t)
}

// putWords stores the words by which a search finds a tenant.
func (s store) putWords(ctx context.Context, t Tenant) error {
	o := search.Object{Kind: search.Tenant, ID: t.ID, Texts: []string{t.Name}, Wholes: []string{t.Slug}}
	if t.ExternalID != nil {
		o.Wholes = append(o.Wholes, *t.ExternalID)
	}
	return search.NewIndex(s.db).Put(ctx, o)
}

// insertMember reports whether the user was added. It returns false if the user already belongs to
// a tenant.
func (s store) insertMember(ctx context.Context, tenantID uuid.UUID, userID int64, role string, now time.Time) (bool, error) {
	_, err := s.q(ctx).InsertMember(ctx, tenantsql.InsertMemberParams{
		TenantID: tenantID, UserID: userID, Role: role, JoinedAt: now,
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	return err == nil, sqldb.Wrap(err, "insert member")
}

// get returns a tenant, or ErrNotFound.
func (s store) get(ctx context.Context, id uuid.UUID) (Tenant, error) {
	row, err := s.q(ctx).Tenant(ctx, id)
	return toTenant(row), sqldb.WrapAbsent(err, "read tenant", ErrNotFound)
}

// isSlugTaken reports whether another tenant has the slug of t.
func (s store) isSlugTaken(ctx context.Context, t Tenant) (bool, error) {
	taken, err := s.q(ctx).SlugTaken(ctx, tenantsql.SlugTakenParams{Slug: t.Slug, ID: t.ID})
	return taken, sqldb.Wrap(err, "find slug")
}

// isExternalIDTaken reports whether another tenant has the external ID of t.
func (s store) isExternalIDTaken(ctx context.Context, t Tenant) (bool, error) {
	if t.ExternalID == nil {
		return false, nil
	}
	taken, err := s.q(ctx).ExternalIDTaken(ctx, tenantsql.ExternalIDTakenParams{ExternalID: *t.ExternalID, ID: t.ID})
	return taken, sqldb.Wrap(err, "find external ID")
}

// makeOwner gives a member the role owner. It reports whether the user is a member.
func (s store) makeOwner(ctx context.Context, tenantID uuid.UUID, userID int64) (bool, error) {
	n, err := s.q(ctx).SetOwner(ctx, tenantsql.SetOwnerParams{TenantID: tenantID, UserID: userID, Owner: BuiltInOwner})
	return n > 0, sqldb.Wrap(err, "make a member the owner")
}

// lock is like get, and also locks the tenant.
func (s store) lock(ctx context.Context, id uuid.UUID) (Tenant, error) {
	if s.db.IsDistributed() {
		if err := s.db.QueryAll(ctx, distribution.LockTenants(s.db, id)...); err != nil {
			return Tenant{}, err
		}
		return s.get(ctx, id)
	}
	row, err := s.q(ctx).LockTenant(ctx, id)
	return toTenant(row), sqldb.WrapAbsent(err, "lock tenant", ErrNotFound)
}

func (s store) update(ctx context.Context, old, t Tenant) error {
	err := s.q(ctx).UpdateTenant(ctx, tenantsql.UpdateTenantParams{
		ID: t.ID, Name: t.Name, Slug: t.Slug, Settings: t.Settings, LegalName: t.Billing.LegalName, Address: t.Billing.Address, City: t.Billing.City,
		PostalCode: t.Billing.PostalCode, Country: t.Billing.Country, VATNumber: t.Billing.VATNumber,
		BillingEmail: t.Billing.BillingEmail, OnboardingCompletedAt: t.OnboardingCompletedAt, UpdatedAt: t.UpdatedAt,
		PreferredCurrency: t.PreferredCurrency, VATStatus: t.VAT.Status, VATName: t.VAT.Name, VATValidAt: t.VAT.ValidAt,
		NameKey: nameKey(t.Name, i18n.Default), NameKeyEs: nameKey(t.Name, spanish),
		ExternalID: t.ExternalID, Metadata: t.Metadata, OwnerAssigned: t.OwnerAssigned, RequireMfaFrom: t.FactorFrom,
	})
	if err != nil || t.Name == old.Name && t.Slug == old.Slug && text(t.ExternalID) == text(old.ExternalID) {
		return sqldb.Wrap(err, "update tenant")
	}
	return s.putWords(ctx, t)
}

// listLapsedVAT returns up to n tenants whose VAT number has an unknown status and was last valid
// at or before the given time.
func (s store) listLapsedVAT(ctx context.Context, before time.Time, n int32) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).LapsedVATNumbers(ctx, tenantsql.LapsedVATNumbersParams{Before: before, Most: n})
	return ids, sqldb.Wrap(err, "list lapsed VAT numbers")
}

// markActive stores the last activity of a tenant.
func (s store) markActive(ctx context.Context, id uuid.UUID, at time.Time) error {
	err := s.q(ctx).MarkActive(ctx, tenantsql.MarkActiveParams{ID: id, LastActivityAt: &at})
	return sqldb.Wrap(err, "store last activity of tenant")
}

func (s store) delete(ctx context.Context, id uuid.UUID) error {
	if err := search.NewIndex(s.db).RemoveTenant(ctx, id); err != nil {
		return err
	}
	return sqldb.Wrap(s.q(ctx).DeleteTenant(ctx, id), "delete tenant")
}

// members lists a tenant's members in the order in which they joined.
func (s store) members(ctx context.Context, id uuid.UUID) ([]Member, error) {
	rows, err := s.q(ctx).Members(ctx, id)
	members := make([]Member, len(rows))
	for i, row := range rows {
		members[i] = memberOf(row)
	}
	return members, sqldb.Wrap(err, "list members")
}

// firstMembers lists the first n members in the order in which they joined.
func (s store) firstMembers(ctx context.Context, id uuid.UUID, n int32) ([]Member, error) {
	rows, err := s.q(ctx).FirstMembers(ctx, tenantsql.FirstMembersParams{TenantID: id, Most: n})
	members := make([]Member, len(rows))
	for i, row := range rows {
		members[i] = memberOf(tenantsql.MembersRow(row))
	}
	return members, sqldb.Wrap(err, "list the first members")
}

// ownerAndMember returns the owner and the given member, if they exist.
func (s store) ownerAndMember(ctx context.Context, id uuid.UUID, userID int64) ([]Member, error) {
	rows, err := s.q(ctx).OwnerAndMember(ctx, tenantsql.OwnerAndMemberParams{TenantID: id, UserID: userID, Owner: BuiltInOwner})
	members := make([]Member, len(rows))
	for i, row := range rows {
		members[i] = memberOf(tenantsql.MembersRow(row))
	}
	return members, sqldb.Wrap(err, "read owner and member")
}

func memberOf(row tenantsql.MembersRow) Member {
	return Member{UserID: row.ID, Name: row.Name, Email: row.Email, Locale: row.Locale, Role: row.RoleName, JoinedAt: row.JoinedAt}
}

// ownerLocale returns the language of a tenant's owner, or nil if they have not chosen one. It
// returns errNoOwner if there is no owner.
func (s store) ownerLocale(ctx context.Context, id uuid.UUID) (*string, error) {
	locale, err := s.q(ctx).OwnerLocale(ctx, tenantsql.OwnerLocaleParams{TenantID: id, Owner: BuiltInOwner})
	return locale, sqldb.WrapAbsent(err, "read the owner's language", errNoOwner)
}

// settingsOf returns the tenant that a user belongs to, with only its settings, or ErrNotFound.
func (s store) settingsOf(ctx context.Context, userID int64) (Tenant, error) {
	settings, err := s.q(ctx).SettingsOfUser(ctx, userID)
	return Tenant{Settings: settings}, sqldb.WrapAbsent(err, "read the settings of a user's tenant", ErrNotFound)
}

func (s store) deleteMember(ctx context.Context, id uuid.UUID, userID int64) error {
	err := s.q(ctx).DeleteMember(ctx, tenantsql.DeleteMemberParams{TenantID: id, UserID: userID})
	return sqldb.Wrap(err, "delete member")
}

func (s store) countMembers(ctx context.Context, id uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountMembers(ctx, id)
	return n, sqldb.Wrap(err, "count members")
}

// membership is a tenant that a user belongs to, and the user's role in the tenant. Only the fields
// that a profile shows are set.
type membership struct {
	tenant Tenant
	role   string
}

func (s store) membershipsOfUser(ctx context.Context, userID int64) ([]membership, error) {
	found, err := s.membershipsOf(ctx, []int64{userID})
	return found[userID], err
}

// membershipsOf returns the memberships of users, in the order in which the users joined.
func (s store) membershipsOf(ctx context.Context, userIDs []int64) (map[int64][]membership, error) {
	found := make(map[int64][]membership, len(userIDs))
	among, args := sqldb.InCondition(s.db, 1, "bigint", userIDs)
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "list memberships of users",
		Text: `SELECT m.user_id, t.id, t.name, t.slug, t.legal_name, t.address, t.city, t.postal_code, t.country, t.onboarding_completed_at, r.name
FROM memberships m
JOIN tenants t ON t.id = m.tenant_id
JOIN roles r ON r.id = m.role_id
WHERE m.user_id ` + among + `
ORDER BY m.joined_at`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id int64
			var m membership
			t, b := &m.tenant, &m.tenant.Billing
			err := scan(&id, &t.ID, &t.Name, &t.Slug, &b.LegalName, &b.Address, &b.City, &b.PostalCode, &b.Country, &t.OnboardingCompletedAt, &m.role)
			found[id] = append(found[id], m)
			return err
		},
	})
}
