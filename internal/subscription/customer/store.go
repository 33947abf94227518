package customer

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/customer/customersql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *customersql.Queries { return customersql.New(s.db.Conn(ctx)) }

// ofTenant returns the id of a tenant's customer, else ErrNone.
func (s store) ofTenant(ctx context.Context, tenantID uuid.UUID) (string, error) {
	id, err := s.q(ctx).CustomerOfTenant(ctx, tenantID)
	return id, sqldb.WrapAbsent(err, "read customer of tenant", ErrNone)
}

// tenantOf returns the tenant of a customer, else ErrForeign.
func (s store) tenantOf(ctx context.Context, id string) (uuid.UUID, error) {
	tenantID, err := s.q(ctx).TenantOfCustomer(ctx, id)
	return tenantID, sqldb.WrapAbsent(err, "read tenant of customer", ErrForeign)
}

// insert keeps the customer of a tenant that has none; of another it does nothing.
func (s store) insert(ctx context.Context, tenantID uuid.UUID, id string, now time.Time) error {
	err := s.q(ctx).InsertCustomer(ctx, customersql.InsertCustomerParams{TenantID: tenantID, PSPCustomerID: id, CreatedAt: now})
	return sqldb.Wrap(err, "insert customer")
}

// remove takes a customer off its tenant and reports whether it was the tenant's.
func (s store) remove(ctx context.Context, tenantID uuid.UUID, id string) (bool, error) {
	n, err := s.q(ctx).ForgetCustomer(ctx, customersql.ForgetCustomerParams{TenantID: tenantID, PSPCustomerID: id})
	return n == 1, sqldb.Wrap(err, "remove customer")
}

// keepFormer notes that a customer of a tenant was deleted at the provider.
func (s store) keepFormer(ctx context.Context, tenantID uuid.UUID, id string, now time.Time) error {
	err := s.q(ctx).KeepFormerCustomer(ctx, customersql.KeepFormerCustomerParams{PSPCustomerID: id, TenantID: tenantID, DeletedAt: now})
	return sqldb.Wrap(err, "keep former customer")
}

func (s store) countFormer(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountFormerCustomers(ctx, tenantID)
	return n, sqldb.Wrap(err, "count former customers")
}

// discard deletes the customers of a tenant, former ones too.
func (s store) discard(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.q(ctx).DeleteFormerCustomers(ctx, tenantID); err != nil {
		return sqldb.Wrap(err, "delete former customers")
	}
	return sqldb.Wrap(s.q(ctx).DeleteCustomer(ctx, tenantID), "delete customer")
}
