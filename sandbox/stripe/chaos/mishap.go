package chaos

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Wrap adds fault injection to an API endpoint.
func (c *Control) Wrap(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := c.dice.nextFault()
		if m.name == "" {
			next(w, r)
			return
		}
		c.engine.Log().InfoContext(r.Context(), "stripe sandbox: fault injected", slog.String("mishap", m.name), slog.String("path", r.URL.Path))
		if m.tooMany {
			answerTooMany(w, m)
			return
		}
		if !m.timeout && m.status != 0 {
			failure := kernel.Failure{Status: m.status, After: m.lost, Chaos: m.name}
			next(w, r.WithContext(kernel.WithFailure(r.Context(), failure)))
			return
		}
		if m.lost {
			next(&discardResponse{header: http.Header{}}, r)
		}
		abortConnection(r, m)
	}
}

// answerTooMany responds like Stripe's rate limiter.
func answerTooMany(w http.ResponseWriter, m mishap) {
	e := form.Refuse("", "rate_limit", "Request rate limit exceeded. Injected by the sandbox.")
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Request-Id", form.NewID("req"))
	h.Set(kernel.HeaderChaos, m.name)
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = w.Write(e.Body())
}

// abortConnection closes the connection without a response.
func abortConnection(r *http.Request, m mishap) {
	if m.timeout {
		// The server detects that the client has disconnected only after the body has been read.
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, form.MaxBody))
		gone := time.NewTimer(m.held)
		defer gone.Stop()
		select {
		case <-r.Context().Done():
		case <-gone.C:
		}
	}
	panic(http.ErrAbortHandler) // makes net/http close the connection
}

// discardResponse is a http.ResponseWriter that discards the response.
type discardResponse struct{ header http.Header }

func (n *discardResponse) Header() http.Header         { return n.header }
func (n *discardResponse) Write(b []byte) (int, error) { return len(b), nil }
func (n *discardResponse) WriteHeader(int)             {}
