package subscription

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// decideMetered stores the terms that bill the subscription's current period, unless they were
// decided before.
func (s store) decideMetered(ctx context.Context, sub Subscription, terms MeteredTerms) error {
	text, err := json.Marshal(terms)
	if err != nil {
		return err
	}
	_, err = s.q(ctx).DecideMetered(ctx, subscriptionsql.DecideMeteredParams{
		TenantID: sub.TenantID, ID: sub.ID, MeteredTerms: text, Period: &sub.CurrentPeriodStart,
	})
	return sqldb.Wrap(err, "store the decision about metered items")
}

// changeMeteredTerms stores the terms that bill the current period after a change of plan.
func (s store) changeMeteredTerms(ctx context.Context, sub Subscription, terms MeteredTerms) error {
	text, err := json.Marshal(terms)
	if err != nil {
		return err
	}
	err = s.q(ctx).ChangeMeteredTerms(ctx, subscriptionsql.ChangeMeteredTermsParams{
		TenantID: sub.TenantID, ID: sub.ID, MeteredTerms: text, Period: &sub.CurrentPeriodStart,
	})
	return sqldb.Wrap(err, "change metered items")
}

// listUndecided lists a batch of subscriptions whose metered items must be decided, ordered by ID
// and starting after the given ID.
func (s store) listUndecided(ctx context.Context, after uuid.UUID, now time.Time) ([]Subscription, error) {
	rows, err := s.q(ctx).UndecidedMetered(ctx, subscriptionsql.UndecidedMeteredParams{After: after, Now: now})
	list := make([]Subscription, len(rows))
	for i, row := range rows {
		list[i] = Subscription{ID: row.ID, TenantID: row.TenantID}
	}
	return list, sqldb.Wrap(err, "list subscriptions with undecided items")
}

// listByPlan lists a batch of subscriptions to a plan, ordered by ID and starting after the given
// ID.
func (s store) listByPlan(ctx context.Context, planID, after uuid.UUID) ([]Subscription, error) {
	rows, err := s.q(ctx).LiveOfPlan(ctx, subscriptionsql.LiveOfPlanParams{PlanID: planID, After: after})
	list := make([]Subscription, len(rows))
	for i, row := range rows {
		list[i] = toSubscription(row)
	}
	return list, sqldb.Wrap(err, "list subscriptions of a plan")
}
