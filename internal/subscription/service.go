package subscription

import (
	"context"
	"iter"
	"log/slog"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Provider is what subscriptions need of the payment provider; *psp.Client is
// one.
type Provider interface {
	CreateCustomer(ctx context.Context, p psp.CustomerParams) (string, error)
	UpdateCustomer(ctx context.Context, id string, p psp.CustomerParams) error
	CustomerDeleted(ctx context.Context, id string) (bool, error)
	CreateCheckout(ctx context.Context, p psp.CheckoutParams) (psp.Checkout, error)
	GetCheckout(ctx context.Context, id string) (psp.Checkout, error)
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
	Subscriptions(ctx context.Context, customerID, after string) iter.Seq2[psp.Subscription, error]
	SetCancelAtPeriodEnd(ctx context.Context, id string, ends bool, key string) (psp.Subscription, error)
	CancelSubscription(ctx context.Context, id, key string) (psp.Subscription, error)
	PreviewChange(ctx context.Context, c psp.Change) (psp.Invoice, error)
	ChangeSubscription(ctx context.Context, c psp.Change, metadata map[string]string, key string) (psp.Subscription, error)
	SetQuantity(ctx context.Context, id, itemID string, quantity int64, key string) (psp.Subscription, error)
	CreatePortal(ctx context.Context, p psp.PortalParams) (string, error)
	RefundCheckout(ctx context.Context, sessionID, key string) error
}

// Tenants is what subscriptions need of the tenant domain.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	CountMembers(ctx context.Context, id uuid.UUID) (int64, error)
	BillingEmail(ctx context.Context, t tenant.Tenant) (*string, error)
}

// Prices finds, or makes, the provider's price of a plan's price;
// *catalog.PSPPrices is one.
type Prices interface {
	Ensure(ctx context.Context, planID, priceID uuid.UUID) (string, error)
}

// Consumption tells what a tenant uses of each metered feature in the current
// period, rounded up to whole units, by feature code.
type Consumption interface {
	Current(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error)
}

// MeteredPrices tells what usage is billed by.
type MeteredPrices interface {
	// MeteredPrices lists the provider's prices in a currency of the meters that
	// are billed.
	MeteredPrices(ctx context.Context, currency string) ([]string, error)
}

// Audit keeps the trail of what was changed; *audit.Log is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps is what the service needs.
type Deps struct {
	DB          *sqldb.DB
	Clock       clock.Clock
	Jobs        *jobs.Queue
	Catalog     *catalog.Service
	Tenants     Tenants
	Provider    Provider
	Prices      Prices
	Consumption Consumption
	Metered     MeteredPrices // nil bills no usage
	Audit       Audit
	Letters     Letters // needed by TrialEvent alone
	Log         *slog.Logger
	// FrontendURL, without a slash at its end, is where the billing portal leads
	// back to.
	FrontendURL string
}

// Service has the use cases of subscriptions.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service, and gives the queue its jobs.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	lane := d.Jobs.Lane(psp.Lane)
	lane.Handle(jobRefuse, s.refuse)
	lane.Handle(jobRetire, s.retire)
	lane.Handle(jobCustomer, s.updateCustomer)
	lane.Handle(jobSeats, s.followTeam)
	s.Comparison().Handle()
	return s
}

// Current returns the tenant's subscription that is not over, else nil.
func (s *Service) Current(ctx context.Context, tenantID uuid.UUID) (*Subscription, error) {
	return s.store.live(ctx, tenantID)
}

// OfTenant lists every subscription that a tenant has had, the newest first.
func (s *Service) OfTenant(ctx context.Context, tenantID uuid.UUID) ([]Subscription, error) {
	rows, err := s.store.q(ctx).SubscriptionsOfTenant(ctx, tenantID)
	return toSubscriptions(rows, err)
}

// HasActive tells whether the tenant has a subscription that grants features.
func (s *Service) HasActive(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	return s.store.q(ctx).HasActiveSubscription(ctx, tenantID)
}
