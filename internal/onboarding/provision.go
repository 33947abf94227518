package onboarding

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Provisioning is a tenant that the platform creates, with its plan.
type Provisioning struct {
	tenant.ProvisionedTenant
	PlanSlug string // empty for no plan
	// PlanCurrency is the currency of the plan and of the tenant, or empty.
	PlanCurrency string
	Wrong        error // the validation errors of the tenant's fields, or nil
}

// freePlan is a plan with the price 0, or no plan. Without a plan, and for the default plan, which
// needs no subscription, price is the zero value.
type freePlan struct {
	plan  catalog.Plan
	price catalog.Price
}

// needsSubscription reports whether the plan applies only with a subscription.
func (p freePlan) needsSubscription() bool { return p.price.ID != uuid.Nil && !p.plan.IsDefault }

// Provision creates a tenant on behalf of the platform and returns its ID (rules:
// tenant#provisioning).
//
// Invariant: the provider is called before the tenant is created, so that nothing is created if the
// provider fails. If the tenant cannot be created afterwards, its subscription is canceled.
func (s *Service) Provision(ctx context.Context, p Provisioning) (uuid.UUID, error) {
	free, err := s.checkProvision(ctx, p)
	if err != nil {
		return uuid.Nil, err
	}
	if err := s.checkOwnerIsFree(ctx, p.Owner); err != nil {
		return uuid.Nil, err
	}
	var sub subscription.FreeSubscription
	if free.needsSubscription() {
		if sub, err = s.deps.Subscriptions.CreateFree(ctx, s.deps.Tenants.Draft(p.ProvisionedTenant), free.plan, free.price); err != nil {
			return uuid.Nil, err
		}
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.deps.Tenants.Provision(ctx, p.ProvisionedTenant); err != nil || !free.needsSubscription() {
			return err
		}
		return s.deps.Subscriptions.StoreFree(ctx, sub)
	})
	if err != nil && free.needsSubscription() {
		s.deps.Subscriptions.DropFree(ctx, sub)
	}
	return p.ID, err
}

// checkProvision returns the plan, or all validation errors.
func (s *Service) checkProvision(ctx context.Context, p Provisioning) (freePlan, error) {
	free, noPlan := s.findFreePlan(ctx, p.PlanSlug, p.PlanCurrency)
	return free, fault.Join(p.Wrong, s.deps.Tenants.CheckProvision(ctx, p.ProvisionedTenant), noPlan)
}

// findFreePlan returns the plan with the slug and its price in a currency. Both can be empty, but a
// plan needs a currency.
func (s *Service) findFreePlan(ctx context.Context, slug, currency string) (freePlan, error) {
	var wrongCurrency error
	if currency != "" {
		exists, err := s.deps.Catalog.CurrencyExists(ctx, currency)
		if err != nil {
			return freePlan{}, err
		}
		if !exists {
			wrongCurrency = fault.OnField("currency", "validation.exists")
		}
	}
	if slug == "" {
		return freePlan{}, wrongCurrency
	}
	plan, err := s.deps.Catalog.PlanBySlug(ctx, slug)
	switch {
	case errors.Is(err, catalog.ErrNotFound) || err == nil && !plan.IsOnSale():
		return freePlan{}, fault.Join(fault.OnField("plan_slug", "validation.exists"), wrongCurrency)
	case err != nil:
		return freePlan{}, err
	case currency == "":
		return freePlan{}, fault.OnField("currency", "validation.required")
	case wrongCurrency != nil:
		return freePlan{}, wrongCurrency
	}
	if plan, err = s.deps.Catalog.WithActivePrices(ctx, plan); err != nil {
		return freePlan{}, err
	}
	price, ok := plan.PriceIn(currency)
	switch {
	case !ok:
		return freePlan{}, fault.OnField("currency", "validation.plan_currency")
	case price.PriceCents > 0:
		return freePlan{}, fault.OnField("plan_slug", "validation.plan_not_free")
	}
	return freePlan{plan, price}, nil
}

// checkOwnerIsFree returns tenant.ErrInAnotherTenant for an owner who belongs to a tenant.
// Tenants.Provision checks it again under the user's lock.
func (s *Service) checkOwnerIsFree(ctx context.Context, o *account.NewOwner) error {
	if o == nil {
		return nil
	}
	email, err := mail.NormalizeAddress(strings.TrimSpace(o.Email))
	if err != nil {
		return fault.OnField("owner.email", "validation.email")
	}
	user, exists, err := s.deps.Accounts.Find(ctx, email)
	if err != nil || !exists {
		return err
	}
	memberships, err := s.deps.Tenants.MembershipsOf(ctx, user.ID)
	if err == nil && len(memberships) > 0 {
		err = tenant.ErrInAnotherTenant
	}
	return err
}
