package purchase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/sale"
	"github.com/tenantry/tenantry/internal/usage"
)

// A session is read back at most every readBackInterval while the tenant lists its grants, and
// otherwise every sweepInterval. This ends after readBackWindow: a session is open for a day, and a
// bank debit takes up to two weeks.
const (
	readBackInterval = 3 * time.Second
	sweepInterval    = time.Hour
	readBackWindow   = 30 * 24 * time.Hour
	lookTimeout      = 5 * time.Second
	sweptPerRun      = 100
)

// SessionEvent handles notifications about checkout sessions. It ignores their content and reads the
// session, so late, repeated and reordered notifications all lead to the same state. It ignores
// unknown sessions: a session is stored before its URL is returned, so only stored ones can be paid.
// The session of a purchase that has ended is never granted.
func (s *Service) SessionEvent(ctx context.Context, e psp.Event) error {
	bought, err := s.store.ofSession(ctx, e.ObjectID)
	if errors.Is(err, errNoPurchase) || err == nil && bought.ended {
		return nil
	}
	if err != nil {
		return err
	}
	return s.readBack(ctx, bought)
}

// readBack reads the session of a purchase from the provider and stores its outcome.
func (s *Service) readBack(ctx context.Context, bought purchase) error {
	sold, err := s.deps.Sales.Get(ctx, bought.session)
	if err != nil {
		return psp.MarkPermanent(err)
	}
	switch {
	case sold.Status == psp.CheckoutExpired, sold.Failed:
		return s.store.end(ctx, bought, s.deps.Clock.Now())
	case sold.Status == psp.CheckoutComplete && sold.PaymentStatus == psp.PaymentPaid:
		return s.settle(ctx, bought, sold)
	}
	return nil
}

// errNoInvoice means that a purchase was granted, but its invoice was not issued yet. A notification is
// then retried.
var errNoInvoice = errors.New("the provider has not issued the invoice of the purchase yet")

// errDeletedTenant means that a purchase was paid after its tenant was deleted.
var errDeletedTenant = errors.New("the tenant of the purchase is deleted")

// settle grants a paid purchase and stores its invoice. The payment of a deleted tenant, which cannot
// use the units, is refunded instead. Without an invoice, which the provider may issue a moment
// later, the purchase is granted and stays open, and settle returns errNoInvoice.
//
// Invariant: a session is granted once, because its ID is unique among grants. Grants and refunds of
// a purchase run under the tenant's lock, and a refund is stored with the purchase even before the
// grant, so the order of their notifications does not matter.
func (s *Service) settle(ctx context.Context, bought purchase, sold sale.Sale) error {
	invoiceID, err := s.storeInvoice(ctx, sold)
	if err != nil {
		return err
	}
	paidAt := s.deps.Clock.Now()
	if sold.PaidAt != nil {
		paidAt = *sold.PaidAt
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, bought.tenantID)
		if err != nil {
			return err
		}
		now, err := s.store.load(ctx, bought.tenantID, bought.id)
		if err != nil {
			return err
		}
		if t.DeletedAt != nil && !now.completed {
			return errDeletedTenant
		}
		if err := s.deps.Grants.GrantPurchase(ctx, usage.PurchasedGrant{
			TenantID: now.tenantID, FeatureCode: now.featureCode, Amount: now.total(), ExpiresAt: now.expiry(paidAt),
			Pack: now.slug, SessionID: sold.SessionID, InvoiceID: invoiceID,
		}); err != nil {
			return err
		}
		if sold.Refunded || now.refunded {
			if err := s.void(ctx, now, sold.SessionID); err != nil {
				return err
			}
		}
		if invoiceID == nil {
			return nil
		}
		return s.complete(ctx, now, sold.SessionID, *invoiceID)
	})
	if err == nil && invoiceID == nil {
		return errNoInvoice
	}
	if !errors.Is(err, errDeletedTenant) {
		return err
	}
	if err := s.deps.Sales.Refund(ctx, sold.SessionID, "refund-"+sold.SessionID); err != nil {
		return psp.MarkPermanent(err)
	}
	return s.store.end(ctx, bought, s.deps.Clock.Now())
}

// storeInvoice stores the invoice of a sale and returns its ID, or nil if it was not issued yet.
func (s *Service) storeInvoice(ctx context.Context, sold sale.Sale) (*uuid.UUID, error) {
	if sold.InvoiceID == "" {
		return nil, nil //nolint:nilnil // there is no invoice
	}
	id, err := s.deps.Invoices.Store(ctx, sold.InvoiceID)
	return &id, err
}

// complete stores the invoice of a granted purchase and records the purchase in the audit trail.
func (s *Service) complete(ctx context.Context, bought purchase, session string, invoiceID uuid.UUID) error {
	if err := s.deps.Grants.SetPurchaseInvoice(ctx, bought.tenantID, session, invoiceID); err != nil {
		return err
	}
	first, err := s.store.complete(ctx, bought, s.deps.Clock.Now())
	if err != nil || !first {
		return err
	}
	return s.record(ctx, "pack.purchased", bought, map[string]any{
		"pack": bought.slug, "feature_code": bought.featureCode, "amount": bought.total(), "quantity": bought.quantity, "invoice_id": invoiceID,
	})
}

// RefundEvent handles the notification that a charge was refunded. Once the whole payment of a
// purchase was refunded, the rest of its grant is void. A partial refund changes nothing.
func (s *Service) RefundEvent(ctx context.Context, e psp.Event) error {
	metadata, whole, err := s.deps.Sales.RefundedSale(ctx, e.ObjectID)
	if err != nil {
		return psp.MarkPermanent(err)
	}
	id, err := uuid.Parse(metadata[metaPurchase])
	if err != nil || !whole {
		return nil //nolint:nilerr // the charge paid something else
	}
	tenantID, _ := uuid.Parse(metadata[metaTenant]) // Nil for an invalid ID; no purchase has it
	bought, err := s.store.load(ctx, tenantID, id)
	if errors.Is(err, errNoPurchase) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, bought.tenantID); err != nil {
			return err
		}
		now, err := s.store.load(ctx, bought.tenantID, bought.id)
		if err != nil {
			return err
		}
		return s.void(ctx, now, now.session)
	})
}

// void voids the rest of a refunded purchase's grant. The tenant must be locked.
func (s *Service) void(ctx context.Context, bought purchase, session string) error {
	if session != "" {
		if err := s.deps.Grants.VoidPurchase(ctx, bought.tenantID, session); err != nil {
			return err
		}
	}
	first, err := s.store.markRefunded(ctx, bought, s.deps.Clock.Now())
	if err != nil || !first {
		return err
	}
	return s.record(ctx, "pack.refunded", bought, map[string]any{"pack": bought.slug, "quantity": bought.quantity})
}

func (s *Service) record(ctx context.Context, action string, bought purchase, after map[string]any) error {
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &bought.tenantID, Resource: "pack", ResourceID: bought.packID.String(), After: after,
	})
}

// ReadOpen reads the tenant's open checkouts back from the provider, which detects a payment before
// its notification arrives. Requests that list the tenant's grants call it first. If the provider does
// not answer, they show the stored state.
//
// Invariant: across all requests and instances, only one request at a time reads a session back, and
// at most once per readBackInterval.
func (s *Service) ReadOpen(ctx context.Context, tenantID uuid.UUID) {
	now := s.deps.Clock.Now()
	open, err := s.store.openOfTenant(ctx, tenantID, now.Add(-readBackWindow))
	if err != nil {
		s.deps.Log.ErrorContext(ctx, "failed to list open purchases", "tenant_id", tenantID, "error", err)
		return
	}
	if len(open) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for _, bought := range open {
		if err := s.refresh(ctx, bought, now, readBackInterval); err != nil {
			s.deps.Log.WarnContext(ctx, "failed to read checkout of a pack", "tenant_id", tenantID, "error", err)
			return
		}
	}
}

// Sweep reads back open checkouts, in case their notifications were lost. It is a periodic job. If
// a checkout cannot be read, Sweep continues with the others.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.deps.Clock.Now()
	open, err := s.store.open(ctx, now.Add(-readBackWindow), now.Add(-sweepInterval), sweptPerRun)
	if err != nil {
		return err
	}
	var failures []error
	for _, bought := range open {
		if err := s.refresh(ctx, bought, now, sweepInterval); err != nil && !errors.Is(err, psp.ErrNotFound) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// refresh reads a purchase back unless that happened within the interval.
func (s *Service) refresh(ctx context.Context, bought purchase, now time.Time, interval time.Duration) error {
	claimed, err := s.store.claimReadBack(ctx, bought, now, now.Add(-interval))
	if err != nil || !claimed {
		return err
	}
	return s.readBack(ctx, bought)
}
