package subscription

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
	"github.com/tenantry/tenantry/internal/tenant"
)

// The metadata that a checkout leaves on the provider's objects, so that a
// notification finds its way back.
const (
	metaTenant   = "tenant_id"
	metaPlan     = "plan_id"
	metaCheckout = "checkout_id"
)

// continuable is how long a checkout that was not answered is continued by its
// repetition: a session that nobody was told of expires by itself, while a failure
// that the provider repeats with the key must not keep a tenant from paying.
const continuable = 10 * time.Minute

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
func (s *Service) Checkout(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (psp.Checkout, error) {
	o, err := s.prepare(ctx, tenantID, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	return s.open(ctx, o)
}

// order is what a checkout sells.
type order struct {
	tenant     tenant.Tenant
	plan       catalog.Plan
	price      catalog.Price
	quantity   int64
	successURL string
	cancelURL  string
	replaces   *Subscription // the free one whose place the new one takes, else nil
}

// open opens a checkout for an order that is in order.
//
// Invariant: the checkout's row is committed before the provider is asked, and
// its id is the idempotency key; whatever fails on the way leaves no session
// that the service does not know of.
func (s *Service) open(ctx context.Context, o order) (psp.Checkout, error) {
	p, err := s.checkoutParams(ctx, o)
	if err != nil {
		return psp.Checkout{}, err
	}
	id, err := s.attempt(ctx, o, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	p.Key = id.String()
	p.Metadata = map[string]string{metaTenant: o.tenant.ID.String(), metaPlan: o.plan.ID.String(), metaCheckout: id.String()}
	session, err := s.deps.Provider.CreateCheckout(ctx, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	return session, s.noteSession(ctx, id, o, session.ID)
}

// checkoutParams is what the provider is asked for, but for what names the
// checkout; the customer and the prices are made where they are missing.
func (s *Service) checkoutParams(ctx context.Context, o order) (psp.CheckoutParams, error) {
	p := psp.CheckoutParams{
		Quantity: o.quantity, SuccessURL: o.successURL, CancelURL: o.cancelURL, Locale: i18n.Locale(ctx),
	}
	var err error
	if p.CustomerID, err = s.ensureCustomer(ctx, o.tenant); err != nil {
		return p, err
	}
	if p.PriceID, err = s.deps.Prices.Ensure(ctx, o.plan.ID, o.price.ID); err != nil {
		return p, err
	}
	if p.MeteredPriceIDs, err = s.meteredPrices(ctx, o); err != nil {
		return p, err
	}
	p.Free = o.price.PriceCents == 0 && len(p.MeteredPriceIDs) == 0
	p.TrialDays, err = s.trialDays(ctx, o.tenant.ID, o.plan)
	return p, err
}

// attempt stores a checkout that is about to be opened, and returns its id. An
// attempt that was never answered is continued by whoever asks for the same within
// continuable, so that it opens one session only, even if several do so at once:
// the id follows from what is asked for, and from the last one that was answered.
func (s *Service) attempt(ctx context.Context, o order, p psp.CheckoutParams) (uuid.UUID, error) {
	last, err := s.store.lastAnswered(ctx, o.tenant.ID, o.plan.ID)
	if err != nil {
		return uuid.Nil, err
	}
	var replaces uuid.UUID
	if o.replaces != nil {
		replaces = o.replaces.ID
	}
	now := s.deps.Clock.Now()
	for n := 0; ; n++ {
		id := uuid.NewHash(sha256.New(), o.tenant.ID, fmt.Appendf(nil, "%s %d %s %s %#v", last, n, o.plan.ID, replaces, p), 8)
		if err := s.store.insertCheckout(ctx, id, o, now); err != nil {
			return uuid.Nil, err
		}
		c, err := s.store.q(ctx).Checkout(ctx, id)
		if err != nil {
			return uuid.Nil, err
		}
		if now.Sub(c.CreatedAt) < continuable && c.CompletedAt == nil && c.ExpiredAt == nil {
			return id, nil
		}
	}
}

// noteSession keeps the session of a checkout, and who opened it.
func (s *Service) noteSession(ctx context.Context, id uuid.UUID, o order, session string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		first, err := s.store.setSession(ctx, id, session, s.deps.Clock.Now())
		if err != nil || !first {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "checkout.opened", TenantID: &o.tenant.ID, Resource: "checkout", ResourceID: id.String(),
			After: map[string]any{"plan_id": o.plan.ID, "currency": o.price.Currency, "quantity": o.quantity},
		})
	})
}

// trialDays is how long the trial is that a new subscription begins with: the
// plan's, but a tenant has one trial of a product only.
func (s *Service) trialDays(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) (int, error) {
	if plan.TrialDays == 0 {
		return 0, nil
	}
	had, err := s.store.q(ctx).HadTrial(ctx, subscriptionsql.HadTrialParams{TenantID: tenantID, ProductID: plan.Product.ID})
	if err != nil || had {
		return 0, err
	}
	return int(plan.TrialDays), nil
}

// meteredPrices are what else a usage plan sells: the provider's prices of the
// meters that are billed.
func (s *Service) meteredPrices(ctx context.Context, o order) ([]string, error) {
	if o.plan.PricingType != catalog.Usage || s.deps.Metered == nil {
		return nil, nil
	}
	return s.deps.Metered.MeteredPrices(ctx, o.price.Currency)
}

// prepare checks everything that can be checked without the provider.
func (s *Service) prepare(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (order, error) {
	plan, err := s.planOnSale(ctx, p.PlanID, "plan_id")
	if err != nil {
		return order{}, err
	}
	exists, err := s.deps.Catalog.CurrencyExists(ctx, p.Currency)
	if err != nil {
		return order{}, err
	}
	if !exists {
		return order{}, errUnknownCurrency
	}
	current, err := s.store.live(ctx, tenantID)
	if err != nil {
		return order{}, err
	}
	if current != nil {
		return order{}, errAlreadyExists
	}
	t, err := s.billable(ctx, tenantID, p.BillingLater)
	if err != nil {
		return order{}, err
	}
	if plan, err = s.deps.Catalog.Offered(ctx, plan); err != nil {
		return order{}, err
	}
	price, ok := plan.PriceIn(p.Currency)
	if !ok && plan.PricingType == catalog.Seat {
		return order{}, errSeatMisconfigured
	}
	if !ok {
		return order{}, errNotInCurrency
	}
	quantity, err := s.quantity(ctx, tenantID, plan, p.Quantity)
	return order{
		tenant: t, plan: plan, price: price, quantity: quantity, successURL: p.SuccessURL, cancelURL: p.CancelURL,
	}, err
}

// planOnSale returns a plan that can be bought; any other is a broken field.
func (s *Service) planOnSale(ctx context.Context, id uuid.UUID, field string) (catalog.Plan, error) {
	plan, err := s.deps.Catalog.Plan(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) || err == nil && !plan.OnSale() {
		return catalog.Plan{}, fault.OnField(field, "validation.exists")
	}
	return plan, err
}

// billable returns a tenant that has the details which billing requires, or may
// give them later, else billing_not_ready.
func (s *Service) billable(ctx context.Context, tenantID uuid.UUID, later bool) (tenant.Tenant, error) {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return tenant.Tenant{}, err
	}
	if missing := t.Billing.Missing(); len(missing) > 0 && !later {
		return tenant.Tenant{}, errBillingNotReady.With("missing_fields", missing)
	}
	return t, nil
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
