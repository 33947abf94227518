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

// byTenant returns the ID of a tenant's customer, or ErrNone.
func (s store) byTenant(ctx context.Context, tenantID uuid.UUID) (string, error) {
	id, err := s.q(ctx).CustomerOfTenant(ctx, tenantID)
	return id, sqldb.WrapAbsent(err, "read customer of tenant", ErrNone)
}

// tenantOf returns the tenant of a customer, or ErrForeign.
func (s store) tenantOf(ctx context.Context, id string) (uuid.UUID, error) {
	tenantID, err := s.q(ctx).TenantOfCustomer(ctx, id)
	return tenantID, sqldb.WrapAbsent(err, "read tenant of customer", ErrForeign)
}

// insert stores the customer of a tenant. If the tenant already has one, it does nothing.
func (s store) insert(ctx context.Context, tenantID uuid.UUID, id string, now time.Time) error {
	err := s.q(ctx).InsertCustomer(ctx, customersql.InsertCustomerParams{TenantID: tenantID, PSPCustomerID: id, CreatedAt: now})
	return sqldb.Wrap(err, "insert customer")
}

// remove removes a customer from its tenant. It reports whether the customer belonged to the
// tenant.
func (s store) remove(ctx context.Context, tenantID uuid.UUID, id string) (bool, error) {
	n, err := s.q(ctx).ForgetCustomer(ctx, customersql.ForgetCustomerParams{TenantID: tenantID, PSPCustomerID: id})
	return n == 1, sqldb.Wrap(err, "remove customer")
}

// storeFormer records that a tenant's customer was deleted at the provider.
func (s store) storeFormer(ctx context.Context, tenantID uuid.UUID, id string, now time.Time) error {
	err := s.q(ctx).InsertFormerCustomer(ctx, customersql.InsertFormerCustomerParams{PSPCustomerID: id, TenantID: tenantID, DeletedAt: now})
	return sqldb.Wrap(err, "store former customer")
}

func (s store) countFormer(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountFormerCustomers(ctx, tenantID)
	return n, sqldb.Wrap(err, "count former customers")
}

// registration is the registration of a tenant's VAT number as the tax ID of its customer.
type registration struct {
	customerID string
	version    int64
	id         taxID      // zero without a number to register
	pspID      string     // empty until the provider accepts the tax ID
	answeredAt *time.Time // when the registry last answered
}

// taxID is a tax ID in the provider's format.
type taxID struct{ kind, value string }

// registration returns the registration of a tenant, or ErrNone.
func (s store) registration(ctx context.Context, tenantID uuid.UUID) (registration, error) {
	row, err := s.q(ctx).Registration(ctx, tenantID)
	r := registration{customerID: row.PSPCustomerID, version: row.TaxIDVersion, answeredAt: row.TaxIDAnsweredAt}
	if row.TaxIDType != nil && row.TaxIDValue != nil {
		r.id = taxID{*row.TaxIDType, *row.TaxIDValue}
	}
	if row.PSPTaxID != nil {
		r.pspID = *row.PSPTaxID
	}
	return r, sqldb.WrapAbsent(err, "read tax ID of tenant", ErrNone)
}

// tenantOfTaxID returns the tenant whose customer has the tax ID, or ErrForeign.
func (s store) tenantOfTaxID(ctx context.Context, pspID string) (uuid.UUID, error) {
	tenantID, err := s.q(ctx).TenantOfTaxID(ctx, &pspID)
	return tenantID, sqldb.WrapAbsent(err, "read tenant of tax ID", ErrForeign)
}

// beginRegistration replaces a registration by a new one, unless another request already did.
func (s store) beginRegistration(ctx context.Context, tenantID uuid.UUID, old registration, id taxID) error {
	p := customersql.BeginRegistrationParams{TenantID: tenantID, PSPCustomerID: old.customerID, Version: old.version}
	if id != (taxID{}) {
		p.Type, p.Value = &id.kind, &id.value
	}
	_, err := s.q(ctx).BeginRegistration(ctx, p)
	return sqldb.Wrap(err, "begin registration")
}

// setTaxID stores the provider's ID for a registration, unless the registration was replaced.
func (s store) setTaxID(ctx context.Context, tenantID uuid.UUID, r registration, pspID string) error {
	_, err := s.q(ctx).SetTaxID(ctx, customersql.SetTaxIDParams{
		TenantID: tenantID, PSPCustomerID: r.customerID, TaxIDVersion: r.version, PSPTaxID: &pspID,
	})
	return sqldb.Wrap(err, "store tax ID")
}

func (s store) setAnswered(ctx context.Context, tenantID uuid.UUID, version int64, now time.Time) error {
	err := s.q(ctx).SetAnswered(ctx, customersql.SetAnsweredParams{TenantID: tenantID, TaxIDVersion: version, TaxIDAnsweredAt: &now})
	return sqldb.Wrap(err, "store response time")
}

// listStale returns up to n subscribed tenants whose VAT number was last checked at or before the
// given time.
func (s store) listStale(ctx context.Context, before time.Time, n int32) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).StaleRegistrations(ctx, customersql.StaleRegistrationsParams{Before: before, Most: n})
	return ids, sqldb.Wrap(err, "list stale registrations")
}

// discard deletes the customers of a tenant, including former ones.
func (s store) discard(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.q(ctx).DeleteFormerCustomers(ctx, tenantID); err != nil {
		return sqldb.Wrap(err, "delete former customers")
	}
	return sqldb.Wrap(s.q(ctx).DeleteCustomer(ctx, tenantID), "delete customer")
}
