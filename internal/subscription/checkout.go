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
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Metadata keys that a checkout sets on the provider's objects, so that a notification can be
// matched to its tenant, plan and checkout.
const (
	metaTenant   = "tenant_id"
	metaPlan     = "plan_id"
	metaCheckout = "checkout_id"
)

// continueWindow is how long a retry continues a checkout whose request was never answered. The
// provider repeats a failure for the same key, so a later request uses a new key and can succeed. A
// session that was never returned expires by itself.
const continueWindow = 10 * time.Minute

// CheckoutParams is a tenant's request to buy a plan.
type CheckoutParams struct {
	PlanID     uuid.UUID
	Currency   string
	Quantity   int64 // seats; ignored by other plans, which always have one unit
	SuccessURL string
	CancelURL  string
	// PromotionCode is the code of a discount, or empty.
	PromotionCode string
	// BillingLater allows the billing details to be added after the payment, as in an onboarding.
	BillingLater bool
	// CustomPrice is a price per unit that was agreed with the tenant, in minor units; nil for the
	// plan's price.
	CustomPrice *int64
}

// Checkout opens a hosted checkout at the provider and returns its session
// (rules: subscription#checkout). It rejects, in this order: an unknown plan or currency, a tenant
// that already has a subscription, missing billing details, a plan without a price in the currency,
// fewer seats than members, and a plan that allows less than the tenant uses.
func (s *Service) Checkout(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (psp.Checkout, error) {
	bought, err := s.checkPurchase(ctx, tenantID, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	return s.openCheckout(ctx, bought)
}

// selection is a plan, its price in one currency, and a number of units.
type selection struct {
	plan     catalog.Plan
	price    catalog.Price
	quantity int64
}

// purchase is a selection that a tenant buys in a checkout.
type purchase struct {
	selection
	tenant     tenant.Tenant
	successURL string
	cancelURL  string
	replaces   uuid.UUID // the free subscription that it replaces, or Nil
	discount   *discount.Discount
}

// metadata returns the metadata of the provider's objects for a checkout with the given ID.
func (p purchase) metadata(id uuid.UUID) map[string]string {
	return map[string]string{metaTenant: p.tenant.ID.String(), metaPlan: p.plan.ID.String(), metaCheckout: id.String()}
}

// openCheckout opens a checkout for a checked purchase.
//
// Invariant: the row of the checkout is committed before the provider is called, and its ID is the
// idempotency key. So no failure leaves a session that the service does not know about.
func (s *Service) openCheckout(ctx context.Context, bought purchase) (psp.Checkout, error) {
	p, err := s.checkoutParams(ctx, bought)
	if err != nil {
		return psp.Checkout{}, err
	}
	id, opened, err := s.continueCheckout(ctx, bought, p)
	if err != nil {
		return psp.Checkout{}, err
	}
	p.Key, p.Metadata, p.ExpiresAt = id.String(), bought.metadata(id), bought.sessionEnd(opened)
	session, err := s.deps.Provider.CreateCheckout(ctx, p)
	if err != nil {
		return psp.Checkout{}, s.deps.Prices.ExplainRefusal(ctx, bought.plan, bought.price, bought.quantity, err)
	}
	return session, s.storeSession(ctx, id, bought, session.ID)
}

// checkoutParams returns the parameters of a checkout, except the key and the metadata, which
// depend on the checkout's ID. It creates the customer and the price at the provider if they are
// missing.
func (s *Service) checkoutParams(ctx context.Context, bought purchase) (psp.CheckoutParams, error) {
	p := psp.CheckoutParams{
		Quantity: bought.quantity, SuccessURL: bought.successURL, CancelURL: bought.cancelURL, Locale: i18n.RequestedLocale(ctx),
	}
	var err error
	if p.CustomerID, err = s.deps.Customers.Ensure(ctx, bought.tenant); err != nil {
		return p, err
	}
	if err := s.requireCurrency(ctx, p.CustomerID, bought.price.Currency); err != nil {
		return p, err
	}
	if p.PriceID, err = s.deps.Prices.Ensure(ctx, bought.plan.ID, bought.price.ID); err != nil {
		return p, err
	}
	if p.MeteredPriceIDs, err = s.meteredPrices(ctx, bought); err != nil {
		return p, err
	}
	if bought.discount != nil {
		if p.PromotionCodeID, err = s.deps.Discounts.EnsureCode(ctx, *bought.discount); err != nil {
			return p, err
		}
	}
	p.InvoicesMonthly = bought.plan.Interval.LongerThanMonth()
	waived := bought.discount != nil && bought.discount.WaivesAll()
	p.Free = waived || bought.price.PriceCents == 0 && len(p.MeteredPriceIDs) == 0
	p.TrialDays, err = s.trialDays(ctx, bought.tenant.ID, bought.plan)
	p.TrialWithoutCard = p.TrialDays > 0 && !bought.plan.CardForTrial && !waived
	return p, err
}

// requireCurrency fails with currency_mismatch if the customer has a credit or an unpaid amount in
// another currency. The provider would not apply that credit to invoices in this currency.
func (s *Service) requireCurrency(ctx context.Context, customerID, currency string) error {
	other, err := s.deps.Provider.OtherCurrency(ctx, customerID, currency)
	if err == nil && other != "" {
		err = errCurrencyMismatch.With("currency", other)
	}
	return err
}

// credit returns the tenant's credit for invoices in a currency, in minor units. It returns 0 if
// the tenant has no customer at the provider.
func (s *Service) credit(ctx context.Context, tenantID uuid.UUID, currency string) (int64, error) {
	customerID, err := s.deps.Customers.Customer(ctx, tenantID)
	if err != nil || customerID == "" {
		return 0, err
	}
	return s.deps.Provider.CustomerCredit(ctx, customerID, currency)
}

// continueCheckout stores a checkout that is about to be opened, and returns its ID. If an earlier
// attempt was never answered, the next request for the same purchase within continueWindow
// continues it. Even concurrent requests open only one session, because the ID is derived from the
// purchase and from the last checkout that was answered.
//
// It also returns when the checkout was stored. A checkout with a promotion code holds its redemption
// from then on.
func (s *Service) continueCheckout(ctx context.Context, bought purchase, p psp.CheckoutParams) (uuid.UUID, time.Time, error) {
	last, err := s.store.lastAnsweredCheckout(ctx, bought.tenant.ID, bought.plan.ID)
	if err != nil && !errors.Is(err, errNoCheckout) {
		return uuid.Nil, time.Time{}, err
	}
	now := s.deps.Clock.Now()
	for n := 0; ; n++ {
		id := uuid.NewHash(sha256.New(), bought.tenant.ID, fmt.Appendf(nil, "%s %d %s %s %#v", last, n, bought.plan.ID, bought.replaces, p), 8)
		c, err := s.storeCheckout(ctx, id, bought, now)
		if err != nil {
			return uuid.Nil, time.Time{}, err
		}
		if now.Sub(c.createdAt) < continueWindow && c.completedAt == nil && c.expiredAt == nil {
			return id, c.createdAt, nil
		}
	}
}

// storeSession stores the session of a checkout and records it in the audit trail.
func (s *Service) storeSession(ctx context.Context, id uuid.UUID, bought purchase, session string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		first, err := s.store.setSession(ctx, bought.tenant.ID, id, session, s.deps.Clock.Now())
		if err != nil || !first {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "checkout.opened", TenantID: &bought.tenant.ID, Resource: "checkout", ResourceID: id.String(),
			After: map[string]any{"plan_id": bought.plan.ID, "currency": bought.price.Currency, "quantity": bought.quantity},
		})
	})
}

// trialDays returns the length of the trial of a new subscription: the plan's trial days, or 0 if
// the tenant already had a trial of the product (rules: subscription#trials). A trial that begins
// while this checkout is open is detected when the checkout is paid.
func (s *Service) trialDays(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) (int, error) {
	if plan.TrialDays == 0 {
		return 0, nil
	}
	had, err := s.store.hadTrial(ctx, tenantID, plan.ID)
	if err != nil || had {
		return 0, err
	}
	return int(plan.TrialDays), nil
}

// meteredPrices lists the additional prices of a usage plan: the provider's prices of the meters
// that are billed.
func (s *Service) meteredPrices(ctx context.Context, bought purchase) ([]string, error) {
	if bought.plan.PricingType != catalog.PricingUsage {
		return nil, nil
	}
	return s.deps.Metering.MeteredPrices(ctx, bought.price.Currency)
}

// checkPurchase checks everything that does not require the provider.
func (s *Service) checkPurchase(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (purchase, error) {
	plan, err := s.selectOffered(ctx, p.PlanID, p.Currency)
	if err != nil {
		return purchase{}, err
	}
	if err := refuseDefault(plan); err != nil {
		return purchase{}, err
	}
	if err := s.RequireNone(ctx, tenantID); err != nil {
		return purchase{}, err
	}
	t, err := s.billableTenant(ctx, tenantID, p.BillingLater)
	if err != nil {
		return purchase{}, err
	}
	bought, err := s.checkSelection(ctx, t, plan, p)
	if err != nil {
		return purchase{}, err
	}
	if err := s.requireEligible(ctx, tenantID, plan); err != nil {
		return purchase{}, err
	}
	bought.discount, err = s.findDiscount(ctx, p.PromotionCode, bought.use())
	return bought, err
}

// checkSelection is the part of checkPurchase that also applies to a tenant that does not exist
// yet: it rejects a plan without a price in the currency, an unknown country, too few or too many
// seats, and a price that cannot be sold.
func (s *Service) checkSelection(ctx context.Context, t tenant.Tenant, plan catalog.Plan, p CheckoutParams) (purchase, error) {
	plan, err := s.deps.Catalog.WithActivePrices(ctx, plan)
	if err != nil {
		return purchase{}, err
	}
	price, ok := plan.PriceIn(p.Currency)
	if p.CustomPrice != nil {
		price, ok = catalog.Price{PlanID: plan.ID, Currency: p.Currency, PriceCents: *p.CustomPrice}, true
	}
	if !ok && plan.PricingType == catalog.PricingSeat {
		return purchase{}, errSeatMisconfigured
	}
	if !ok {
		return purchase{}, errNotInCurrency
	}
	if err := s.RequireCountry(t.Billing.Country, plan, p.Currency); err != nil {
		return purchase{}, err
	}
	quantity, err := s.checkUnits(ctx, t.ID, plan, p.Quantity)
	if err == nil {
		err = s.deps.Prices.CheckSellable(ctx, plan, price, quantity)
	}
	return purchase{
		selection: selection{plan, price, quantity}, tenant: t, successURL: p.SuccessURL, cancelURL: p.CancelURL,
	}, err
}

// RequireNone rejects a tenant with a subscription that has not ended (subscription_already_exists).
func (s *Service) RequireNone(ctx context.Context, tenantID uuid.UUID) error {
	_, err := s.store.loadCurrent(ctx, tenantID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil {
		err = errAlreadyExists
	}
	return err
}

// selectOffered returns a plan that is on sale. It reports any other plan, and an unknown currency,
// as invalid fields.
func (s *Service) selectOffered(ctx context.Context, planID uuid.UUID, currency string) (catalog.Plan, error) {
	plan, noPlan := s.planOnSale(ctx, planID, "plan_id")
	exists, err := s.deps.Catalog.CurrencyExists(ctx, currency)
	if err == nil && !exists {
		err = errUnknownCurrency
	}
	return plan, fault.Join(noPlan, err)
}

// requireEligible rejects a plan that allows less than the tenant uses (plan_change_error with
// violations; rules: subscription#eligibility).
func (s *Service) requireEligible(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) error {
	violations, err := s.deps.Entitlements.Violations(ctx, tenantID, plan)
	if err == nil && len(violations) > 0 {
		err = errNotEligible.With("violations", violations)
	}
	return err
}

// planOnSale returns a plan that is on sale. It reports any other plan as an invalid field.
func (s *Service) planOnSale(ctx context.Context, id uuid.UUID, field string) (catalog.Plan, error) {
	plan, err := s.deps.Catalog.Plan(ctx, id)
	if errors.Is(err, catalog.ErrNotFound) || err == nil && !plan.IsOnSale() {
		return catalog.Plan{}, fault.OnField(field, "validation.exists")
	}
	return plan, err
}

// refuseDefault refuses the default plan, which applies without a subscription.
func refuseDefault(plan catalog.Plan) error {
	if plan.IsDefault {
		return errDefaultPlan
	}
	return nil
}

// billableTenant returns the tenant if it has the details that billing requires, or can add them
// later. Otherwise it returns billing_not_ready.
func (s *Service) billableTenant(ctx context.Context, tenantID uuid.UUID, later bool) (tenant.Tenant, error) {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return tenant.Tenant{}, err
	}
	if missing := t.Billing.MissingFields(); len(missing) > 0 && !later {
		return tenant.Tenant{}, errBillingNotReady.With("missing_fields", missing)
	}
	return t, nil
}

// RequireCountry fails with billing_not_ready if the plan's price is above 0, the tenant's country
// is unknown, and the service issues the invoices. The first invoice is issued when the checkout is
// paid, and needs the tenant's address and tax.
func (s *Service) RequireCountry(country *string, plan catalog.Plan, currency string) error {
	price, _ := plan.PriceIn(currency)
	if !s.deps.IssuesInvoices || price.PriceCents == 0 || country != nil && *country != "" {
		return nil
	}
	return errBillingNotReady.With("missing_fields", []string{"country"})
}

// checkUnits returns the number of units to buy: the wanted seats for a seat plan, and 1 for any
// other plan. The seats must cover the members, and must not exceed the plan's quota of team
// members, because more could never be used.
func (s *Service) checkUnits(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan, wanted int64) (int64, error) {
	if plan.PricingType != catalog.PricingSeat {
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
