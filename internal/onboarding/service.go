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
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/tenant"
)

// takeBackTimeout bounds taking a registration back, which also happens when the
// request that asked for it is over.
const takeBackTimeout = 10 * time.Second

// Pages are where the hosted checkout of an onboarding leads back to.
type Pages struct{ Success, Cancel string }

// Deps is what the service needs.
type Deps struct {
	DB            *sqldb.DB
	Accounts      *account.Service
	Tenants       *tenant.Service
	Catalog       *catalog.Service
	Subscriptions *subscription.Service
	Pages         Pages
	Log           *slog.Logger
}

// Service has the use cases of onboarding.
type Service struct{ deps Deps }

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d} }

// Choice is what a new customer picks: a plan by its slug, a currency, and the
// seats of a seat plan.
type Choice struct {
	PlanSlug string
	Currency string // ISO 4217, upper case
	Quantity int64
}

// Started is what the start of an onboarding brought about.
type Started struct {
	User        account.User
	Tokens      account.Tokens
	Tenant      tenant.Tenant
	CheckoutURL string
}

// Start makes an account with its tenant and opens the checkout of a plan (spec:
// Onboarding endpoints). The choice is judged before anything is made.
//
// Invariant: where the checkout cannot be opened the registration is taken back,
// so that the caller can start again with the same email. If the process ends in
// between, the account stays; its owner logs in and asks for a checkout anew.
func (s *Service) Start(ctx context.Context, r account.Registration, c Choice, grant account.Grant) (Started, error) {
	plan, err := s.judge(ctx, c, r.Email)
	if err != nil {
		return Started{}, err
	}
	if r.TenantName == "" {
		r.TenantName = r.Name
	}
	var id uuid.UUID
	user, tokens, err := s.deps.Accounts.RegisterAnd(ctx, r, grant, func(ctx context.Context, user account.User) error {
		id, err = s.deps.Tenants.CreateIn(ctx, user.ID, r.TenantName, c.Currency)
		return err
	})
	if err != nil {
		return Started{}, err
	}
	started := Started{User: user, Tokens: tokens}
	session, err := s.open(asOwner(ctx, user, id, r.TenantName), id, plan, c)
	if err == nil {
		started.CheckoutURL = session
		started.Tenant, err = s.deps.Tenants.Get(ctx, id)
	}
	if err != nil {
		return Started{}, errors.Join(err, s.takeBack(ctx, user.ID, id))
	}
	return started, nil
}

// asOwner is ctx with the new user as its caller.
func asOwner(ctx context.Context, user account.User, tenantID uuid.UUID, tenantName string) context.Context {
	return authz.With(ctx, &authz.Caller{
		UserID: user.ID, Name: user.Name, Email: user.Email,
		Tenant: &authz.Membership{
			TenantID: tenantID, TenantName: tenantName, Role: tenant.BuiltInOwner, Permissions: authz.TenantPermissions(),
		},
	})
}

// Retry opens a checkout anew, for a tenant whose first one was not paid.
func (s *Service) Retry(ctx context.Context, tenantID uuid.UUID, c Choice) (checkoutURL string, err error) {
	plan, err := s.judge(ctx, c, "")
	if err != nil {
		return "", err
	}
	return s.open(ctx, tenantID, plan, c)
}

func (s *Service) open(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan, c Choice) (string, error) {
	session, err := s.deps.Subscriptions.Checkout(ctx, tenantID, subscription.CheckoutParams{
		PlanID: plan.ID, Currency: c.Currency, Quantity: c.Quantity, BillingLater: true,
		SuccessURL: s.deps.Pages.Success, CancelURL: s.deps.Pages.Cancel,
	})
	return session.URL, err
}

// judge finds the plan of a choice. All fields that name nothing are refused at
// once, and with them a new user's email that has an account; then a plan without
// a price in the currency.
func (s *Service) judge(ctx context.Context, c Choice, email string) (catalog.Plan, error) {
	var wrong fault.Fields
	if err := s.emailFree(ctx, email, &wrong); err != nil {
		return catalog.Plan{}, err
	}
	plan, err := s.deps.Catalog.PlanBySlug(ctx, c.PlanSlug)
	switch {
	case errors.Is(err, catalog.ErrNotFound) || err == nil && !plan.OnSale():
		wrong.Add("plan_slug", "validation.exists")
	case err != nil:
		return catalog.Plan{}, err
	}
	exists, err := s.deps.Catalog.CurrencyExists(ctx, c.Currency)
	if err != nil {
		return catalog.Plan{}, err
	}
	if !exists {
		wrong.Add("currency", "validation.exists")
	}
	if err := wrong.Err(); err != nil {
		return catalog.Plan{}, err
	}
	if plan, err = s.deps.Catalog.Offered(ctx, plan); err != nil {
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

func (s *Service) emailFree(ctx context.Context, email string, wrong *fault.Fields) error {
	if email == "" {
		return nil
	}
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return nil //nolint:nilerr // registering says what is wrong with it
	}
	taken, err := s.deps.Accounts.Exists(ctx, normalized)
	if taken {
		wrong.Add("email", "validation.taken")
	}
	return err
}

// takeBack removes what a start has made. Nobody has seen any of it yet.
func (s *Service) takeBack(ctx context.Context, userID int64, tenantID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTimeout)
	defer cancel()
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.deps.Subscriptions.Forget(ctx, tenantID); err != nil {
			return err
		}
		if err := s.deps.Tenants.Discard(ctx, tenantID); err != nil {
			return err
		}
		return s.deps.Accounts.Discard(ctx, userID)
	})
	if err != nil {
		return fmt.Errorf("onboarding: taking the registration of user %d back: %w", userID, err)
	}
	s.deps.Log.WarnContext(ctx, "a registration was taken back: its checkout could not be opened", "tenant_id", tenantID)
	return nil
}

// Status tells how far a tenant's onboarding is. While it waits for a payment
// that a notification has not yet told of, the provider is asked.
func (s *Service) Status(ctx context.Context, tenantID uuid.UUID) (tenant.Tenant, tenant.Overview, error) {
	s.deps.Subscriptions.Settle(ctx, tenantID)
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return tenant.Tenant{}, tenant.Overview{}, err
	}
	overviews, err := s.deps.Subscriptions.Overview(ctx, []uuid.UUID{tenantID})
	return t, overviews[tenantID], err
}
