package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *subscriptionsql.Queries {
	return subscriptionsql.New(s.db.Conn(ctx))
}

func toSubscription(row subscriptionsql.Subscription, err error) (*Subscription, error) {
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Subscription{
		ID: row.ID, TenantID: row.TenantID, PlanID: row.PlanID, Status: Status(row.Status),
		Currency: row.Currency, PriceCents: row.PriceCents, Quantity: row.Quantity,
		IntervalUnit: row.IntervalUnit, IntervalCount: row.IntervalCount, BillingAnchor: row.BillingAnchor,
		CurrentPeriodStart: row.CurrentPeriodStart, CurrentPeriodEnd: row.CurrentPeriodEnd,
		TrialEndsAt: row.TrialEndsAt, CancelAtPeriodEnd: row.CancelAtPeriodEnd, CanceledAt: row.CanceledAt,
		CancellationReason: row.CancellationReason, PSPSubscriptionID: row.PSPSubscriptionID,
		syncVersion: row.SyncVersion, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}, nil
}

// live returns the one subscription of a tenant that is not over, else nil.
func (s store) live(ctx context.Context, tenantID uuid.UUID) (*Subscription, error) {
	return toSubscription(s.q(ctx).LiveSubscription(ctx, tenantID))
}

// byPSPID returns the subscription that the provider calls id, else nil.
func (s store) byPSPID(ctx context.Context, id string) (*Subscription, error) {
	return toSubscription(s.q(ctx).SubscriptionByPSPID(ctx, id))
}

func (s store) insert(ctx context.Context, n Subscription) error {
	return s.q(ctx).InsertSubscription(ctx, subscriptionsql.InsertSubscriptionParams{
		ID: n.ID, TenantID: n.TenantID, PlanID: n.PlanID, Status: string(n.Status), Currency: n.Currency,
		PriceCents: n.PriceCents, Quantity: n.Quantity, IntervalUnit: n.IntervalUnit, IntervalCount: n.IntervalCount,
		BillingAnchor: n.BillingAnchor, CurrentPeriodStart: n.CurrentPeriodStart, CurrentPeriodEnd: n.CurrentPeriodEnd,
		TrialEndsAt: n.TrialEndsAt, CancelAtPeriodEnd: n.CancelAtPeriodEnd, CanceledAt: n.CanceledAt,
		PSPSubscriptionID: n.PSPSubscriptionID, CreatedAt: n.CreatedAt,
	})
}

// update stores a newer state; false when another state was stored since
// n.syncVersion was read.
func (s store) update(ctx context.Context, n Subscription) (bool, error) {
	rows, err := s.q(ctx).UpdateSubscription(ctx, subscriptionsql.UpdateSubscriptionParams{
		PSPSubscriptionID: n.PSPSubscriptionID, SyncVersion: n.syncVersion, PlanID: n.PlanID, Status: string(n.Status),
		PriceCents: n.PriceCents, Quantity: n.Quantity, IntervalUnit: n.IntervalUnit, IntervalCount: n.IntervalCount,
		BillingAnchor: n.BillingAnchor, CurrentPeriodStart: n.CurrentPeriodStart, CurrentPeriodEnd: n.CurrentPeriodEnd,
		TrialEndsAt: n.TrialEndsAt, CancelAtPeriodEnd: n.CancelAtPeriodEnd, CanceledAt: n.CanceledAt, UpdatedAt: n.UpdatedAt,
	})
	return rows == 1, err
}

// insertCheckout stores a hosted checkout that is about to be opened at the
// provider; a repetition changes nothing.
func (s store) insertCheckout(ctx context.Context, id uuid.UUID, o order, now time.Time) error {
	p := subscriptionsql.InsertCheckoutParams{
		ID: id, TenantID: o.tenant.ID, PlanID: o.plan.ID, Currency: o.price.Currency,
		PriceCents: o.price.PriceCents, Quantity: o.quantity, CreatedAt: now,
	}
	if o.replaces != nil {
		p.ReplacesSubscriptionID = &o.replaces.ID
	}
	return s.q(ctx).InsertCheckout(ctx, p)
}

// setSession keeps the session of a checkout; false when it has one already.
func (s store) setSession(ctx context.Context, id uuid.UUID, session string, now time.Time) (bool, error) {
	n, err := s.q(ctx).SetCheckoutSession(ctx, subscriptionsql.SetCheckoutSessionParams{ID: id, PSPSessionID: &session, UpdatedAt: now})
	return n == 1, err
}

// lastAnswered is the tenant's newest checkout of a plan whose session the
// provider has told; the zero id when there is none.
func (s store) lastAnswered(ctx context.Context, tenantID, planID uuid.UUID) (uuid.UUID, error) {
	id, err := s.q(ctx).LastAnsweredCheckout(ctx, subscriptionsql.LastAnsweredCheckoutParams{TenantID: tenantID, PlanID: planID})
	if errors.Is(err, sqldb.ErrNoRows) {
		return uuid.Nil, nil
	}
	return id, err
}

func (s store) completeCheckout(ctx context.Context, session string, now time.Time) error {
	return s.q(ctx).CompleteCheckout(ctx, subscriptionsql.CompleteCheckoutParams{PSPSessionID: &session, CompletedAt: &now})
}

// customer returns the provider's customer of a tenant, "" when there is none.
func (s store) customer(ctx context.Context, tenantID uuid.UUID) (string, error) {
	id, err := s.q(ctx).CustomerOfTenant(ctx, tenantID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// saveCustomer keeps the first customer of a tenant and returns the one kept.
func (s store) saveCustomer(ctx context.Context, tenantID uuid.UUID, id string, now time.Time) (string, error) {
	err := s.q(ctx).InsertCustomer(ctx, subscriptionsql.InsertCustomerParams{TenantID: tenantID, PSPCustomerID: id, CreatedAt: now})
	if err != nil {
		return "", err
	}
	return s.customer(ctx, tenantID)
}

// markSeen notes that a subscription was in the provider's list; for one that is
// not known here it does nothing.
func (s store) markSeen(ctx context.Context, pspID string, now time.Time) error {
	return s.q(ctx).MarkSeen(ctx, subscriptionsql.MarkSeenParams{PSPSubscriptionID: pspID, SeenAt: &now})
}

// anySeen tells whether any subscription was in the provider's list since a time.
func (s store) anySeen(ctx context.Context, since time.Time) (bool, error) {
	return s.q(ctx).AnySeen(ctx, &since)
}

// unseen lists subscriptions that are not over and were not in the provider's list
// since a time, by their ids.
func (s store) unseen(ctx context.Context, since time.Time, after uuid.UUID, most int32) ([]Subscription, error) {
	rows, err := s.q(ctx).UnseenSubscriptions(ctx, subscriptionsql.UnseenSubscriptionsParams{Since: &since, After: after, Most: most})
	return toSubscriptions(rows, err)
}

// toSubscriptions is toSubscription for every row of a query that may have failed.
func toSubscriptions(rows []subscriptionsql.Subscription, err error) ([]Subscription, error) {
	if err != nil {
		return nil, err
	}
	list := make([]Subscription, len(rows))
	for i, row := range rows {
		sub, err := toSubscription(row, nil)
		if err != nil {
			return nil, err
		}
		list[i] = *sub
	}
	return list, nil
}

// hasSuccessor tells whether a checkout was opened to replace a subscription.
func (s store) hasSuccessor(ctx context.Context, sub Subscription) (bool, error) {
	return s.q(ctx).HasSuccessor(ctx, subscriptionsql.HasSuccessorParams{TenantID: sub.TenantID, ID: &sub.ID})
}
