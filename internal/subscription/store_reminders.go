package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// remindersPerRun is the maximum number of subscriptions or customers that one run of a reminder
// checks.
const remindersPerRun = 100

// listRenewals lists subscriptions with long cycles that renew between two times, and whose tenants
// were not reminded.
func (s store) listRenewals(ctx context.Context, now, before time.Time) ([]Subscription, error) {
	rows, err := s.q(ctx).ListRenewals(ctx, subscriptionsql.ListRenewalsParams{Now: now, Before: before, Most: remindersPerRun})
	return toSubscriptions(rows), sqldb.Wrap(err, "list renewals")
}

// markRenewalMailed records that the tenant is reminded of the renewal. It reports false if that was
// recorded before, or if the subscription does not renew at that time.
func (s store) markRenewalMailed(ctx context.Context, sub Subscription) (bool, error) {
	n, err := s.q(ctx).MarkRenewalMailed(ctx, subscriptionsql.MarkRenewalMailedParams{TenantID: sub.TenantID, ID: sub.ID, Renews: sub.CurrentPeriodEnd})
	return n == 1, sqldb.Wrap(err, "record the renewal reminder")
}

// listUncheckedCards lists customers whose card was not checked since the given time.
func (s store) listUncheckedCards(ctx context.Context, since time.Time) ([]subscriptionsql.ListUncheckedCardsRow, error) {
	rows, err := s.q(ctx).ListUncheckedCards(ctx, subscriptionsql.ListUncheckedCardsParams{Since: &since, Most: remindersPerRun})
	return rows, sqldb.Wrap(err, "list unchecked cards")
}

func (s store) markCardChecked(ctx context.Context, tenantID uuid.UUID, customerID string, now time.Time) error {
	err := s.q(ctx).MarkCardChecked(ctx, subscriptionsql.MarkCardCheckedParams{TenantID: tenantID, PSPCustomerID: customerID, Now: &now})
	return sqldb.Wrap(err, "record the check of a card")
}

// markCardMailed records a reminder. It reports false if that or a later reminder was recorded before.
func (s store) markCardMailed(ctx context.Context, tenantID uuid.UUID, customerID string, reminder time.Time) (bool, error) {
	n, err := s.q(ctx).MarkCardMailed(ctx, subscriptionsql.MarkCardMailedParams{TenantID: tenantID, PSPCustomerID: customerID, Reminder: &reminder})
	return n == 1, sqldb.Wrap(err, "record the reminder of a card")
}
