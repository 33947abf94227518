// Package webhook receives the webhooks of Tenantry.
//
//	receive, err := webhook.NewHandler(os.Getenv("WEBHOOK_SECRET"), func(ctx context.Context, e webhook.Event) error {
//		if e.Type != api.WebhookEventTypeInvoicePaid {
//			return nil
//		}
//		var invoice api.Invoice
//		if err := e.Decode(&invoice); err != nil {
//			return err
//		}
//		…
//	})
//	http.Handle("POST /hooks", receive)
//
// Delivery is at least once and unordered: ignore an [Event.ID] that was handled before, and
// compare [Event.Time] if the order matters (docs/webhooks.md).
package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/tenantry/tenantry/client/api"
)

// MaxBody is the maximum size of a message, in bytes.
const MaxBody = 1 << 20

// Tolerance is the maximum difference between the time of a message and the clock.
const Tolerance = 5 * time.Minute

// Event is a message with a valid signature.
type Event struct {
	// ID is the same for all delivery attempts of the event.
	ID string `json:"-"`
	// Type is the type of the event. New types may be added at any time.
	Type api.WebhookEventType `json:"type"`
	// Time is the time of the event.
	Time time.Time `json:"timestamp"`
	// Tenant is the id of the tenant. It is empty for platform events.
	Tenant string `json:"tenant_id"`
	// Data is the API resource after the change. [Event.Decode] decodes it.
	Data json.RawMessage `json:"data"`
}

// Decode decodes the data into a pointer, such as *[api.Invoice] for types that start with invoice.
func (e Event) Decode(data any) error {
	if err := json.Unmarshal(e.Data, data); err != nil {
		return fmt.Errorf("webhook: data of %s: %w", e.Type, err)
	}
	return nil
}

// Verifier verifies messages to one endpoint.
type Verifier struct {
	signature *standardwebhooks.Webhook
	now       func() time.Time
}

// Option configures a [Verifier].
type Option func(*Verifier)

// WithClock replaces the system clock, for tests of old messages. Advancing the service's clock does
// not require it: messages carry the machine's time.
func WithClock(now func() time.Time) Option { return func(v *Verifier) { v.now = now } }

// NewVerifier returns a verifier for the endpoint with the secret (whsec_…).
func NewVerifier(secret string, options ...Option) (*Verifier, error) {
	signature, err := standardwebhooks.NewWebhook(secret)
	if err != nil || secret == "" {
		return nil, errors.New("webhook: not an endpoint secret (whsec_…)")
	}
	v := &Verifier{signature: signature, now: time.Now}
	for _, option := range options {
		option(v)
	}
	return v, nil
}

// ErrNotSigned is returned for a message without a valid signature, or with a time that differs by
// more than [Tolerance].
var ErrNotSigned = errors.New("webhook: the signature is invalid or too old")

// Verify verifies and decodes a message. The body must be unmodified.
func (v *Verifier) Verify(header http.Header, body []byte) (Event, error) {
	seconds, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil {
		return Event{}, ErrNotSigned
	}
	if off := v.now().Sub(time.Unix(seconds, 0)).Abs(); off > Tolerance {
		return Event{}, ErrNotSigned
	}
	if err := v.signature.VerifyIgnoringTimestamp(body, header); err != nil {
		return Event{}, ErrNotSigned
	}
	e := Event{ID: header.Get(standardwebhooks.HeaderWebhookID)}
	if err := json.Unmarshal(body, &e); err != nil {
		return Event{}, fmt.Errorf("webhook: invalid message: %w", err)
	}
	return e, nil
}

// NewHandler returns an HTTP handler for the messages to an endpoint. It responds with 204 if
// handle returns nil, and with 500 otherwise, so that the event is delivered again. If the
// signature is invalid, it responds with 401 without calling handle. handle must return within 15
// seconds: do longer work in the background.
func NewHandler(secret string, handle func(context.Context, Event) error, options ...Option) (http.Handler, error) {
	v, err := NewVerifier(secret, options...)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "use POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			http.Error(w, "the message is too large", http.StatusRequestEntityTooLarge)
			return
		} else if err != nil {
			http.Error(w, "the message is unreadable", http.StatusBadRequest)
			return
		}
		e, err := v.Verify(r.Header, body)
		switch {
		case errors.Is(err, ErrNotSigned):
			http.Error(w, "invalid signature", http.StatusUnauthorized)
		case err != nil:
			http.Error(w, "invalid message", http.StatusBadRequest)
		case handle(r.Context(), e) != nil:
			http.Error(w, "failed to process the message", http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}), nil
}
