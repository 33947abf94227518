package onboarding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/tenant"
)

// undoTimeout limits the time for undoing a registration, which continues after the request has
// ended.
const undoTimeout = 10 * time.Second

// Pages are the return URLs of the hosted checkout.
type Pages struct{ Success, Cancel string }

// Deps are the dependencies of the service.
type Deps struct {
	DB            *sqldb.DB
	Accounts      *account.Service
	Tenants       *tenant.Service
	Catalog       *catalog.Service
	Subscriptions *subscription.Service
	Entitlements  *entitlement.Service
	Pages         Pages
	Log           *slog.Logger
}

// Service implements the use cases of onboarding.
type Service struct{ deps Deps }

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d} }

// Choice is the plan that a new customer chose.
type Choice struct {
	PlanSlug string
	Currency string // ISO 4217, upper case
	Quantity int64  // seats of a seat plan
	// PromotionCode is the code of a discount, or empty.
	PromotionCode string
}

// Billing has the billing details of a new customer. Wrong is the validation error of the VAT
// number, or nil.
type Billing struct {
	tenant.BillingDetails
	Wrong error
}

// StartResult is the result of Start.
type StartResult struct {
	User        account.User
	Tokens      account.Tokens
	Tenant      tenant.Tenant
	CheckoutURL *string // nil for the default plan
}

// Start registers an account with its tenant and opens the checkout of a plan
// (rules: onboarding#start). It validates the choice before it creates anything.
//
// Invariant: if the checkout cannot be opened, the registration is undone, so that the caller can
// start again with the same email. If the process ends in between, the account remains, and its
// owner can log in and retry the checkout.
func (s *Service) Start(ctx context.Context, r account.Registration, b Billing, c Choice, grant account.Grant) (StartResult, error) {
	plan, err := s.check(ctx, c, r.Email, b.Wrong)
	if err != nil {
		return StartResult{}, err
	}
	if err := s.deps.Subscriptions.RequireCountry(b.Country, plan, c.Currency); err != nil {
		return StartResult{}, err
	}
	if err := s.checkCode(ctx, plan, c); err != nil {
		return StartResult{}, err
	}
	if r.TenantName == "" {
		r.TenantName = r.Name
	}
	var id uuid.UUID
	user, tokens, err := s.deps.Accounts.RegisterWith(ctx, r, grant, func(ctx context.Context, user account.User) error {
		id, err = s.deps.Tenants.CreateWith(ctx, user.ID, tenant.NewTenant{Name: r.TenantName, Currency: c.Currency, Billing: b.BillingDetails})
		return err
	})
	if err != nil {
		return StartResult{}, err
	}
	started := StartResult{User: user, Tokens: tokens}
	started.CheckoutURL, err = s.openCheckout(withOwner(ctx, user, id, r.TenantName), id, plan, c)
	if err == nil {
		started.Tenant, err = s.deps.Tenants.Get(ctx, id)
	}
	if err != nil {
		return StartResult{}, errors.Join(err, s.undo(ctx, user.ID, id))
	}
	return started, nil
}

// checkCode refuses a promotion code that the choice cannot use.
func (s *Service) checkCode(ctx context.Context, plan catalog.Plan, c Choice) error {
	return s.deps.Subscriptions.CheckCode(ctx, plan, subscription.CheckoutParams{
		Currency: c.Currency, Quantity: c.Quantity, PromotionCode: c.PromotionCode,
	})
}

// Preview returns the cost of a choice without creating anything. It rejects the choices that Start
// rejects.
func (s *Service) Preview(ctx context.Context, b Billing, c Choice) (subscription.PurchasePreview, error) {
	plan, err := s.check(ctx, c, "", b.Wrong)
	if err != nil {
		return subscription.PurchasePreview{}, err
	}
	return s.deps.Subscriptions.PreviewOnboarding(ctx, b.BillingDetails, plan, subscription.CheckoutParams{Currency: c.Currency, Quantity: c.Quantity, PromotionCode: c.PromotionCode})
}

// withOwner returns ctx with the new user as its caller.
func withOwner(ctx context.Context, user account.User, tenantID uuid.UUID, tenantName string) context.Context {
	return authz.With(ctx, &authz.Caller{
		UserID: user.ID, Name: user.Name, Email: user.Email,
		Tenant: &authz.Membership{
			TenantID: tenantID, TenantName: tenantName, Role: tenant.BuiltInOwner, Permissions: authz.TenantPermissions(),
		},
	})
}

// Retry opens another checkout for a tenant that did not pay its first checkout. It returns the URL
// of the new checkout, or nil for the default plan.
func (s *Service) Retry(ctx context.Context, tenantID uuid.UUID, c Choice) (checkoutURL *string, err error) {
	plan, err := s.check(ctx, c, "", nil)
	if err != nil {
		return nil, err
	}
	return s.openCheckout(ctx, tenantID, plan, c)
}

// openCheckout returns the URL of a new checkout. For the default plan, which applies without a
// subscription, it completes the onboarding and returns nil.
func (s *Service) openCheckout(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan, c Choice) (*string, error) {
	if err := s.deps.Subscriptions.RefuseCodeOfDefault(ctx, plan, c.PromotionCode); err != nil {
		return nil, err
	}
	if plan.IsDefault {
		if err := s.deps.Subscriptions.RequireNone(ctx, tenantID); err != nil {
			return nil, err
		}
		return nil, s.deps.Tenants.CompleteOnboarding(ctx, tenantID)
	}
	session, err := s.deps.Subscriptions.Checkout(ctx, tenantID, subscription.CheckoutParams{
		PlanID: plan.ID, Currency: c.Currency, Quantity: c.Quantity, PromotionCode: c.PromotionCode, BillingLater: true,
		SuccessURL: s.deps.Pages.Success, CancelURL: s.deps.Pages.Cancel,
	})
	return &session.URL, err
}

// check returns the plan of a choice. Its error combines unknown plans and currencies, an email
// that is already registered (unless email is "") and the errors in other. Without these errors, it
// returns errNotInCurrency if the plan lacks a price in the currency.
func (s *Service) check(ctx context.Context, c Choice, email string, other error) (catalog.Plan, error) {
	plan, err := s.checkFields(ctx, c, email, other)
	if err != nil {
		return catalog.Plan{}, err
	}
	if plan, err = s.deps.Catalog.WithActivePrices(ctx, plan); err != nil {
		return catalog.Plan{}, err
	}
	if _, ok := plan.PriceIn(c.Currency); !ok {
		available := []string{}
		for _, price := range plan.Prices {
			available = append(available, price.Currency)
		}
		return catalog.Plan{}, errNotInCurrency.With("available_currencies", available)
	}
	return plan, nil
}

// checkFields is the part of check that validates single fields.
func (s *Service) checkFields(ctx context.Context, c Choice, email string, other error) (catalog.Plan, error) {
	taken := s.deps.Accounts.CheckEmail(ctx, email)
	plan, noPlan := s.deps.Catalog.PlanBySlug(ctx, c.PlanSlug)
	if errors.Is(noPlan, catalog.ErrNotFound) || noPlan == nil && !plan.IsOnSale() {
		noPlan = fault.OnField("plan_slug", "validation.exists")
	}
	exists, noCurrency := s.deps.Catalog.CurrencyExists(ctx, c.Currency)
	if noCurrency == nil && !exists {
		noCurrency = fault.OnField("currency", "validation.exists")
	}
	return plan, fault.Join(other, taken, noPlan, noCurrency)
}

// undo deletes everything that Start created. No caller has seen it yet.
func (s *Service) undo(ctx context.Context, userID int64, tenantID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.deps.Subscriptions.Discard(ctx, tenantID); err != nil {
			return err
		}
		if err := s.deps.Tenants.Discard(ctx, tenantID); err != nil {
			return err
		}
		return s.deps.Accounts.Discard(ctx, userID)
	})
	if err != nil {
		return fmt.Errorf("undo the registration of user %d: %w", userID, err)
	}
	s.deps.Log.WarnContext(ctx, "failed to create checkout; registration rolled back", "tenant_id", tenantID)
	return nil
}

// Status returns the tenant and its subscription, if any. It reads open checkouts from the payment
// provider, in case a payment event is late.
func (s *Service) Status(ctx context.Context, tenantID uuid.UUID) (tenant.Tenant, tenant.Overview, error) {
	s.deps.Subscriptions.ReadOpenCheckouts(ctx, tenantID)
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return tenant.Tenant{}, tenant.Overview{}, err
	}
	overviews, err := s.deps.Entitlements.Overview(ctx, []uuid.UUID{tenantID})
	return t, overviews[tenantID], err
}
