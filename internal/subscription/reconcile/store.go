package reconcile

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/reconcile/reconcilesql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *reconcilesql.Queries {
	return reconcilesql.New(s.db.Conn(ctx))
}

// markSeen records that a subscription is in the provider's list. It does nothing if the
// subscription is not stored here.
func (s store) markSeen(ctx context.Context, pspID string, now time.Time) error {
	err := s.q(ctx).MarkSeen(ctx, reconcilesql.MarkSeenParams{PSPSubscriptionID: pspID, SeenAt: &now})
	return sqldb.Wrap(err, "mark subscription as seen")
}

// hasSeen reports whether any subscription has been in the provider's list since the given time.
func (s store) hasSeen(ctx context.Context, since time.Time) (bool, error) {
	seen, err := s.q(ctx).AnySeen(ctx, &since)
	return seen, sqldb.Wrap(err, "find seen subscriptions")
}

// missingSubscription is a subscription that is missing from the provider's list.
type missingSubscription struct {
	id    uuid.UUID
	pspID string
}

// listUnseen lists subscriptions that are not over and have not been in the provider's list since
// the given time, ordered by ID.
func (s store) listUnseen(ctx context.Context, since time.Time, after uuid.UUID, limit int32) ([]missingSubscription, error) {
	rows, err := s.q(ctx).UnseenSubscriptions(ctx, reconcilesql.UnseenSubscriptionsParams{Since: &since, After: after, Most: limit})
	if err != nil {
		return nil, sqldb.Wrap(err, "list unseen subscriptions")
	}
	list := make([]missingSubscription, len(rows))
	for i, row := range rows {
		list[i] = missingSubscription{row.ID, row.PSPSubscriptionID}
	}
	return list, nil
}
