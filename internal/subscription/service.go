package subscription

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/psp/promo"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/tenant"
)

// metering is the part of the meters that subscriptions use.
type metering interface {
	// MeteredPrices lists the provider's prices, in a currency, of the meters that are billed.
	MeteredPrices(ctx context.Context, currency string) ([]string, error)
	// PricesSoldAt returns the provider's prices, in a currency, of the meters that were billed at
	// the given time.
	PricesSoldAt(ctx context.Context, currency string, at time.Time) (map[uuid.UUID]string, error)
	// MetersOf returns the meters that the provider's prices belong to. It omits prices that never
	// belonged to a meter.
	MetersOf(ctx context.Context, pspPriceIDs []string) (map[string]uuid.UUID, error)
	// CodeOf returns the code of a meter, including deleted meters.
	CodeOf(ctx context.Context, meterID uuid.UUID) (string, error)
	// BillsEvery reports whether the provider can bill usage at the price, in the currency and at
	// the interval.
	BillsEvery(ctx context.Context, pspPriceID, currency string, every catalog.Interval) (bool, error)
}

// usageReporter reports a tenant's usage to the provider.
type usageReporter interface {
	// Settle returns once the provider has all of the tenant's usage.
	Settle(ctx context.Context, tenantID uuid.UUID) error
	// Flush does the same for a preview. It lets the tenant continue to record usage.
	Flush(ctx context.Context, tenantID uuid.UUID) error
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB           *sqldb.DB
	Clock        clock.Clock
	Lease        clock.Clock // the system clock; the lease of an operation runs on real time
	Jobs         *jobs.Queue
	Catalog      *catalog.Service
	Tenants      *tenant.Service
	Customers    *customer.Service
	Entitlements *entitlement.Service
	Provider     *psp.Client
	Wallet       customers.Wallet
	Items        subscriptions.Items
	Prices       *pricelink.Service
	Discounts    *discount.Service
	Codes        promo.Codes
	Contracts    subscriptions.Contracts
	Schedules    subscriptions.Schedules
	Metering     metering
	Usage        usageReporter
	Audit        *audit.Log
	Letters      *letters.Letters
	Events       hook.Outbox // nil disables events
	// Grace is how long a subscription that is past_due keeps its features.
	Grace time.Duration
	// BillingPage is the URL of the frontend's billing page.
	BillingPage string
	Tax         tenant.TaxRules
	// IssuesInvoices means that the service issues the invoices instead of the provider.
	IssuesInvoices bool
	Log            *slog.Logger
}

// Service implements the use cases of subscriptions.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// LoadCurrent returns the tenant's subscription that is not over, or ErrNotFound.
func (s *Service) LoadCurrent(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	return s.store.loadCurrent(ctx, tenantID)
}

// loadRunning returns the tenant's subscription that is active, trialing or past_due, which are the
// states that can be canceled, resumed and changed. It returns ErrNotFound if there is none.
func (s *Service) loadRunning(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	return s.runningLoader(tenantID)(ctx)
}

// ByPSPID returns the subscription with the given ID at the payment provider, or ErrNotFound.
func (s *Service) ByPSPID(ctx context.Context, id string) (Subscription, error) {
	return s.store.byPSPID(ctx, id)
}

// ListAll lists all subscriptions of a tenant in batches, newest first. It includes ended
// subscriptions.
func (s *Service) ListAll(tenantID uuid.UUID) page.NextPart[Subscription] {
	return page.ReadAfter(listStart, func(ctx context.Context, last Subscription, most int) ([]Subscription, error) {
		return s.store.listAfter(ctx, tenantID, last, most)
	})
}

// ListPage returns one page of the tenant's subscriptions, newest first, and their total number.
func (s *Service) ListPage(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]Subscription, int64, error) {
	return s.store.listPage(ctx, tenantID, q)
}

// Discard deletes the checkouts and the customer of a tenant, just before the tenant is deleted.
func (s *Service) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.deleteCheckouts(ctx, tenantID); err != nil {
			return err
		}
		if err := s.deps.Discounts.Discard(ctx, tenantID); err != nil {
			return err
		}
		return s.deps.Customers.Discard(ctx, tenantID)
	})
}
