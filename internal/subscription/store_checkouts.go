package subscription

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// checkout is a hosted checkout that was opened or is about to be.
type checkout struct {
	id, tenantID, planID   uuid.UUID
	session                string    // the provider's ID, "" until the provider has answered
	replaces               uuid.UUID // the subscription that the new one replaces, or Nil
	discountID             uuid.UUID // the discount that it redeems, or Nil
	createdAt              time.Time
	completedAt, expiredAt *time.Time
	refused                bool      // it was paid, but its subscription is refused
	contract               *contract // the platform's request to create the subscription, or nil
	leasedUntil            time.Time // of a contract
}

// insertCheckout stores a checkout that is about to be opened at the provider. It is idempotent.
func (s store) insertCheckout(ctx context.Context, id uuid.UUID, p purchase, now time.Time) error {
	params := subscriptionsql.InsertCheckoutParams{
		ID: id, TenantID: p.tenant.ID, PlanID: p.plan.ID, Currency: p.price.Currency,
		PriceCents: p.price.PriceCents, Quantity: p.quantity, CreatedAt: now,
	}
	if p.replaces != uuid.Nil {
		params.ReplacesSubscriptionID = &p.replaces
	}
	if p.discount != nil {
		params.DiscountID = &p.discount.ID
	}
	return sqldb.Wrap(s.q(ctx).InsertCheckout(ctx, params), "insert checkout")
}

// loadCheckout returns a checkout, or errNoCheckout.
func (s store) loadCheckout(ctx context.Context, tenantID, id uuid.UUID) (checkout, error) {
	row, err := s.q(ctx).Checkout(ctx, subscriptionsql.CheckoutParams{TenantID: tenantID, ID: id})
	if err != nil {
		return checkout{}, sqldb.WrapAbsent(err, "read checkout", errNoCheckout)
	}
	return toCheckout(row)
}

func toCheckout(row subscriptionsql.Checkout) (checkout, error) {
	c := checkout{
		id: row.ID, tenantID: row.TenantID, planID: row.PlanID, createdAt: row.CreatedAt,
		completedAt: row.CompletedAt, expiredAt: row.ExpiredAt, refused: row.RefusedAt != nil,
	}
	if row.PSPSessionID != nil {
		c.session = *row.PSPSessionID
	}
	if row.ReplacesSubscriptionID != nil {
		c.replaces = *row.ReplacesSubscriptionID
	}
	if row.DiscountID != nil {
		c.discountID = *row.DiscountID
	}
	if row.LeasedUntil != nil {
		c.leasedUntil = *row.LeasedUntil
	}
	if row.Contract != nil {
		c.contract = &contract{}
		return c, sqldb.Wrap(json.Unmarshal(row.Contract, c.contract), "read contract")
	}
	return c, nil
}

// listOpenCheckouts lists a tenant's checkouts created after since whose sessions may have been
// paid without a notification, newest first.
func (s store) listOpenCheckouts(ctx context.Context, tenantID uuid.UUID, since time.Time) ([]checkout, error) {
	rows, err := s.q(ctx).OpenCheckouts(ctx, subscriptionsql.OpenCheckoutsParams{TenantID: tenantID, Since: since})
	if err != nil {
		return nil, sqldb.Wrap(err, "list open checkouts")
	}
	open := make([]checkout, len(rows))
	for i, row := range rows {
		open[i] = checkout{id: row.ID, tenantID: tenantID, session: *row.PSPSessionID}
	}
	return open, nil
}

// claimReadBack claims a read-back of a checkout. It reports false if the checkout was already read
// back after notSince.
func (s store) claimReadBack(ctx context.Context, c checkout, now, notSince time.Time) (bool, error) {
	n, err := s.q(ctx).LookAtCheckout(ctx, subscriptionsql.LookAtCheckoutParams{
		TenantID: c.tenantID, ID: c.id, Now: &now, NotSince: &notSince,
	})
	return n == 1, sqldb.Wrap(err, "claim checkout check")
}

// setSession stores the session of a checkout. It reports whether the checkout had no session
// before.
func (s store) setSession(ctx context.Context, tenantID, id uuid.UUID, session string, now time.Time) (bool, error) {
	n, err := s.q(ctx).SetCheckoutSession(ctx, subscriptionsql.SetCheckoutSessionParams{
		TenantID: tenantID, ID: id, PSPSessionID: &session, UpdatedAt: now,
	})
	if err == nil {
		err = distribution.RememberTenant(ctx, s.db, session, tenantID)
	}
	return n == 1, sqldb.Wrap(err, "set session of checkout")
}

// lastAnsweredCheckout returns the tenant's newest checkout of a plan that has a session, or
// errNoCheckout.
func (s store) lastAnsweredCheckout(ctx context.Context, tenantID, planID uuid.UUID) (uuid.UUID, error) {
	id, err := s.q(ctx).LastAnsweredCheckout(ctx, subscriptionsql.LastAnsweredCheckoutParams{TenantID: tenantID, PlanID: planID})
	return id, sqldb.WrapAbsent(err, "read last answered checkout", errNoCheckout)
}

func (s store) completeCheckout(ctx context.Context, tenantID uuid.UUID, session string, now time.Time) error {
	err := s.q(ctx).CompleteCheckout(ctx, subscriptionsql.CompleteCheckoutParams{TenantID: tenantID, PSPSessionID: &session, CompletedAt: &now})
	return sqldb.Wrap(err, "complete checkout")
}

// expireCheckout records that the provider has expired a session. It returns the checkout of the
// session as a list, which is empty if the checkout is unknown or already over.
func (s store) expireCheckout(ctx context.Context, tenantID uuid.UUID, session string, now time.Time) ([]checkout, error) {
	rows, err := s.q(ctx).ExpireCheckout(ctx, subscriptionsql.ExpireCheckoutParams{TenantID: tenantID, PSPSessionID: &session, ExpiredAt: &now})
	ended := make([]checkout, len(rows))
	for i, id := range rows {
		ended[i] = checkout{id: id, tenantID: tenantID, session: session}
	}
	return ended, sqldb.Wrap(err, "expire checkout")
}

// refuseCheckout records that the subscription of a checkout is refused for good.
func (s store) refuseCheckout(ctx context.Context, tenantID, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).RefuseCheckout(ctx, subscriptionsql.RefuseCheckoutParams{TenantID: tenantID, ID: id, RefusedAt: &now})
	return sqldb.Wrap(err, "refuse checkout")
}

func (s store) deleteCheckouts(ctx context.Context, tenantID uuid.UUID) error {
	if err := s.q(ctx).DeleteProviderIDs(ctx, tenantID); err != nil {
		return sqldb.Wrap(err, "delete the provider's IDs")
	}
	return sqldb.Wrap(s.q(ctx).DeleteCheckouts(ctx, tenantID), "delete checkouts")
}

// hasSuccessor reports whether a checkout was opened to replace a subscription.
func (s store) hasSuccessor(ctx context.Context, sub Subscription) (bool, error) {
	has, err := s.q(ctx).HasSuccessor(ctx, subscriptionsql.HasSuccessorParams{TenantID: sub.TenantID, ID: &sub.ID})
	return has, sqldb.Wrap(err, "find successor")
}
