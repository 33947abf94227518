// Package listen takes webhooks in place of the program that they are for, or before it: it
// verifies what comes, prints it, and passes it on if it is told to (tenantry hooks listen).
// It needs no database and no running service.
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
	// maxBody is how long a message may be, in bytes; longer ones are refused.
	maxBody = 1 << 20
	// maxKnown is how many ids are remembered to name repetitions.
	maxKnown = 10_000
	// responseTimeout is how long the program may take for its answer: as long as the service waits.
	responseTimeout = 15 * time.Second
)

// Config says what a listener does.
type Config struct {
	// Secrets are those of the endpoint; a message is valid if one of them signed it. Without
	// any, signatures are not checked.
	Secrets []string
	// Forward is where messages go on to; nil for nowhere.
	Forward *url.URL
	JSON    bool // an object for each message in place of text
	Out     io.Writer
	Clock   clock.Clock // the machine's
}

// Listener is the handler of an endpoint. Any path is taken.
type Listener struct {
	config    Config
	verifiers []*standardwebhooks.Webhook
	client    *http.Client

	mu    sync.Mutex // guards what follows and keeps the lines of messages together
	known map[string]int
}

// New returns a listener, or an error for a secret that is none.
func New(c Config) (*Listener, error) {
	l := &Listener{config: c, known: map[string]int{}, client: &http.Client{
		Timeout:       responseTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for i, secret := range c.Secrets {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil || secret == "" {
			return nil, fmt.Errorf("secret %d is no secret of an endpoint: it begins with whsec_ and goes on in base64", i+1)
		}
		l.verifiers = append(l.verifiers, verifier)
	}
	return l, nil
}

// ServeHTTP takes a message. It answers 401 if the signature is wrong, what the program says
// if the message goes on to one (502 if it says nothing), and 204 otherwise.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Webhooks are sent with POST.", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "The body is too long or broke off.", http.StatusRequestEntityTooLarge)
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

// verify returns whether a message is signed, and why it is not.
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
		return invalid, "webhook-timestamp is more than five minutes off this machine's clock"
	default:
		return invalid, "no signature was made with the secret"
	}
}

// forward passes a message on and returns what the program answers, or 502 and why there is
// no answer.
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
