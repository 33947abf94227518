package subscription

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/subscription/trial"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Provider is what subscriptions need of the payment provider; *psp.Client is
// one.
type Provider interface {
	CustomerDeleted(ctx context.Context, id string) (bool, error)
	CreateCheckout(ctx context.Context, p psp.CheckoutParams) (psp.Checkout, error)
	GetCheckout(ctx context.Context, id string) (psp.Checkout, error)
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
	CancelSubscription(ctx context.Context, id, key string) (psp.Subscription, error)
	EndSubscription(ctx context.Context, id, key string) (psp.Subscription, error)
	RefundCheckout(ctx context.Context, sessionID, key string) error
	OtherCurrency(ctx context.Context, customerID, currency string) (string, error)
	CustomerCredit(ctx context.Context, customerID, currency string) (int64, error)
}

// Tenants is what subscriptions need of the tenant domain.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	CountMembers(ctx context.Context, id uuid.UUID) (int64, error)
	PreferCurrency(ctx context.Context, id uuid.UUID, currency string) error
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	BillingEmail(ctx context.Context, t tenant.Tenant) (*string, error)
}

// Prices finds, or makes, the provider's price of a plan's price, and decides whether
// it is sold.
type Prices interface {
	// Sellable refuses (plan_not_sellable) what the provider would refuse, or would
	// charge otherwise than it is shown.
	Sellable(ctx context.Context, plan catalog.Plan, price catalog.Price, units int64) error
	// Refused returns why the provider refused to sell, as Sellable says now, else the
	// cause.
	Refused(ctx context.Context, plan catalog.Plan, price catalog.Price, units int64, cause error) error
	Ensure(ctx context.Context, planID, priceID uuid.UUID) (string, error)
}

// Metering knows what bills usage.
type Metering interface {
	// MeteredPrices lists the provider's prices in a currency of the meters that
	// are billed.
	MeteredPrices(ctx context.Context, currency string) ([]string, error)
	// Settle returns once the provider was told of everything that a tenant used.
	Settle(ctx context.Context, tenantID uuid.UUID) error
}

// Audit keeps the trail of what was changed; *audit.Log is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Operations is what follows from a stored state in the package above, which changes
// subscriptions; *operation.Service does it. All but PlanAsked are called in the
// transaction that stores the state.
type Operations interface {
	// PlanAsked returns the plan that a pending operation asks for at a price of the
	// provider, Nil if none does.
	PlanAsked(ctx context.Context, sub Subscription, pspPriceID string) (uuid.UUID, error)
	// RecordEffect adds to the audit trail what led from one state to the other: an
	// operation, or the end of a change that waited.
	RecordEffect(ctx context.Context, before, after Subscription) error
	// PeriodBegan has the items that bill usage follow what is sold.
	PeriodBegan(ctx context.Context, sub Subscription) error
	// SeatsChanged has the billed quantity follow the team.
	SeatsChanged(ctx context.Context, tenantID uuid.UUID) error
}

// Deps is what the service needs.
type Deps struct {
	DB           *sqldb.DB
	Clock        clock.Clock
	Jobs         *jobs.Queue
	Catalog      *catalog.Service
	Tenants      Tenants
	Customers    *customer.Service
	Entitlements *entitlement.Service
	Trials       *trial.Record
	Provider     Provider
	Prices       Prices
	Metered      Metering // nil bills no usage, and handles no jobs
	Operations   Operations
	Audit        Audit
	Letters      Letters     // needed by TrialEvent alone
	Events       hook.Outbox // nil tells nobody
	// IssuesInvoices says that the service issues the invoices, not the provider.
	IssuesInvoices bool
	Log            *slog.Logger
}

// Service has the use cases of subscriptions.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// Current returns the tenant's subscription that is not over, else ErrNotFound.
func (s *Service) Current(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	return s.store.live(ctx, tenantID)
}

// Running returns the tenant's subscription that is active, trialing or past_due:
// the one that can be canceled, resumed and changed. A tenant without one gives
// ErrNotFound.
func (s *Service) Running(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	sub, err := s.store.live(ctx, tenantID)
	if err == nil && !sub.Status.Running() {
		err = ErrNotFound
	}
	return sub, err
}

// ByPSPID returns the subscription that has an id at the payment provider, else
// ErrNotFound.
func (s *Service) ByPSPID(ctx context.Context, id string) (Subscription, error) {
	return s.store.byPSPID(ctx, id)
}

// Get returns a subscription of a tenant, else ErrNotFound.
func (s *Service) Get(ctx context.Context, tenantID, id uuid.UUID) (Subscription, error) {
	return s.store.ofTenant(ctx, tenantID, id)
}

// OfTenant lists every subscription that a tenant has had in parts, the newest first.
func (s *Service) OfTenant(tenantID uuid.UUID) page.Next[Subscription] {
	return page.After(newest, func(ctx context.Context, last Subscription, most int) ([]Subscription, error) {
		return s.store.allAfter(ctx, tenantID, last, most)
	})
}

// OfTenantOnPage lists the subscriptions on a page of that list, and how many there are on all.
func (s *Service) OfTenantOnPage(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]Subscription, int64, error) {
	return s.store.allOnPage(ctx, tenantID, q)
}

// Discard deletes the checkouts and the customer of a tenant that is about to be
// deleted itself.
func (s *Service) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.deleteCheckouts(ctx, tenantID); err != nil {
			return err
		}
		return s.deps.Customers.Discard(ctx, tenantID)
	})
}
