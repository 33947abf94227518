// Package listen receives webhooks in place of, or in front of, the program that they are meant
// for. It verifies and prints each message and can forward it (tenantry hooks listen). It needs
// neither a database nor a running service.
package listen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/tenantry/tenantry/internal/clock"
)

const (
	// maxBody is the maximum size of a message, in bytes.
	maxBody = 1 << 20
	// maxKnown is how many IDs are remembered to detect repetitions.
	maxKnown = 10_000
	// responseTimeout is how long the program can take to respond, the same as in the service.
	responseTimeout = 15 * time.Second
)

// Config configures a Listener.
type Config struct {
	// Secrets are the secrets of the endpoint. A message is valid if one of them signed it. If
	// empty, signatures are not checked.
	Secrets []string
	// Forward is the URL to forward messages to, or nil.
	Forward *url.URL
	JSON    bool // print an object per message instead of text
	Out     io.Writer
	Clock   clock.Clock // the machine's clock
}

// Listener is the handler of an endpoint. It accepts any path.
type Listener struct {
	config    Config
	verifiers []*standardwebhooks.Webhook
	client    *http.Client

	mu    sync.Mutex // guards known and keeps the lines of a message together
	known map[string]int
}

// New returns a Listener, or an error if a secret is invalid.
func New(c Config) (*Listener, error) {
	l := &Listener{config: c, known: map[string]int{}, client: &http.Client{
		Timeout:       responseTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for i, secret := range c.Secrets {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil || secret == "" {
			return nil, fmt.Errorf("secret %d is not a webhook secret: it must be whsec_ followed by base64", i+1)
		}
		l.verifiers = append(l.verifiers, verifier)
	}
	return l, nil
}

// ServeHTTP receives a message. It answers 401 if the signature is invalid. If it forwards
// messages, it returns the status of the program, or 502 if the program does not respond. Otherwise
// it answers 204.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Use POST to send webhooks.", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "The body is too large or incomplete.", http.StatusRequestEntityTooLarge)
		return
	}
	m := l.read(r.Header, body)
	switch {
	case m.Signature == invalid:
		m.Answer = http.StatusUnauthorized
	case l.config.Forward != nil:
		m.Answer, m.Error = l.forward(r.Context(), r.Header, body)
	default:
		m.Answer = http.StatusNoContent
	}
	l.print(m, body)
	w.WriteHeader(m.Answer)
}

// verify checks the signature of a message. It returns the result and the reason if it is invalid.
func (l *Listener) verify(header http.Header, body []byte) (signature, string) {
	if len(l.verifiers) == 0 {
		return unchecked, ""
	}
	var last error
	for _, verifier := range l.verifiers {
		if last = verifier.Verify(body, header); last == nil {
			return valid, ""
		}
	}
	switch {
	case errors.Is(last, standardwebhooks.ErrRequiredHeaders):
		return invalid, "a header is missing: webhook-id, webhook-timestamp or webhook-signature"
	case errors.Is(last, standardwebhooks.ErrInvalidHeaders):
		return invalid, "webhook-timestamp is not a number of seconds"
	case errors.Is(last, standardwebhooks.ErrMessageTooOld), errors.Is(last, standardwebhooks.ErrMessageTooNew):
		return invalid, "webhook-timestamp differs from this machine's clock by more than five minutes"
	default:
		return invalid, "no signature matches the secret"
	}
}

// forward forwards a message. It returns the status of the program, or 502 and the reason if there
// is no response.
func (l *Listener) forward(ctx context.Context, header http.Header, body []byte) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.config.Forward.String(), bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway, err.Error()
	}
	for _, name := range []string{
		"Content-Type", "User-Agent", standardwebhooks.HeaderWebhookID, standardwebhooks.HeaderWebhookTimestamp, standardwebhooks.HeaderWebhookSignature,
	} {
		if value := header.Get(name); value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return http.StatusBadGateway, err.Error()
	}
	_ = resp.Body.Close()
	return resp.StatusCode, ""
}
