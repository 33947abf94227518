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

// markSeen notes that a subscription is in the provider's list; for one that is not
// stored here it does nothing.
func (s store) markSeen(ctx context.Context, pspID string, now time.Time) error {
	err := s.q(ctx).MarkSeen(ctx, reconcilesql.MarkSeenParams{PSPSubscriptionID: pspID, SeenAt: &now})
	return sqldb.Wrap(err, "mark subscription as seen")
}

// hasSeen reports whether any subscription was in the provider's list since a time.
func (s store) hasSeen(ctx context.Context, since time.Time) (bool, error) {
	seen, err := s.q(ctx).AnySeen(ctx, &since)
	return seen, sqldb.Wrap(err, "look for seen subscriptions")
}

// unseen is a subscription that was not in the provider's list.
type unseen struct {
	id    uuid.UUID
	pspID string
}

// listUnseen lists subscriptions that are not over and were not in the provider's list
// since a time, sorted by id.
func (s store) listUnseen(ctx context.Context, since time.Time, after uuid.UUID, limit int32) ([]unseen, error) {
	rows, err := s.q(ctx).UnseenSubscriptions(ctx, reconcilesql.UnseenSubscriptionsParams{Since: &since, After: after, Most: limit})
	if err != nil {
		return nil, sqldb.Wrap(err, "list unseen subscriptions")
	}
	list := make([]unseen, len(rows))
	for i, row := range rows {
		list[i] = unseen{row.ID, row.PSPSubscriptionID}
	}
	return list, nil
}
