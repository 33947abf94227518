// Package push sends Web Push messages: encrypted for one browser (RFC 8291),
// signed with the service's own keys (VAPID, RFC 8292), and handed to the push
// service that the browser's subscription names.
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

// MaxPayload is the largest encoded message, in bytes: a record of 4096 bytes without
// header, padding delimiter and authentication tag.
const MaxPayload = 3993

// DefaultTTL is how long a push service keeps a message for a browser that is
// away, unless the message says otherwise.
const DefaultTTL = 24 * time.Hour

var (
	// ErrGone says that the browser has ended its subscription, which can be deleted.
	ErrGone = errors.New("push: the subscription is gone")
	// ErrRefused says that the push service never accepts this message.
	ErrRefused = errors.New("push: refused")
)

// Message is what the browser's service worker gets, as JSON.
type Message struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	// URL is where a click leads.
	URL string `json:"url,omitempty"`
	// Tag makes a newer notification replace an older one with the same tag.
	Tag string `json:"tag,omitempty"`
}

// Validate returns ErrRefused if the message is longer than MaxPayload.
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
		return nil, fmt.Errorf("%w: %d bytes, of which at most %d fit", ErrRefused, len(payload), MaxPayload)
	}
	return payload, nil
}

// Client makes the requests. A *safehttp.Client is one.
type Client interface {
	// Do makes a request. It must refuse addresses that are not public.
	Do(req *http.Request) (*http.Response, error)
}

// Config is what a Sender needs.
type Config struct {
	Client Client
	// Contact is how the operators of push services reach those of this service: an
	// email address or an https URL.
	Contact string
}

// Sender sends messages.
type Sender struct{ cfg Config }

// NewSender returns a sender.
func NewSender(cfg Config) *Sender { return &Sender{cfg: cfg} }

// Send sends a message to the push service of a subscription. keys are those that the
// browser subscribed with. ttl is how long the push service keeps the message for a
// browser that is away; 0 is DefaultTTL. After errors other than ErrGone and ErrRefused
// another attempt may succeed.
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
	_, _ = io.Copy(io.Discard, resp.Body) // lets the connection be reused
	return outcome(resp.StatusCode)
}

// outcome returns the error that a push service's answer means (RFC 8030, section 8).
func outcome(status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusNotFound, status == http.StatusGone:
		return ErrGone
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return fmt.Errorf("push: the push service answered %d", status)
	default:
		return fmt.Errorf("%w: the push service answered %d", ErrRefused, status)
	}
}
