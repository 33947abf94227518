package account

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// maxPushSubscriptions is how many browsers of one user get messages.
	maxPushSubscriptions = 20
	// jobPush is the job that sends one message to one browser.
	jobPush = "push.send"
	// vapidKey names the key pair that messages are signed with.
	vapidKey = "vapid"
)

// PushSender sends a message; *push.Sender is one.
type PushSender interface {
	Send(ctx context.Context, keys push.Keys, to push.Subscription, m push.Message, ttl time.Duration) error
}

// PushDeps is what push messages need.
type PushDeps struct {
	DB     *sqldb.DB
	Clock  clock.Clock
	Jobs   *jobs.Queue
	Sender PushSender
	Log    *slog.Logger
}

// Pushes has the browsers that users get push messages in, and sends them.
type Pushes struct {
	deps  PushDeps
	store store
}

// NewPushes returns the service and gives the queue its job.
func NewPushes(d PushDeps) *Pushes {
	p := &Pushes{deps: d, store: store{d.DB}}
	d.Jobs.Lane(webLane).Handle(jobPush, p.send)
	return p
}

// PublicKey returns the key that browsers subscribe with, in base64url.
func (p *Pushes) PublicKey(ctx context.Context) (string, error) {
	keys, err := p.keys(ctx)
	return keys.Public, err
}

// keys returns the key pair of the service. It is made when it is first asked
// for; of several instances that do so at once one wins, and all return its pair.
func (p *Pushes) keys(ctx context.Context) (push.Keys, error) {
	row, err := p.store.q(ctx).PlatformKey(ctx, vapidKey)
	if errors.Is(err, sqldb.ErrNoRows) {
		made, failed := push.NewKeys()
		if failed != nil {
			return push.Keys{}, failed
		}
		err = p.store.q(ctx).InsertPlatformKey(ctx, accountsql.InsertPlatformKeyParams{
			Name: vapidKey, PublicKey: made.Public, PrivateKey: made.Private, CreatedAt: p.deps.Clock.Now(),
		})
		if err != nil {
			return push.Keys{}, err
		}
		row, err = p.store.q(ctx).PlatformKey(ctx, vapidKey)
	}
	return push.Keys{Public: row.PublicKey, Private: row.PrivateKey}, err
}

// pushBrowser is a subscription as its user sees it.
type pushBrowser struct {
	id        uuid.UUID
	endpoint  string
	createdAt time.Time
}

func (p *Pushes) list(ctx context.Context, userID int64) ([]pushBrowser, error) {
	rows, err := p.store.q(ctx).PushSubscriptionsOfUser(ctx, userID)
	browsers := make([]pushBrowser, len(rows))
	for i, row := range rows {
		browsers[i] = pushBrowser{id: row.ID, endpoint: row.Endpoint, createdAt: row.CreatedAt}
	}
	return browsers, err
}

// subscribe stores a browser's subscription. One with the same endpoint is the
// same browser: it gets the new keys and belongs to this user from now on.
func (p *Pushes) subscribe(ctx context.Context, userID int64, s push.Subscription) (pushBrowser, error) {
	if err := subscriptionFault(s.Validate()); err != nil {
		return pushBrowser{}, err
	}
	b := pushBrowser{endpoint: s.Endpoint}
	err := p.deps.DB.Tx(ctx, func(ctx context.Context) error {
		q := p.store.q(ctx)
		if _, err := q.LockUserForPush(ctx, userID); err != nil {
			return err
		}
		others, err := q.CountOtherPushSubscriptions(ctx, accountsql.CountOtherPushSubscriptionsParams{UserID: userID, Endpoint: s.Endpoint})
		if err != nil {
			return err
		}
		if others >= maxPushSubscriptions {
			return tooManyBrowsers()
		}
		row, err := q.PutPushSubscription(ctx, accountsql.PutPushSubscriptionParams{
			ID: sqldb.NewID(), UserID: userID, Endpoint: s.Endpoint, P256dh: s.P256dh, Auth: s.Auth, CreatedAt: p.deps.Clock.Now(),
		})
		b.id, b.createdAt = row.ID, row.CreatedAt
		return err
	})
	return b, err
}

func tooManyBrowsers() error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "endpoint", Message: "validation.push_limit", Args: map[string]any{"max": maxPushSubscriptions},
	}}}
}

// subscriptionFault turns what a subscription has wrong into broken fields.
func subscriptionFault(err error) error {
	var broken fault.Fields
	if errors.Is(err, push.ErrEndpoint) {
		broken.Add("endpoint", "validation.https_url")
	}
	if errors.Is(err, push.ErrP256dh) {
		broken.Add("keys.p256dh", "validation.push_key")
	}
	if errors.Is(err, push.ErrAuth) {
		broken.Add("keys.auth", "validation.push_key")
	}
	return broken.Err()
}

// unsubscribe forgets a subscription of the user, if there is one.
func (p *Pushes) unsubscribe(ctx context.Context, userID int64, endpoint string) error {
	return p.store.q(ctx).DeletePushSubscriptionOfUser(ctx, accountsql.DeletePushSubscriptionOfUserParams{UserID: userID, Endpoint: endpoint})
}

// pushJob is one message to one browser of a user.
type pushJob struct {
	UserID         int64        `json:"user_id"`
	SubscriptionID uuid.UUID    `json:"subscription_id"`
	Message        push.Message `json:"message"`
	ExpiresAt      time.Time    `json:"expires_at"`
}

// Notify sends a message to every browser of a user, in the background, once the
// transaction of ctx has committed. It is not sent later than push.DefaultTTL
// after that. A message that is too long is push.ErrRefused.
func (p *Pushes) Notify(ctx context.Context, userID int64, m push.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return p.deps.DB.Tx(ctx, func(ctx context.Context) error {
		browsers, err := p.list(ctx, userID)
		if err != nil {
			return err
		}
		expires := p.deps.Clock.Now().Add(push.DefaultTTL)
		for _, b := range browsers {
			job := pushJob{UserID: userID, SubscriptionID: b.id, Message: m, ExpiresAt: expires}
			if err := p.deps.Jobs.Enqueue(ctx, jobPush, job); err != nil {
				return err
			}
		}
		return nil
	})
}

// send does one job. The subscription is looked up again: it may be gone, or be
// somebody else's by now, who must not read the message.
func (p *Pushes) send(ctx context.Context, job jobs.Job) error {
	var j pushJob
	if err := job.Decode(&j); err != nil {
		return err
	}
	left := j.ExpiresAt.Sub(p.deps.Clock.Now()).Truncate(time.Second)
	if left <= 0 {
		return nil
	}
	row, err := p.store.q(ctx).PushSubscriptionByID(ctx, accountsql.PushSubscriptionByIDParams{ID: j.SubscriptionID, UserID: j.UserID})
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	keys, err := p.keys(ctx)
	if err != nil {
		return err
	}
	to := push.Subscription{Endpoint: row.Endpoint, P256dh: row.P256dh, Auth: row.Auth}
	err = p.deps.Sender.Send(ctx, keys, to, j.Message, left)
	switch {
	case errors.Is(err, push.ErrGone), errors.Is(err, safehttp.ErrForbidden):
		// An endpoint that leads inside is none; nothing will ever be sent there.
		p.deps.Log.InfoContext(ctx, "push subscription dropped", "subscription", j.SubscriptionID, "error", err)
		return p.store.q(ctx).DeleteLostPushSubscription(ctx, accountsql.DeleteLostPushSubscriptionParams{
			ID: j.SubscriptionID, Endpoint: to.Endpoint, P256dh: to.P256dh, Auth: to.Auth,
		})
	case errors.Is(err, push.ErrRefused):
		return jobs.Fatal(err)
	}
	return err
}
