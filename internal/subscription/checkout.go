package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// The metadata that a checkout leaves on the provider's objects, so that a
// notification finds its way back.
const (
	metaTenant   = "tenant_id"
	metaPlan     = "plan_id"
	metaCheckout = "checkout_id"
)

// CheckoutParams is what a tenant wants to subscribe to.
type CheckoutParams struct {
	PlanID     uuid.UUID
	Currency   string
	Quantity   int64 // seats; other plans have one unit whatever it says
	SuccessURL string
	CancelURL  string
	// BillingLater lets the billing details follow after the payment, as an
	// onboarding does.
	BillingLater bool
}

// Checkout opens a hosted checkout at the provider and returns its session. It
// refuses, in this order, an unknown plan or currency, a tenant that has a
// subscription, one without the billing details, a plan without a price in the
// currency, and fewer seats than members.
//
// Invariant: the checkout's row is committed before the provider is asked, and
// its id is the idempotency key; whatever fails on the way leaves no session
// that the service does not know of.
func (s *Service) Checkout(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (psp.Checkout, error) {
	plan, price, t, err := s.prepare(ctx, tenantID, &p)
	if err != nil {
		return psp.Checkout{}, err
	}
	c := checkout{
		id: sqldb.NewID(), tenantID: tenantID, planID: plan.ID,
		currency: price.Currency, priceCents: price.PriceCents, quantity: p.Quantity,
	}
	if err := s.store.insertCheckout(ctx, c, s.deps.Clock.Now()); err != nil {
		return psp.Checkout{}, err
	}
	customer, err := s.ensureCustomer(ctx, t)
	if err != nil {
		return psp.Checkout{}, err
	}
	pspPrice, err := s.deps.Prices.Ensure(ctx, plan.ID, price.ID)
	if err != nil {
		return psp.Checkout{}, err
	}
	session, err := s.deps.Provider.CreateCheckout(ctx, psp.CheckoutParams{
		Key: c.id.String(), CustomerID: customer, PriceID: pspPrice, Quantity: c.quantity,
		TrialDays: int(plan.TrialDays), Free: price.PriceCents == 0,
		SuccessURL: p.SuccessURL, CancelURL: p.CancelURL, Locale: i18n.Locale(ctx),
		Metadata: map[string]string{metaTenant: tenantID.String(), metaPlan: plan.ID.String(), metaCheckout: c.id.String()},
	})
	if err != nil {
		return psp.Checkout{}, err
	}
	return session, s.noteSession(ctx, c, session.ID)
}

// noteSession keeps the session of a checkout, and who opened it.
func (s *Service) noteSession(ctx context.Context, c checkout, session string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.setSession(ctx, c.id, session, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "checkout.opened", TenantID: &c.tenantID, Resource: "checkout", ResourceID: c.id.String(),
			After: map[string]any{"plan_id": c.planID, "currency": c.currency, "quantity": c.quantity},
		})
	})
}

// prepare checks everything that can be checked without the provider.
func (s *Service) prepare(ctx context.Context, tenantID uuid.UUID, p *CheckoutParams) (catalog.Plan, catalog.Price, tenant.Tenant, error) {
	fail := func(err error) (catalog.Plan, catalog.Price, tenant.Tenant, error) {
		return catalog.Plan{}, catalog.Price{}, tenant.Tenant{}, err
	}
	plan, err := s.deps.Catalog.Plan(ctx, p.PlanID)
	if errors.Is(err, catalog.ErrNotFound) || err == nil && !plan.OnSale() {
		return fail(errUnknownPlan)
	}
	if err != nil {
		return fail(err)
	}
	exists, err := s.deps.Catalog.CurrencyExists(ctx, p.Currency)
	if err != nil {
		return fail(err)
	}
	if !exists {
		return fail(errUnknownCurrency)
	}
	current, err := s.store.live(ctx, tenantID)
	if err != nil {
		return fail(err)
	}
	if current != nil {
		return fail(errAlreadyExists)
	}
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return fail(err)
	}
	if missing := t.Billing.Missing(); len(missing) > 0 && !p.BillingLater {
		return fail(errBillingNotReady.With("missing_fields", missing))
	}
	if plan, err = s.deps.Catalog.Offered(ctx, plan); err != nil {
		return fail(err)
	}
	price, ok := plan.PriceIn(p.Currency)
	if !ok && plan.PricingType == catalog.Seat {
		return fail(errSeatMisconfigured)
	}
	if !ok {
		return fail(errNotInCurrency)
	}
	if p.Quantity, err = s.quantity(ctx, tenantID, plan, p.Quantity); err != nil {
		return fail(err)
	}
	return plan, price, t, nil
}

// quantity is the number of units that a plan is bought with: seats, not fewer
// than the members, for a seat plan, and one for any other.
func (s *Service) quantity(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan, wanted int64) (int64, error) {
	if plan.PricingType != catalog.Seat {
		return 1, nil
	}
	members, err := s.deps.Tenants.CountMembers(ctx, tenantID)
	if err == nil && wanted < members {
		err = errFewerThanMembers
	}
	return wanted, err
}

// Customer returns the provider's customer of a tenant, "" when there is none.
func (s *Service) Customer(ctx context.Context, tenantID uuid.UUID) (string, error) {
	return s.store.customer(ctx, tenantID)
}

// ensureCustomer returns the provider's customer of a tenant, made at the first
// checkout. Two first checkouts at once keep one of the customers.
func (s *Service) ensureCustomer(ctx context.Context, t tenant.Tenant) (string, error) {
	id, err := s.store.customer(ctx, t.ID)
	if err != nil || id != "" {
		return id, err
	}
	text := func(field *string) string {
		if field == nil {
			return ""
		}
		return *field
	}
	id, err = s.deps.Provider.CreateCustomer(ctx, psp.CustomerParams{
		Key: "customer-" + t.ID.String(), TenantID: t.ID.String(), Name: text(t.Billing.LegalName),
		Email: text(t.Billing.BillingEmail), Address: text(t.Billing.Address), City: text(t.Billing.City),
		PostalCode: text(t.Billing.PostalCode), Country: text(t.Billing.Country), VATNumber: text(t.Billing.VATNumber),
		Locale: i18n.Locale(ctx),
	})
	if err != nil {
		return "", err
	}
	return s.store.saveCustomer(ctx, t.ID, id, s.deps.Clock.Now())
}
