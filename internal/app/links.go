package app

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/purchase"
	"github.com/tenantry/tenantry/internal/requestlog"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/tenant/domain"
	"github.com/tenantry/tenantry/internal/tenant/sso"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/usage/meters"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// links resolves cyclic dependencies: a service can depend on a service that newDomains builds
// later. A pointer to a field implements the methods of the embedded service, which connect sets.
// The methods of links implement interfaces that combine two services.
type links struct {
	accounts      struct{ *account.Service }
	impersonation struct{ *impersonation.Service }
	reporter      struct{ *billing.Reporter }
	subscriptions struct{ *subscription.Service }
	team          struct{ *team.Service }
	sso           struct{ *sso.Service }
	tenantDomains struct{ *domain.Service }

	customers *customer.Service
	invoices  *invoice.Service
	journal   *journal.Journal
	meters    *meters.Service
	purchases *purchase.Service
	requests  *requestlog.Log
	retention *retention.Pruner
	tenants   *tenant.Service
	usage     *usage.Service
}

// connect sets the services. Call it once all services are built.
func (l *links) connect(d *domains) {
	l.accounts.Service, l.impersonation.Service, l.reporter.Reporter = d.accounts, d.impersonation, d.reporter
	l.subscriptions.Service, l.team.Service = d.subscriptions, d.team
	l.sso.Service, l.tenantDomains.Service = d.sso, d.tenantDomains
	l.customers, l.invoices, l.journal, l.meters, l.purchases = d.customers, d.invoices, d.journal, d.meters, d.purchases
	l.requests = d.requestLog
	l.retention, l.tenants, l.usage = d.retention, d.tenants, d.usage
}

// BillingChanged and Discard implement tenant.Billing.
func (l *links) BillingChanged(ctx context.Context, tenantID uuid.UUID) error {
	return l.customers.BillingChanged(ctx, tenantID)
}

// MemberJoined implements tenant.Billing.
func (l *links) MemberJoined(ctx context.Context, tenantID uuid.UUID) error {
	return l.subscriptions.SeatsChanged(ctx, tenantID)
}

func (l *links) Discard(ctx context.Context, tenantID uuid.UUID) error {
	if err := l.purchases.Discard(ctx, tenantID); err != nil {
		return err
	}
	return l.subscriptions.Discard(ctx, tenantID)
}

// LockTenantOf, CloseOwnedTenant, RemoveDeletedUser and EmailChanged implement selfservice.Memberships.
func (l *links) LockTenantOf(ctx context.Context, userID int64) error {
	return l.tenants.LockTenantOf(ctx, userID)
}

func (l *links) CloseOwnedTenant(ctx context.Context, userID int64) (id uuid.UUID, owned bool, err error) {
	return l.tenants.CloseOwnedTenant(ctx, userID)
}

func (l *links) RemoveDeletedUser(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	return l.team.RemoveDeletedUser(ctx, tenantID, userID)
}

func (l *links) EmailChanged(ctx context.Context, userID int64) error {
	memberships, err := l.tenants.MembershipsOf(ctx, userID)
	if err != nil {
		return err
	}
	for _, m := range memberships {
		if m.Role != tenant.BuiltInOwner {
			continue
		}
		if err := l.customers.BillingChanged(ctx, m.TenantID); err != nil {
			return err
		}
	}
	return nil
}

// Purge implements tenant.Purger. It removes a tenant from the journal and deletes the tenant's
// requests and usage.
func (l *links) Purge(ctx context.Context, tenantID uuid.UUID) error {
	if err := l.journal.Forget(ctx, tenantID); err != nil {
		return err
	}
	if err := l.requests.Purge(ctx, tenantID); err != nil {
		return err
	}
	if err := l.invoices.ForgetCopies(ctx, tenantID); err != nil {
		return err
	}
	return l.retention.PurgeTenant(ctx, tenantID)
}

// CurrentUsage implements entitlement.Consumption.
func (l *links) CurrentUsage(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	return consumption{Usage: l.usage}.Current(ctx, tenantID)
}

// LinkedPrices implements pricelink.Meters.
func (l *links) LinkedPrices(ctx context.Context, currency string) ([]pricelink.MeterPrice, error) {
	sold, err := l.meters.SoldPrices(ctx, currency)
	metered := make([]pricelink.MeterPrice, len(sold))
	for i, price := range sold {
		metered[i] = pricelink.MeterPrice(price)
	}
	return metered, err
}

// metering implements subscription.Metering.
type metering struct {
	*meters.Service
	prices
}

type prices struct{ *pricelink.Service }

// MeteredPrices returns the provider's prices of the meters that are sold in a currency.
func (m metering) MeteredPrices(ctx context.Context, currency string) ([]string, error) {
	sold, err := m.SoldPrices(ctx, currency)
	ids := make([]string, len(sold))
	for i, price := range sold {
		ids[i] = price.PSPPriceID
	}
	return ids, err
}

// RemainingUnits implements entitlement.Grants.
func (l *links) RemainingUnits(ctx context.Context, tenantID uuid.UUID) (map[string]money.Total, error) {
	return l.usage.GrantsRemaining(ctx, tenantID)
}
