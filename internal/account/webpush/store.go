package webpush

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/webpush/webpushsql"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// vapidKey is the name of the key pair that signs push messages (VAPID, RFC 8292).
const vapidKey = "vapid"

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *webpushsql.Queries { return webpushsql.New(s.db.Conn(ctx)) }

// keys returns the key pair of the service. It returns errNoKeys if it does not exist yet.
func (s store) keys(ctx context.Context) (push.Keys, error) {
	row, err := s.q(ctx).PlatformKey(ctx, vapidKey)
	return push.Keys{Public: row.PublicKey, Private: row.PrivateKey}, sqldb.WrapAbsent(err, "read push keys", errNoKeys)
}

// insertKeys stores the key pair of the service unless there already is one.
func (s store) insertKeys(ctx context.Context, keys push.Keys, now time.Time) error {
	err := s.q(ctx).InsertPlatformKey(ctx, webpushsql.InsertPlatformKeyParams{
		Name: vapidKey, PublicKey: keys.Public, PrivateKey: keys.Private, CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert push keys")
}

func (s store) lockUser(ctx context.Context, userID int64) error {
	_, err := s.q(ctx).LockUser(ctx, userID)
	return sqldb.Wrap(err, "lock user for push")
}

// countOthers returns the number of the user's subscriptions with other endpoints.
func (s store) countOthers(ctx context.Context, userID int64, endpoint string) (int64, error) {
	n, err := s.q(ctx).CountOtherPushSubscriptions(ctx, webpushsql.CountOtherPushSubscriptionsParams{UserID: userID, Endpoint: endpoint})
	return n, sqldb.Wrap(err, "count push subscriptions")
}

// put stores a subscription. It replaces a subscription with the same endpoint and keeps its ID.
func (s store) put(ctx context.Context, userID int64, sub push.Subscription, now time.Time) (browser, error) {
	row, err := s.q(ctx).PutPushSubscription(ctx, webpushsql.PutPushSubscriptionParams{
		ID: sqldb.NewID(), UserID: userID, Endpoint: sub.Endpoint, P256dh: sub.P256dh, Auth: sub.Auth, CreatedAt: now,
	})
	return browser{id: row.ID, endpoint: sub.Endpoint, createdAt: row.CreatedAt}, sqldb.Wrap(err, "store push subscription")
}

// list returns the subscriptions of a user, oldest first.
func (s store) list(ctx context.Context, userID int64) ([]browser, error) {
	rows, err := s.q(ctx).PushSubscriptionsOfUser(ctx, userID)
	browsers := make([]browser, len(rows))
	for i, row := range rows {
		browsers[i] = browser{id: row.ID, endpoint: row.Endpoint, createdAt: row.CreatedAt}
	}
	return browsers, sqldb.Wrap(err, "list push subscriptions")
}

// subscription returns a subscription of the user. It returns errNoSubscription if the subscription
// does not exist.
func (s store) subscription(ctx context.Context, id uuid.UUID, userID int64) (push.Subscription, error) {
	row, err := s.q(ctx).PushSubscriptionByID(ctx, webpushsql.PushSubscriptionByIDParams{ID: id, UserID: userID})
	return push.Subscription{Endpoint: row.Endpoint, P256dh: row.P256dh, Auth: row.Auth},
		sqldb.WrapAbsent(err, "read push subscription", errNoSubscription)
}

// delete deletes a subscription of the user, if it exists.
func (s store) delete(ctx context.Context, userID int64, endpoint string) error {
	err := s.q(ctx).DeletePushSubscriptionOfUser(ctx, webpushsql.DeletePushSubscriptionOfUserParams{UserID: userID, Endpoint: endpoint})
	return sqldb.Wrap(err, "delete push subscription")
}

// deleteLost deletes a subscription that no longer works, unless it has changed since it was used.
func (s store) deleteLost(ctx context.Context, id uuid.UUID, used push.Subscription) error {
	err := s.q(ctx).DeleteLostPushSubscription(ctx, webpushsql.DeleteLostPushSubscriptionParams{
		ID: id, Endpoint: used.Endpoint, P256dh: used.P256dh, Auth: used.Auth,
	})
	return sqldb.Wrap(err, "delete lost push subscription")
}
