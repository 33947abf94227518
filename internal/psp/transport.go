package psp

import (
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// answerLimit is the maximum size of a response in bytes, above any response of the provider. A
// longer response is cut off and cannot be decoded.
const answerLimit = 16 << 20

// transport is the last step before the network. The library only accepts paths that begin with the
// API version, so transport adds the path of the base URL.
type transport struct {
	next     http.RoundTripper
	basePath string
	log      *slog.Logger
}

func newTransport(base *url.URL, cfg Config) http.RoundTripper {
	return &transport{next: baseTransport(cfg), basePath: base.Path, log: cfg.Log}
}

// baseTransport returns the configured transport, or a default one with the configured limits.
func baseTransport(cfg Config) http.RoundTripper {
	next := cfg.Transport
	if next == nil {
		next = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: cfg.ConnectTimeout}).DialContext,
			TLSHandshakeTimeout:   cfg.ConnectTimeout,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   32,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}
	return next
}

// RoundTrip sends a request. It logs no headers, bodies or query strings.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	out := r.Clone(ctx)
	out.URL.Path = t.basePath + r.URL.Path
	if out.URL.RawPath != "" {
		out.URL.RawPath = t.basePath + r.URL.RawPath
	}
	// The library would describe the host machine in these headers.
	out.Header.Set("User-Agent", "Tenantry stripe-go/"+stripe.ClientVersion)
	out.Header.Del("X-Stripe-Client-User-Agent")
	rekey(out)

	res, err := t.next.RoundTrip(out)
	if err != nil {
		t.log.DebugContext(ctx, "payment provider", "method", r.Method, "path", r.URL.Path, "error", err)
		return nil, err
	}
	t.log.DebugContext(ctx, "payment provider", "method", r.Method, "path", r.URL.Path,
		"status", res.StatusCode, "request", res.Header.Get("Request-Id"))
	res.Body = http.MaxBytesReader(nil, res.Body, answerLimit)
	return res, nil
}
