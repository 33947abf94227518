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

// recoverPanic responds with 500 to a panic, or closes the connection if a response was partly
// sent.
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
				panic(http.ErrAbortHandler) // a response was partly sent: close the connection
			}
			a.WriteError(w, r, err)
		}()
		next.ServeHTTP(w, r)
	})
}

// securityHeaders sets the headers of every response (rules: http#headers). Pages that need a
// different policy, such as the reference, replace it. Cacheable responses, such as the public
// catalog, replace no-store.
func (a *API) securityHeaders(next http.Handler) http.Handler {
	fixed := http.Header{ // all responses share the values, so replace them and never modify them
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

// cors allows first-party origins to read responses, with credentials. Other origins get no CORS
// headers, and their preflight requests get 405.
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
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept-Language, Idempotency-Key, X-Request-Id, X-XSRF-TOKEN, X-CSRF-TOKEN")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, ETag, X-CSRF-Token, X-Users-Total")
		next.ServeHTTP(w, r)
	})
}

// maxUnknownOrigins limits the number of rejected origins that are logged, because callers can make
// them up.
const maxUnknownOrigins = 100

// unknownOrigins remembers the logged origins that are not first-party. The log is needed because a
// browser only reports that the response could not be read.
type unknownOrigins struct {
	mu     sync.Mutex
	logged map[string]bool
}

// log warns once per origin that its pages cannot read responses, and says how to change that.
func (u *unknownOrigins) log(ctx context.Context, log *slog.Logger, origin string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.logged[origin] || len(u.logged) >= maxUnknownOrigins || len(origin) > 300 {
		return
	}
	u.logged[origin] = true
	host := origin
	if parsed, err := url.Parse(origin); err == nil && parsed.Host != "" {
		host = parsed.Host
	}
	log.WarnContext(ctx, "cross-origin request blocked", "origin", origin,
		"allow", "TENANTRY_FRONTEND_URL="+origin+" if it is the frontend, or TENANTRY_FIRST_PARTY_HOSTS="+host+" if it uses the scheme of the frontend")
}

// panicError is a recovered panic.
type panicError struct {
	reason any
	frames [32]uintptr // stack frames at the recovery
	stack  string
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.reason) }

// newPanicError returns the error for a recovered value.
func newPanicError(reason any) *panicError {
	e := &panicError{reason: reason, stack: string(debug.Stack())}
	runtime.Callers(1, e.frames[:])
	return e
}

// panicInterval is the minimum time between two log entries for panics with the same frames. An
// entry has a stack trace, so a bug on a busy route could otherwise fill the disk. All panics are
// counted.
const panicInterval = time.Minute

// panicLog logs panics. The number of distinct frames is limited by the size of the program.
type panicLog struct {
	log   *slog.Logger
	clock clock.Clock

	mu     sync.Mutex
	logged map[[32]uintptr]time.Time
}

// record logs a panic unless one with the same frames was logged recently.
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
