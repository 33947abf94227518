// Package purchase sells packs: it opens a hosted checkout, and grants the units of a pack once the
// payment has succeeded (rules: catalog#purchases).
package purchase

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp/sale"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
)

// Tenants is the part of the tenant domain that this package uses.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// Lock also locks a deleted tenant, which can be restored.
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
}

// Customers creates the provider's customers.
type Customers interface {
	Ensure(ctx context.Context, t tenant.Tenant) (id string, err error)
}

// Sales opens and reads checkouts at the provider. sale.Sales implements it.
type Sales interface {
	Open(ctx context.Context, p sale.Params) (sale.Sale, error)
	Get(ctx context.Context, sessionID string) (sale.Sale, error)
	RefundedSale(ctx context.Context, chargeID string) (metadata map[string]string, whole bool, err error)
	Refund(ctx context.Context, sessionID, key string) error
}

// Prices checks which amounts the provider can charge.
type Prices interface {
	CheckAmount(ctx context.Context, currency string, amount, units int64) error
	ExplainAmount(cause error) error
}

// Currencies reports which currencies exist.
type Currencies interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
}

// Grants grants units to tenants. *usage.Service implements it.
type Grants interface {
	GrantPurchase(ctx context.Context, p usage.PurchasedGrant) error
	SetPurchaseInvoice(ctx context.Context, tenantID uuid.UUID, sessionID string, invoiceID uuid.UUID) error
	VoidPurchase(ctx context.Context, tenantID uuid.UUID, sessionID string) error
}

// Invoices stores the provider's invoices.
type Invoices interface {
	// Store stores an invoice as its notification would, and returns its ID in this service.
	Store(ctx context.Context, pspID string) (uuid.UUID, error)
}

// Audit is the audit log. *audit.Log implements it.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps are the dependencies of the service.
type Deps struct {
	DB         *sqldb.DB
	Clock      clock.Clock
	Packs      *pack.Service
	Currencies Currencies
	Tenants    Tenants
	Customers  Customers
	Sales      Sales
	Prices     Prices
	Grants     Grants
	Invoices   Invoices
	Audit      Audit
	Log        *slog.Logger
}

// Service sells packs. It is safe for concurrent use.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// purchase is a checkout of packs. It copies the pack, because the pack can change or be deleted
// before the payment.
type purchase struct {
	id, tenantID, packID uuid.UUID
	slug, featureCode    string
	amount               money.Quantity // of one pack
	expiresAfterDays     *int32
	currency             string
	priceCents           int64 // of one pack
	quantity             int64
	session              string // the provider's ID, "" until it has answered
	createdAt            time.Time
	completed, ended     bool
	refunded             bool
}

// total returns the units of all packs of the purchase.
func (p purchase) total() money.Total {
	fraction := int64(p.amount%money.One) * p.quantity
	return money.Total{
		Units:      int64(p.amount/money.One)*p.quantity + fraction/int64(money.One),
		Millionths: fraction % int64(money.One),
	}
}

// expiry returns when the units expire, or nil for never.
func (p purchase) expiry(paidAt time.Time) *time.Time {
	if p.expiresAfterDays == nil {
		return nil
	}
	at := paidAt.UTC().AddDate(0, 0, int(*p.expiresAfterDays))
	return &at
}

// Discard deletes the purchases of a tenant, just before the tenant's data is deleted.
func (s *Service) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return s.store.discard(ctx, tenantID)
}
