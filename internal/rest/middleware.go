package rest

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"github.com/tenantry/tenantry/internal/rest/panics"
)

// recoverPanic answers 500 for a panic, or cuts the connection if another answer was
// partly sent.
func (a *API) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if reason == http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
				panic(reason)
			}
			err := panics.Caught(reason)
			if rw, ok := w.(middleware.WrapResponseWriter); ok && rw.Status() != 0 {
				_ = a.problem(r.Context(), err)
				panic(http.ErrAbortHandler) // an answer was partly sent: cut the connection
			}
			a.WriteError(w, r, err)
		}()
		next.ServeHTTP(w, r)
	})
}

// securityHeaders sets the headers of every answer (rules: http#headers). Pages that
// need more, such as the reference, replace the policy. Answers that may be kept, such
// as the public catalog, replace no-store.
func (a *API) securityHeaders(next http.Handler) http.Handler {
	fixed := http.Header{ // all answers share the values, so they are replaced, never changed
		"X-Content-Type-Options":  {"nosniff"},
		"Referrer-Policy":         {"no-referrer"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
		"Cache-Control":           {"no-store"},
		"Vary":                    {"Origin"},
	}
	if a.cfg.HTTPS {
		fixed.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), fixed)
		next.ServeHTTP(w, r)
	})
}

// cors lets first-party origins read answers, with credentials. Any other
// origin gets no CORS header, and its preflight falls through to 405.
func (a *API) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !a.cfg.FirstPartyOrigin(origin) {
			if origin != "" {
				a.strangers.tell(r.Context(), a.cfg.Log, origin)
			}
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept-Language, X-Request-Id, X-XSRF-TOKEN, X-CSRF-TOKEN")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, ETag, X-CSRF-Token, X-Users-Total")
		next.ServeHTTP(w, r)
	})
}

// withTimeout bounds the time for one request; 0 does not.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}
