// Package webpush manages the browsers in which users receive push messages, and sends the messages
// (rules: account#push-messages).
package webpush

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// maxSubscriptions is the maximum number of browsers per user.
	maxSubscriptions = 20
	// JobSend is the kind of job that sends one message to one browser.
	JobSend = "push.send"
)

// Sender sends a message. *push.Sender implements it.
type Sender interface {
	// Send sends m to a subscription. The push service stores it for up to ttl.
	Send(ctx context.Context, keys push.Keys, to push.Subscription, m push.Message, ttl time.Duration) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB     *sqldb.DB
	Clock  clock.Clock
	Jobs   *jobs.Queue
	Sender Sender
	Log    *slog.Logger
}

// Service manages the push subscriptions of users.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a new Service.
func NewService(d Deps) *Service {
	return &Service{deps: d, store: store{d.DB}}
}

// PublicKey returns the public key for subscriptions, in base64url.
func (s *Service) PublicKey(ctx context.Context) (string, error) {
	keys, err := s.keys(ctx)
	return keys.Public, err
}

// keys returns the key pair of the service and creates it on the first call. If several instances
// create one concurrently, one pair is stored and all of them return it.
func (s *Service) keys(ctx context.Context) (push.Keys, error) {
	keys, err := s.store.keys(ctx)
	if !errors.Is(err, errNoKeys) {
		return keys, err
	}
	if keys, err = push.NewKeys(); err != nil {
		return push.Keys{}, err
	}
	if err := s.store.insertKeys(ctx, keys, s.deps.Clock.Now()); err != nil {
		return push.Keys{}, err
	}
	return s.store.keys(ctx)
}

// browser is a subscription of a user.
type browser struct {
	id        uuid.UUID
	endpoint  string
	createdAt time.Time
}

func (s *Service) list(ctx context.Context, userID int64) ([]browser, error) {
	return s.store.list(ctx, userID)
}

// subscribe stores a browser's subscription. A subscription with the same endpoint is the same
// browser: it gets the new keys and belongs to this user from then on.
func (s *Service) subscribe(ctx context.Context, userID int64, sub push.Subscription) (b browser, err error) {
	if err := validationError(sub.Validate()); err != nil {
		return browser{}, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// The lock prevents concurrent requests from together exceeding the limit. The recheck
		// ensures that an ended login cannot add a browser that receives messages.
		if err := s.store.lockUser(ctx, userID); err != nil {
			return err
		}
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		others, err := s.store.countOthers(ctx, userID, sub.Endpoint)
		if err != nil {
			return err
		}
		if others >= maxSubscriptions {
			return errTooManyBrowsers()
		}
		b, err = s.store.put(ctx, userID, sub, s.deps.Clock.Now())
		return err
	})
	return b, err
}

// unsubscribe deletes a subscription of the user, if it exists.
func (s *Service) unsubscribe(ctx context.Context, userID int64, endpoint string) error {
	return s.store.delete(ctx, userID, endpoint)
}

// sendJob is one message to one browser of a user.
type sendJob struct {
	UserID         int64        `json:"user_id"`
	SubscriptionID uuid.UUID    `json:"subscription_id"`
	Message        push.Message `json:"message"`
	ExpiresAt      time.Time    `json:"expires_at"`
}

// Notify sends a message to all browsers of a user in the background, after the transaction of ctx
// has committed. It drops messages that cannot be delivered within push.DefaultTTL. It returns
// push.ErrRefused if the message is too long.
func (s *Service) Notify(ctx context.Context, userID int64, m push.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		browsers, err := s.list(ctx, userID)
		if err != nil {
			return err
		}
		expires := s.deps.Clock.Now().Add(push.DefaultTTL)
		for _, b := range browsers {
			job := sendJob{UserID: userID, SubscriptionID: b.id, Message: m, ExpiresAt: expires}
			if err := s.deps.Jobs.Enqueue(ctx, JobSend, job); err != nil {
				return err
			}
		}
		return nil
	})
}

// HandleSend handles JobSend. It reads the subscription again, because the browser may have
// unsubscribed or may belong to another user, who must not see the message.
func (s *Service) HandleSend(ctx context.Context, job jobs.Job) error {
	var j sendJob
	if err := job.Decode(&j); err != nil {
		return err
	}
	left := j.ExpiresAt.Sub(s.deps.Clock.Now()).Truncate(time.Second)
	if left <= 0 {
		return nil
	}
	to, err := s.store.subscription(ctx, j.SubscriptionID, j.UserID)
	if errors.Is(err, errNoSubscription) {
		return nil
	}
	if err != nil {
		return err
	}
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	err = s.deps.Sender.Send(ctx, keys, to, j.Message, left)
	switch {
	case errors.Is(err, push.ErrGone), errors.Is(err, safehttp.ErrForbidden):
		// A forbidden endpoint is in a private network and will never be reachable.
		s.deps.Log.InfoContext(ctx, "push subscription dropped", "subscription", j.SubscriptionID, "error", err)
		return s.store.deleteLost(ctx, j.SubscriptionID, to)
	case errors.Is(err, push.ErrRefused):
		return jobs.MarkFatal(err)
	}
	return err
}
