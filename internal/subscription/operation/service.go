// Package operation has what changes a running subscription: cancel, resume, another
// plan with its preview, and the number of seats. Each change is an operation: a
// write to the provider that is stored before it is made
// (rules: subscription#operations).
package operation

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/charge"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Provider is what operations need of the payment provider; *psp.Client is one.
type Provider interface {
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
	SetCancelAtPeriodEnd(ctx context.Context, id string, ends bool, key string) (psp.Subscription, error)
	ClearCancelAt(ctx context.Context, id, key string) (psp.Subscription, error)
	EndSubscription(ctx context.Context, id, key string) (psp.Subscription, error)
	PreviewChange(ctx context.Context, c psp.Change) (psp.Invoice, error)
	ChangeSubscription(ctx context.Context, c psp.Change, metadata map[string]string, key string) (psp.Subscription, error)
	AwaitChange(ctx context.Context, c psp.Change, key string) (psp.Subscription, error)
	VoidInvoice(ctx context.Context, id, key string) error
	ListInvoices(ctx context.Context, q psp.InvoiceQuery) (psp.InvoicePage, error)
	GetInvoice(ctx context.Context, id string) (psp.Invoice, error)
	PayInvoice(ctx context.Context, id, key string) error
	ChangeMetered(ctx context.Context, id string, changes []psp.MeteredChange, key string) (psp.Subscription, error)
	SetQuantity(ctx context.Context, c psp.Change, monthly bool, key string) (psp.Subscription, error)
	CollectDue(ctx context.Context, subscriptionID, key string) error
	GivenBack(ctx context.Context, in psp.Invoice) (int64, error)
	UnitsRead(ctx context.Context, currency string) (charge.Units, error)
}

// Tenants is what operations need of the tenant domain.
type Tenants interface {
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	CountMembers(ctx context.Context, id uuid.UUID) (int64, error)
}

// Deps is what the service needs.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Lease         clock.Clock // the machine's, which says what is abandoned
	Jobs          *jobs.Queue
	Subscriptions *subscription.Service
	Catalog       *catalog.Service
	Tenants       Tenants
	Entitlements  *entitlement.Service
	Provider      Provider
	Items         Items
	Prices        subscription.Prices
	Audit         subscription.Audit
	Usage         Usage
	Metering      Metering
	Log           *slog.Logger
}

// Usage tells the provider what a tenant has used.
type Usage interface {
	// Settle returns once the provider was told of everything.
	Settle(ctx context.Context, tenantID uuid.UUID) error
	// Flush is Settle for a preview, while the tenant goes on recording.
	Flush(ctx context.Context, tenantID uuid.UUID) error
}

// Service has the use cases that change a running subscription.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }
