package invoice

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/document"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Provider is what invoices need of the payment provider; *psp.Client is one.
type Provider interface {
	ListInvoices(ctx context.Context, q psp.InvoiceQuery) (psp.InvoicePage, error)
	GetInvoice(ctx context.Context, id string) (psp.Invoice, error)
	VoidInvoice(ctx context.Context, id, key string) error
	PayInvoice(ctx context.Context, id, key string) error
}

// Documents fetches what the provider's invoices link to; *document.Client does.
type Documents interface {
	Fetch(ctx context.Context, link string) (document.Document, error)
}

// Tenants is what invoices need of the tenant domain.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	BillingEmail(ctx context.Context, t tenant.Tenant) (*string, error)
}

// Subscriptions is what invoices need of the subscription domain.
type Subscriptions interface {
	// SubscriptionEvent stores the provider's current state of a subscription.
	SubscriptionEvent(ctx context.Context, e psp.Event) error
}

// Audit is the audit trail; *audit.Log is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Letters sends mails to tenants; *letters.Letters does.
type Letters interface {
	PaymentFailed(ctx context.Context, locale, to string, p letters.PaymentFailed) error
	// Receipt sends nothing unless SendsReceipts.
	Receipt(ctx context.Context, locale, to string, r letters.Receipt) error
	SendsReceipts() bool
}

// Deps is what the service needs.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Jobs          *jobs.Queue
	Tenants       Tenants
	Subscriptions Subscriptions
	Provider      Provider
	Documents     Documents
	Payments      *payments.Book
	Letters       Letters
	Audit         Audit
	Events        hook.Outbox // nil tells nobody
	// Issuing says how invoices are issued here; nil where they are the provider's
	// (rules: invoices#source).
	Issuing *Issuing
	Log     *slog.Logger
}

// source is where invoices come from.
type source interface {
	// list returns the page that q asks for and how many there are in all, the
	// newest issue date first. status is "" for any.
	list(ctx context.Context, tenantID uuid.UUID, status Status, q page.Query) ([]Invoice, int64, error)
	// get returns errNotFound where the tenant has no such invoice.
	get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error)
	// document returns errNotFound where there is no such invoice or no document yet.
	document(ctx context.Context, tenantID, id uuid.UUID) (Document, error)
}

// Service has the use cases of invoices.
type Service struct {
	deps   Deps
	store  store
	source source
}

// NewService returns the service.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	if d.Issuing == nil {
		s.source = remote{store: s.store, tenants: d.Tenants, provider: d.Provider, documents: d.Documents, payments: d.Payments, clock: d.Clock}
		return s
	}
	s.source = local{s.store}
	return s
}

// Get returns an invoice of a tenant, a 404 error where there is none.
func (s *Service) Get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	return s.source.get(ctx, tenantID, id)
}
