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
	"github.com/tenantry/tenantry/internal/tenant"
)

// The metadata that a checkout leaves on the provider's objects, so that a
// notification finds its way back.
const (
	metaTenant   = "tenant_id"
	MetaPlan     = "plan_id"
	metaCheckout = "checkout_id"
)

// continuable is how long a repetition continues a checkout that was not answered.
// It ends, because the provider repeats a failure for the same key, which must not
// keep a tenant from paying; a session that nobody was told of expires by itself.
const continuable = 10 * time.Minute

// CheckoutParams is what a tenant wants to buy.
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

// Checkout opens a hosted checkout at the provider and returns its session
// (rules: subscription#checkout). It
// refuses, in this order, an unknown plan or currency, a tenant that has a
// subscription, one without the billing details, a plan without a price in the
// currency, fewer seats than members, and a plan that allows less than is used.
func (s *Service) Checkout(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (psp.Checkout, error) {
	bought, err := s.purchase(ctx, tenantID, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	return s.Open(ctx, bought)
}

// Selection is a plan with its price in one currency and a number of units.
type Selection struct {
	Plan     catalog.Plan
	Price    catalog.Price
	Quantity int64
}

// Purchase is what a checkout sells.
type Purchase struct {
	Selection
	Tenant     tenant.Tenant
	SuccessURL string
	CancelURL  string
	Replaces   uuid.UUID // the free subscription that it replaces; Nil for none
}

// Open opens a checkout for a purchase that was checked.
//
// Invariant: the checkout's row is committed before the provider is asked, and
// its id is the idempotency key; whatever fails on the way leaves no session
// that the service does not know of.
func (s *Service) Open(ctx context.Context, bought Purchase) (psp.Checkout, error) {
	p, err := s.checkoutParams(ctx, bought)
	if err != nil {
		return psp.Checkout{}, err
	}
	id, err := s.attempt(ctx, bought, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	p.Key = id.String()
	p.Metadata = map[string]string{metaTenant: bought.Tenant.ID.String(), MetaPlan: bought.Plan.ID.String(), metaCheckout: id.String()}
	session, err := s.deps.Provider.CreateCheckout(ctx, p)
	if err != nil {
		return psp.Checkout{}, s.deps.Prices.Refused(ctx, bought.Plan, bought.Price, bought.Quantity, err)
	}
	return session, s.noteSession(ctx, id, bought, session.ID)
}

// checkoutParams returns what the provider is asked for, without the key and the
// metadata, which name the checkout. It makes the customer and the price at the
// provider where they are missing.
func (s *Service) checkoutParams(ctx context.Context, bought Purchase) (psp.CheckoutParams, error) {
	p := psp.CheckoutParams{
		Quantity: bought.Quantity, SuccessURL: bought.SuccessURL, CancelURL: bought.CancelURL, Locale: i18n.Asked(ctx),
	}
	var err error
	if p.CustomerID, err = s.deps.Customers.Ensure(ctx, bought.Tenant); err != nil {
		return p, err
	}
	if err := s.needCurrency(ctx, p.CustomerID, bought.Price.Currency); err != nil {
		return p, err
	}
	if p.PriceID, err = s.deps.Prices.Ensure(ctx, bought.Plan.ID, bought.Price.ID); err != nil {
		return p, err
	}
	if p.MeteredPriceIDs, err = s.meteredPrices(ctx, bought); err != nil {
		return p, err
	}
	p.InvoicesMonthly = bought.Plan.Interval.LongerThanMonth()
	p.Free = bought.Price.PriceCents == 0 && len(p.MeteredPriceIDs) == 0
	p.TrialDays, err = s.TrialDays(ctx, bought.Tenant.ID, bought.Plan)
	return p, err
}

// needCurrency refuses a currency while the customer has credit, or something that is
// not paid, in another one (currency_mismatch): the provider would not apply a credit
// to invoices in this currency.
func (s *Service) needCurrency(ctx context.Context, customerID, currency string) error {
	other, err := s.deps.Provider.OtherCurrency(ctx, customerID, currency)
	if err == nil && other != "" {
		err = errCurrencyMismatch.With("currency", other)
	}
	return err
}

// Credit returns the credit that the tenant has for invoices in a currency, in minor units;
// 0 without a customer at the provider.
func (s *Service) Credit(ctx context.Context, tenantID uuid.UUID, currency string) (int64, error) {
	customerID, err := s.deps.Customers.Customer(ctx, tenantID)
	if err != nil || customerID == "" {
		return 0, err
	}
	return s.deps.Provider.CustomerCredit(ctx, customerID, currency)
}

// attempt stores a checkout that is about to be opened, and returns its id. An
// attempt that was never answered is continued by whoever asks for the same within
// continuable. So it opens only one session, even if several ask at once: the id is
// derived from what is asked for and from the last checkout that was answered.
func (s *Service) attempt(ctx context.Context, bought Purchase, p psp.CheckoutParams) (uuid.UUID, error) {
	last, err := s.store.lastAnswered(ctx, bought.Tenant.ID, bought.Plan.ID)
	if err != nil && !errors.Is(err, errNoCheckout) {
		return uuid.Nil, err
	}
	now := s.deps.Clock.Now()
	for n := 0; ; n++ {
		id := uuid.NewHash(sha256.New(), bought.Tenant.ID, fmt.Appendf(nil, "%s %d %s %s %#v", last, n, bought.Plan.ID, bought.Replaces, p), 8)
		if err := s.store.insertCheckout(ctx, id, bought, now); err != nil {
			return uuid.Nil, err
		}
		c, err := s.store.checkout(ctx, id)
		if err != nil {
			return uuid.Nil, err
		}
		if now.Sub(c.createdAt) < continuable && c.completedAt == nil && c.expiredAt == nil {
			return id, nil
		}
	}
}

// noteSession stores the session of a checkout, and records who opened it.
func (s *Service) noteSession(ctx context.Context, id uuid.UUID, bought Purchase, session string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		first, err := s.store.setSession(ctx, bought.Tenant.ID, id, session, s.deps.Clock.Now())
		if err != nil || !first {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "checkout.opened", TenantID: &bought.Tenant.ID, Resource: "checkout", ResourceID: id.String(),
			After: map[string]any{"plan_id": bought.Plan.ID, "currency": bought.Price.Currency, "quantity": bought.Quantity},
		})
	})
}

// TrialDays returns how long the trial of a new subscription is: the plan's trial
// days, but none where the tenant had a trial of the product before
// (rules: subscription#trials). A trial that begins while this checkout is open is
// found when it is paid.
func (s *Service) TrialDays(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) (int, error) {
	if plan.TrialDays == 0 {
		return 0, nil
	}
	had, err := s.deps.Trials.Had(ctx, tenantID, plan.ID)
	if err != nil || had {
		return 0, err
	}
	return int(plan.TrialDays), nil
}

// meteredPrices lists what a usage plan sells besides its price: the provider's
// prices of the meters that are billed.
func (s *Service) meteredPrices(ctx context.Context, bought Purchase) ([]string, error) {
	if bought.Plan.PricingType != catalog.Usage || s.deps.Metered == nil {
		return nil, nil
	}
	return s.deps.Metered.MeteredPrices(ctx, bought.Price.Currency)
}

// purchase checks everything that can be checked without the provider.
func (s *Service) purchase(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (Purchase, error) {
	plan, err := s.chosen(ctx, p.PlanID, p.Currency)
	if err != nil {
		return Purchase{}, err
	}
	_, err = s.store.live(ctx, tenantID)
	if err == nil {
		return Purchase{}, errAlreadyExists
	}
	if !errors.Is(err, ErrNotFound) {
		return Purchase{}, err
	}
	t, err := s.Billable(ctx, tenantID, p.BillingLater)
	if err != nil {
		return Purchase{}, err
	}
	if plan, err = s.deps.Catalog.Offered(ctx, plan); err != nil {
		return Purchase{}, err
	}
	price, ok := plan.PriceIn(p.Currency)
	if !ok && plan.PricingType == catalog.Seat {
		return Purchase{}, errSeatMisconfigured
	}
	if !ok {
		return Purchase{}, ErrNotInCurrency
	}
	if err := s.NeedCountry(t.Billing.Country, plan, p.Currency); err != nil {
		return Purchase{}, err
	}
	quantity, err := s.Units(ctx, tenantID, plan, p.Quantity)
	if err == nil {
		err = s.deps.Prices.Sellable(ctx, plan, price, quantity)
	}
	if err != nil {
		return Purchase{}, err
	}
	return Purchase{
		Selection: Selection{plan, price, quantity}, Tenant: t, SuccessURL: p.SuccessURL, CancelURL: p.CancelURL,
	}, s.NeedEligible(ctx, tenantID, plan)
}

// chosen returns a plan that can be bought. Any other plan, and an unknown currency, are broken
// fields.
func (s *Service) chosen(ctx context.Context, planID uuid.UUID, currency string) (catalog.Plan, error) {
	plan, noPlan := s.PlanOnSale(ctx, planID, "plan_id")
	exists, err := s.deps.Catalog.CurrencyExists(ctx, currency)
	if err == nil && !exists {
		err = errUnknownCurrency
	}
	return plan, fault.Join(noPlan, err)
}

// NeedEligible refuses a plan that allows less than the tenant uses
// (plan_change_error with violations; rules: subscription#eligibility).
func (s *Service) NeedEligible(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) error {
	violations, err := s.deps.Entitlements.Violations(ctx, tenantID, plan)
	if err == nil && len(violations) > 0 {
		err = errNotEligible.With("violations", violations)
	}
	return err
}

// PlanOnSale returns a plan that can be bought; any other is a broken field.
func (s *Service) PlanOnSale(ctx context.Context, id uuid.UUID, field string) (catalog.Plan, error) {
	plan, err := s.deps.Catalog.Plan(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) || err == nil && !plan.OnSale() {
		return catalog.Plan{}, fault.OnField(field, "validation.exists")
	}
	return plan, err
}

// Billable returns the tenant if it has the details that billing requires, or may
// give them later; else it refuses (billing_not_ready).
func (s *Service) Billable(ctx context.Context, tenantID uuid.UUID, later bool) (tenant.Tenant, error) {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return tenant.Tenant{}, err
	}
	if missing := t.Billing.Missing(); len(missing) > 0 && !later {
		return tenant.Tenant{}, errBillingNotReady.With("missing_fields", missing)
	}
	return t, nil
}

// NeedCountry refuses (billing_not_ready) a plan with a price above 0 for a tenant whose
// country is unknown, if the service issues the invoices: the first invoice, which is issued
// when the checkout is paid, has the tenant's address and tax.
func (s *Service) NeedCountry(country *string, plan catalog.Plan, currency string) error {
	price, _ := plan.PriceIn(currency)
	if !s.deps.IssuesInvoices || price.PriceCents == 0 || country != nil && *country != "" {
		return nil
	}
	return errBillingNotReady.With("missing_fields", []string{"country"})
}

// Units returns the number of units that a plan is bought with: for a seat plan
// the wanted seats, and one for any other. Seats may not be fewer than the members, and not
// more than the plan's quota of team members, which could never be used.
func (s *Service) Units(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan, wanted int64) (int64, error) {
	if plan.PricingType != catalog.Seat {
		return 1, nil
	}
	members, err := s.deps.Tenants.CountMembers(ctx, tenantID)
	quota := plan.SeatQuota()
	switch {
	case err != nil:
		return 0, err
	case wanted < members:
		return 0, errFewerThanMembers
	case quota != nil && wanted > *quota:
		return 0, errAboveSeatQuota(*quota)
	}
	return wanted, nil
}
