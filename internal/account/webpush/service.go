// Package webpush has the browsers in which users get push messages, and sends
// the messages (rules: account#push-messages).
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
	// maxSubscriptions is how many browsers of one user get messages.
	maxSubscriptions = 20
	// JobSend is the kind of the jobs that send one message to one browser.
	JobSend = "push.send"
)

// Sender sends a message; *push.Sender is one.
type Sender interface {
	// Send has the push service of to keep m for as long as ttl.
	Send(ctx context.Context, keys push.Keys, to push.Subscription, m push.Message, ttl time.Duration) error
}

// Deps is what push messages need.
type Deps struct {
	DB     *sqldb.DB
	Clock  clock.Clock
	Jobs   *jobs.Queue
	Sender Sender
	Log    *slog.Logger
}

// Service has the push subscriptions of users.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service {
	return &Service{deps: d, store: store{d.DB}}
}

// PublicKey returns the key that browsers subscribe with, in base64url.
func (s *Service) PublicKey(ctx context.Context) (string, error) {
	keys, err := s.keys(ctx)
	return keys.Public, err
}

// keys returns the key pair of the service. The first call makes it. When several
// instances do so at once, one of the pairs is stored and all of them return it.
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

// browser is a subscription as its user sees it.
type browser struct {
	id        uuid.UUID
	endpoint  string
	createdAt time.Time
}

func (s *Service) list(ctx context.Context, userID int64) ([]browser, error) {
	return s.store.list(ctx, userID)
}

// subscribe stores a browser's subscription. One with the same endpoint is the
// same browser: it gets the new keys and belongs to this user from now on.
func (s *Service) subscribe(ctx context.Context, userID int64, sub push.Subscription) (b browser, err error) {
	if err := validationError(sub.Validate()); err != nil {
		return browser{}, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// The lock keeps two requests at once from exceeding the limit together. A login that
		// ended meanwhile must not leave a browser that gets messages.
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

// unsubscribe deletes a subscription of the user, if there is one.
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

// Notify sends a message to every browser of a user, in the background, once the
// transaction of ctx has committed. A message that could not be delivered within
// push.DefaultTTL is dropped. One that is too long is push.ErrRefused.
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

// HandleSend is the handler of JobSend. It looks the subscription up again: the
// browser may have unsubscribed, or belong to another user by now, who must not
// read the message.
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
		// A forbidden endpoint lies in a private network; nothing is ever sent there.
		s.deps.Log.InfoContext(ctx, "push subscription dropped", "subscription", j.SubscriptionID, "error", err)
		return s.store.deleteLost(ctx, j.SubscriptionID, to)
	case errors.Is(err, push.ErrRefused):
		return jobs.MarkFatal(err)
	}
	return err
}
