// Package push sends Web Push messages. They are encrypted for one browser (RFC 8291), signed with
// the service's keys (VAPID, RFC 8292), and sent to the push service of the browser's subscription.
package push

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/SherClockHolmes/webpush-go"
)

// MaxPayload is the maximum size of an encoded message in bytes: a record of 4096 bytes minus
// header, padding delimiter and authentication tag.
const MaxPayload = 3993

// DefaultTTL is how long a push service stores a message for an offline browser by default.
const DefaultTTL = 24 * time.Hour

var (
	// ErrGone means that the subscription has ended and can be deleted.
	ErrGone = errors.New("push: the subscription no longer exists")
	// ErrRefused means that the push service rejected the message permanently.
	ErrRefused = errors.New("push: rejected")
)

// Message is the JSON that the browser's service worker receives.
type Message struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	// URL is opened on a click.
	URL string `json:"url,omitempty"`
	// Tag identifies a notification. A newer one replaces an older one with the same tag.
	Tag string `json:"tag,omitempty"`
}

// Validate returns ErrRefused if the message is larger than MaxPayload.
func (m Message) Validate() error {
	_, err := m.encode()
	return err
}

func (m Message) encode() ([]byte, error) {
	payload, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes; the maximum is %d", ErrRefused, len(payload), MaxPayload)
	}
	return payload, nil
}

// Client makes HTTP requests. *safehttp.Client implements it.
type Client interface {
	// Do makes a request. It must reject addresses that are not public.
	Do(req *http.Request) (*http.Response, error)
}

// Config configures a Sender.
type Config struct {
	Client Client
	// Contact is an email address or https URL under which push service operators can reach the
	// operator of this service.
	Contact string
}

// Sender sends messages.
type Sender struct{ cfg Config }

// NewSender returns a Sender.
func NewSender(cfg Config) *Sender { return &Sender{cfg: cfg} }

// Send sends a message to the push service of a subscription. keys must be the keys that the
// browser subscribed with. ttl is how long the push service stores the message for an offline
// browser; 0 means DefaultTTL. Errors other than ErrGone and ErrRefused can be temporary.
func (s *Sender) Send(ctx context.Context, keys Keys, to Subscription, m Message, ttl time.Duration) error {
	payload, err := m.encode()
	if err != nil {
		return err
	}
	if err := to.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	target := &webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.P256dh, Auth: to.Auth}}
	resp, err := webpush.SendNotificationWithContext(ctx, payload, target, &webpush.Options{
		HTTPClient:      s.cfg.Client,
		Subscriber:      s.cfg.Contact,
		TTL:             int(cmp.Or(ttl, DefaultTTL).Seconds()),
		Urgency:         webpush.UrgencyNormal,
		VAPIDPublicKey:  keys.Public,
		VAPIDPrivateKey: keys.Private,
	})
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body) // allows connection reuse
	return outcome(resp.StatusCode)
}

// outcome returns the error for the response of a push service (RFC 8030, section 8).
func outcome(status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusNotFound, status == http.StatusGone:
		return ErrGone
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return fmt.Errorf("push: the push service returned %d", status)
	default:
		return fmt.Errorf("%w: the push service returned %d", ErrRefused, status)
	}
}
