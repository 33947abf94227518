package app

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/app/terms"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/usage/meters"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// links lets a domain use one that is built after it. newDomains fills it in.
type links struct {
	accounts      *account.Service
	tenants       *tenant.Service
	retention     *retention.Pruner
	journal       *journal.Journal
	customers     *customer.Service
	usage         *usage.Service
	meters        *meters.Service
	team          *team.Service
	reporter      *billing.Reporter
	impersonation *impersonation.Service
	subscriptions *subscription.Service
}

func (l *links) BillingChanged(ctx context.Context, tenantID uuid.UUID) error {
	return l.customers.BillingChanged(ctx, tenantID)
}

func (l *links) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return l.subscriptions.Discard(ctx, tenantID)
}

func (l *links) VerifyPassword(ctx context.Context, caller *authz.Caller, password string) (account.Proof, error) {
	return l.accounts.VerifyPassword(ctx, caller, password)
}

func (l *links) RunInPersonWithPassword(ctx context.Context, caller *authz.Caller, proof account.Proof, do func(context.Context, account.Self) error) error {
	return l.accounts.RunInPersonWithPassword(ctx, caller, proof, do)
}

func (l *links) EndTenantAccessForAll(ctx context.Context, userIDs []int64) error {
	return l.accounts.EndTenantAccessForAll(ctx, userIDs)
}

func (l *links) LockExisting(ctx context.Context, userID int64) error {
	return l.accounts.LockExisting(ctx, userID)
}

// CloseOwnedTenant and Deleted take a user out of their tenant who deletes their account.
func (l *links) CloseOwnedTenant(ctx context.Context, userID int64) (id uuid.UUID, owned bool, err error) {
	return l.tenants.CloseOwnedTenant(ctx, userID)
}

func (l *links) Deleted(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	return l.team.Deleted(ctx, tenantID, userID)
}

func (l *links) LockAll(ctx context.Context, userIDs []int64) error {
	return l.accounts.LockAll(ctx, userIDs)
}

// Purge deletes the usage of a tenant, which is all that is kept in bulk, and takes its name
// off the journal.
func (l *links) Purge(ctx context.Context, tenantID uuid.UUID) error {
	if err := l.journal.Forget(ctx, tenantID); err != nil {
		return err
	}
	return l.retention.PurgeTenant(ctx, tenantID)
}

func (l *links) Current(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	return terms.Consumption{Usage: l.usage}.Current(ctx, tenantID)
}

func (l *links) PublishMemberEvent(ctx context.Context, t hook.Type, tenantID uuid.UUID, userID int64) error {
	return l.team.PublishMemberEvent(ctx, t, tenantID, userID)
}

func (l *links) TakenSeats(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	return l.team.TakenSeats(ctx, tenantID)
}

func (l *links) EndOrphaned(ctx context.Context, userID int64) error {
	return l.impersonation.EndOrphaned(ctx, userID)
}

func (l *links) EndFamily(ctx context.Context, userID int64, family uuid.UUID) error {
	return l.impersonation.EndFamily(ctx, userID, family)
}

func (l *links) EndForTarget(ctx context.Context, targetID int64) error {
	return l.impersonation.EndForTarget(ctx, targetID)
}

func (l *links) Expire(ctx context.Context, adminID int64) error {
	return l.impersonation.Expire(ctx, adminID)
}

func (l *links) ImpersonatorsOf(ctx context.Context, targetID int64) ([]int64, error) {
	return l.impersonation.ImpersonatorsOf(ctx, targetID)
}

func (l *links) Settle(ctx context.Context, tenantID uuid.UUID) error {
	return l.reporter.Settle(ctx, tenantID)
}

func (l *links) Flush(ctx context.Context, tenantID uuid.UUID) error {
	return l.reporter.Flush(ctx, tenantID)
}

func (l *links) LinkedPrices(ctx context.Context, currency string) ([]pricelink.Metered, error) {
	sold, err := l.meters.SoldPrices(ctx, currency)
	metered := make([]pricelink.Metered, len(sold))
	for i, price := range sold {
		metered[i] = pricelink.Metered(price)
	}
	return metered, err
}

func (l *links) Switches(ctx context.Context, planID uuid.UUID) ([]pricelink.Switch, error) {
	return l.subscriptions.Switches(ctx, planID)
}

// metering says what usage plans sell, and when it can be billed.
type metering struct {
	*meters.Service
	prices
}

type prices struct{ *pricelink.Service }

// MeteredPrices implements the metering of subscriptions.
func (m metering) MeteredPrices(ctx context.Context, currency string) ([]string, error) {
	sold, err := m.SoldPrices(ctx, currency)
	ids := make([]string, len(sold))
	for i, price := range sold {
		ids[i] = price.PSPPriceID
	}
	return ids, err
}
