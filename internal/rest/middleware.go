package rest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"github.com/tenantry/tenantry/internal/clock"
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
			err := newPanicError(reason)
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
				a.unknownOrigins.log(r.Context(), a.cfg.Log, origin)
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

// maxUnknownOrigins bounds how many refused origins are logged, because callers can make them up.
const maxUnknownOrigins = 100

// unknownOrigins are the logged origins that are not first-party: a browser only says that the
// answer could not be read.
type unknownOrigins struct {
	mu     sync.Mutex
	logged map[string]bool
}

// log warns once that the pages of an origin get no answers, and says what would change that.
func (u *unknownOrigins) log(ctx context.Context, log *slog.Logger, origin string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.logged[origin] || len(u.logged) >= maxUnknownOrigins || len(origin) > 300 {
		return
	}
	if u.logged == nil {
		u.logged = map[string]bool{}
	}
	u.logged[origin] = true
	host := origin
	if parsed, err := url.Parse(origin); err == nil && parsed.Host != "" {
		host = parsed.Host
	}
	log.WarnContext(ctx, "pages of this origin can neither read answers nor use cookies", "origin", origin,
		"allow", "TENANTRY_FRONTEND_URL="+origin+" if it is the frontend, or TENANTRY_FIRST_PARTY_HOSTS="+host+" beside a frontend of the same scheme")
}

// panicError is a recovered panic.
type panicError struct {
	reason any
	frames [32]uintptr // where it was recovered
	stack  string
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.reason) }

// newPanicError returns the error for a value that a deferred function has recovered.
func newPanicError(reason any) *panicError {
	e := &panicError{reason: reason, stack: string(debug.Stack())}
	runtime.Callers(1, e.frames[:])
	return e
}

// panicInterval is how often a panic with the same frames is logged, with its stack. A bug on a
// busy route would fill the disk. All panics are counted.
const panicInterval = time.Minute

// panicLog logs panics. Frames are in the program's text, so their number is bounded.
type panicLog struct {
	log   *slog.Logger
	clock clock.Clock

	mu     sync.Mutex
	logged map[[32]uintptr]time.Time
}

// record logs a panic unless another with its frames was logged a short time ago.
func (l *panicLog) record(ctx context.Context, e *panicError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if last, isKnown := l.logged[e.frames]; isKnown && now.Sub(last) < panicInterval {
		return
	}
	l.logged[e.frames] = now
	l.log.ErrorContext(ctx, "panic", "reason", fmt.Sprint(e.reason), "stack", e.stack)
}
