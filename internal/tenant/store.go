package tenant

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant/tenantsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *tenantsql.Queries { return tenantsql.New(s.db.Conn(ctx)) }

func toTenant(row tenantsql.Tenant) Tenant {
	return Tenant{
		ID: row.ID, Name: row.Name, Slug: row.Slug, Settings: row.Settings, PreferredCurrency: row.PreferredCurrency,
		Billing: BillingDetails{
			LegalName: row.LegalName, Address: row.Address, City: row.City, PostalCode: row.PostalCode,
			Country: row.Country, VATNumber: row.VATNumber, BillingEmail: row.BillingEmail,
		},
		OnboardingCompletedAt: row.OnboardingCompletedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}

type newTenant struct {
	id                   uuid.UUID
	name, slug, currency string
}

// insert tells false when the slug is taken.
func (s store) insert(ctx context.Context, n newTenant, now time.Time) (bool, error) {
	_, err := s.q(ctx).InsertTenant(ctx, tenantsql.InsertTenantParams{
		ID: n.id, Name: n.name, Slug: n.slug, PreferredCurrency: n.currency, CreatedAt: now,
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// insertMember tells false when the user is in a tenant already.
func (s store) insertMember(ctx context.Context, tenantID uuid.UUID, userID int64, role string, now time.Time) (bool, error) {
	_, err := s.q(ctx).InsertMember(ctx, tenantsql.InsertMemberParams{
		TenantID: tenantID, UserID: userID, Role: role, JoinedAt: now,
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (s store) get(ctx context.Context, id uuid.UUID) (Tenant, error) {
	row, err := s.q(ctx).Tenant(ctx, id)
	return toTenant(row), err
}

func (s store) lock(ctx context.Context, id uuid.UUID) (Tenant, error) {
	row, err := s.q(ctx).LockTenant(ctx, id)
	return toTenant(row), err
}

func (s store) update(ctx context.Context, t Tenant) error {
	return s.q(ctx).UpdateTenant(ctx, tenantsql.UpdateTenantParams{
		ID: t.ID, Name: t.Name, Slug: t.Slug, Settings: t.Settings, LegalName: t.Billing.LegalName, Address: t.Billing.Address, City: t.Billing.City,
		PostalCode: t.Billing.PostalCode, Country: t.Billing.Country, VATNumber: t.Billing.VATNumber,
		BillingEmail: t.Billing.BillingEmail, OnboardingCompletedAt: t.OnboardingCompletedAt, UpdatedAt: t.UpdatedAt,
	})
}

func (s store) members(ctx context.Context, id uuid.UUID) ([]Member, error) {
	rows, err := s.q(ctx).Members(ctx, id)
	members := make([]Member, len(rows))
	for i, row := range rows {
		members[i] = Member{UserID: row.ID, Name: row.Name, Email: row.Email, Role: row.RoleName, JoinedAt: row.JoinedAt}
	}
	return members, err
}
