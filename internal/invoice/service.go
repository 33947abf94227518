package invoice

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Provider is the part of the payment provider's API that this package uses. *psp.Client implements
// it.
type Provider interface {
	ListInvoices(ctx context.Context, q psp.InvoiceQuery) (psp.InvoicePage, error)
	GetInvoice(ctx context.Context, id string) (psp.Invoice, error)
	VoidInvoice(ctx context.Context, id, key string) error
	PayInvoice(ctx context.Context, id, key string) error
	MarkPaid(ctx context.Context, id, key string) error
	FinalizeInvoice(ctx context.Context, id string) error
	HasEnded(ctx context.Context, subscriptionID string) (bool, error)
}

// Documents downloads the provider's documents. *invoices.Documents implements it.
type Documents interface {
	Fetch(ctx context.Context, link string) (invoices.Document, error)
}

// Tenants is the part of the tenant domain that this package uses.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	BillingEmail(ctx context.Context, t tenant.Tenant) (*string, error)
}

// Subscriptions is the part of the subscription domain that this package uses.
type Subscriptions interface {
	// SubscriptionEvent stores the provider's current state of a subscription.
	SubscriptionEvent(ctx context.Context, e psp.Event) error
	// RecordPayment records that an invoice above 0 was paid. The invoice bills the plans in the
	// provider's subscription. It is called under the tenant's lock.
	RecordPayment(ctx context.Context, tenantID uuid.UUID, pspID string, plans []uuid.UUID, at time.Time) error
}

// Audit is the audit log. *audit.Log implements it.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Letters sends mails to tenants. *letters.Letters implements it.
type Letters interface {
	PaymentFailed(ctx context.Context, locale, to string, p letters.PaymentFailed) error
	// Receipt does nothing if SendsReceipts returns false.
	Receipt(ctx context.Context, locale, to string, r letters.Receipt) error
	SendsReceipts() bool
	// LastAttempt does nothing if the mail is not enabled.
	LastAttempt(ctx context.Context, locale, to string, a letters.LastAttempt) error
	Sends(name string) bool
	Invoice(ctx context.Context, locale, to string, i letters.Invoice, files ...mail.Attachment) error
	InvoiceReminder(ctx context.Context, locale, to string, i letters.Invoice) error
}

// Deps are the dependencies of the service.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Lease         clock.Clock // the system clock
	Jobs          *jobs.Queue
	Tenants       Tenants
	Subscriptions Subscriptions
	Provider      Provider
	Documents     Documents
	Payments      *payments.Book
	Letters       Letters
	Audit         Audit
	Events        hook.Outbox // nil publishes no events
	// Issuing configures the invoices that this service issues. It is nil if the provider issues
	// them (rules: invoices#source).
	Issuing *IssuingConfig
	// Attempts is the number of attempts to collect an invoice.
	Attempts int
	// Reminders are the days from the due date on which an unpaid invoice is mailed again.
	Reminders []int
	// TimeZone is the seller's time zone, which decides whether an invoice is overdue. Nil means UTC.
	TimeZone *time.Location
	Log      *slog.Logger
}

// source is the source of invoices.
type source interface {
	// list returns a page of invoices and the total count, newest issue date first. An empty status
	// matches any.
	list(ctx context.Context, tenantID uuid.UUID, status Status, q page.Query) ([]Invoice, int64, error)
	// get returns errNotFound if the tenant has no such invoice.
	get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error)
	// document returns errNotFound if the invoice does not exist or has no document yet.
	document(ctx context.Context, tenantID, id uuid.UUID) (Document, error)
}

// Service implements the use cases of invoices.
type Service struct {
	deps   Deps
	store  store
	source source
}

// NewService returns a Service.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	if d.Issuing == nil {
		s.source = remoteSource{store: s.store, tenants: d.Tenants, provider: d.Provider, documents: d.Documents, payments: d.Payments, clock: d.Clock}
		return s
	}
	s.source = localSource{s.store}
	return s
}

// ForgetCopies deletes the copies of the provider's invoices of a tenant whose data is purged.
func (s *Service) ForgetCopies(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		return s.store.forgetCopies(ctx, tenantID)
	})
}

// Get returns an invoice of a tenant, or a 404 error.
func (s *Service) Get(ctx context.Context, tenantID, id uuid.UUID) (Invoice, error) {
	return s.source.get(ctx, tenantID, id)
}
