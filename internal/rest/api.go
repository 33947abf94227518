package rest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/tracing"
)

// Config has the dependencies of the HTTP layer.
type Config struct {
	Messages *i18n.Catalog
	Log      *slog.Logger
	// Clock measures the duration of requests. It is the system clock, not the sandbox's.
	Clock clock.Clock
	// Authenticate returns the caller of a bearer token. It returns fault.Unauthenticated if the
	// token is unknown, revoked or expired.
	Authenticate func(ctx context.Context, token string) (*authz.Caller, error)
	// AuthenticateSession returns the caller of a session cookie. Nil accepts no sessions.
	AuthenticateSession func(ctx context.Context, secret string) (*authz.Caller, error)
	// AuthenticateKey returns the caller of an API key. tenantID is the tenant in the path, or
	// uuid.Nil. Nil accepts no keys.
	AuthenticateKey func(ctx context.Context, secret string, tenantID uuid.UUID) (*authz.Caller, error)
	// LogImpersonationEnd records the end of the impersonation by the caller of ctx, once. Nil records
	// nothing.
	LogImpersonationEnd func(ctx context.Context) error
	Limiter             *limit.Limiter
	// ClientIP returns the key for rate limits by client address.
	ClientIP func(*http.Request) string
	// Address returns the client address for the log and the audit trail. It defaults to ClientIP.
	Address func(*http.Request) string
	// FirstPartyOrigin reports whether pages of a browser's Origin are allowed to read responses.
	FirstPartyOrigin func(origin string) bool
	// RequireVerifiedEmail restricts routes with Verified to callers with a verified email.
	RequireVerifiedEmail bool
	// AdminRequireMFA restricts admin routes to platform admins with a second factor.
	AdminRequireMFA bool
	// HTTPS means that clients connect over TLS. It enables HSTS.
	HTTPS bool
	// CookieDomain is the domain whose subdomains share the cookies. If empty, cookies are limited
	// to the host that sets them.
	CookieDomain string
	// PublicURL and Version are shown in the OpenAPI document.
	PublicURL string
	Version   string
	// Events are the webhook events that the document describes.
	Events []Event
	// Idempotency stores the responses of routes with Idempotent. Nil ignores the header.
	Idempotency *idempotency.Service
	// Unlogged are path prefixes of requests that are not logged, such as "/sandbox/".
	Unlogged []string
	// Book has the handwritten texts of the document.
	Book reference.Book
	// Observe, if not nil, is called after each request. route is the path template, or empty for a
	// path without a route.
	Observe func(ctx context.Context, method, route string, status int, took time.Duration)
	// Record, if not nil, is called after each API request of a known caller, and must not block. route
	// is the path template, or empty for a path without a route. code is the code of the error, if any.
	Record func(r *http.Request, caller *authz.Caller, route string, status int, code string, took time.Duration)
	// Tracer creates spans of requests, if not nil.
	Tracer *tracing.Tracer
	// Panicked, if not nil, is called for each panic of a request.
	Panicked func()
	// Outage returns the response error for an err that means that a part of the service, such as
	// its database, is down. It returns nil for other errors, and may be nil itself.
	Outage func(err error) *fault.Error
	// Timeout limits the handling of a request. It defaults to a minute.
	Timeout time.Duration
}

// API serves a route table.
type API struct {
	cfg            Config
	router         chi.Router
	root           http.Handler
	routes         []Route
	ops            map[string]*operation // by operation id
	registry       *shape.Registry
	openAPI        func() *reference.Document
	document       func() ([]byte, error)
	packedDocument func() []byte // document, compressed with gzip

	missing        http.Handler // page for unknown paths; nil: the JSON error
	panics         panicLog
	unknownOrigins unknownOrigins
	streams        streams
}

// New compiles a route table. It panics on invalid tables: duplicate routes, an unknown scope or
// limit, a body type that cannot be represented in JSON, or a rule that validation does not
// enforce.
func New(cfg Config, routes []Route) *API {
	if cfg.Address == nil {
		cfg.Address = cfg.ClientIP
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, time.Minute)
	if cfg.AuthenticateSession == nil {
		cfg.AuthenticateSession = func(context.Context, string) (*authz.Caller, error) { return nil, errUnauthenticated }
	}
	if cfg.AuthenticateKey == nil {
		cfg.AuthenticateKey = func(context.Context, string, uuid.UUID) (*authz.Caller, error) { return nil, errUnauthenticated }
	}
	if cfg.Observe == nil {
		cfg.Observe = func(context.Context, string, string, int, time.Duration) {}
	}
	if cfg.Panicked == nil {
		cfg.Panicked = func() {}
	}
	a := &API{
		cfg: cfg, router: chi.NewRouter(), routes: routes, ops: map[string]*operation{},
		registry:       shape.NewRegistry(cfg.Book.Names, cfg.Book.Enums),
		panics:         panicLog{log: cfg.Log, clock: cfg.Clock, logged: map[[32]uintptr]time.Time{}},
		unknownOrigins: unknownOrigins{logged: map[string]bool{}}, streams: streams{open: map[string]int{}},
	}
	a.router.NotFound(a.notFound)
	a.router.MethodNotAllowed(a.methodNotAllowed)
	for _, r := range routes {
		a.add(r)
	}
	a.openAPI, a.document = sync.OnceValue(a.describe), sync.OnceValues(a.encodeDocument)
	a.packedDocument = sync.OnceValue(func() []byte {
		text, _ := a.Document() // serveDocument reports the error
		return packed(text)
	})
	a.router.Get("/openapi.json", a.serveDocument)
	a.router.Head("/openapi.json", a.serveDocument)
	a.Mount("/csrf-cookie", http.HandlerFunc(a.csrf))
	a.root = a.begin(a.recoverPanic(a.securityHeaders(a.cors(a.router))))
	return a
}

// add compiles a route. A panic includes the route.
func (a *API) add(r Route) {
	defer func() {
		if reason := recover(); reason != nil {
			panic(fmt.Sprintf("route %s %s: %v", r.Method, r.Path, reason))
		}
	}()
	r.check()
	if a.ops[r.ID()] != nil {
		panic("there is another route like it")
	}
	op := newOperation(r)
	a.ops[r.ID()] = op
	h := a.protect(op, a.runOnce(op, r.Handler(a, op)))
	a.router.Method(r.Method, r.Path, h)
	if r.Method == http.MethodGet { // HEAD is like GET without the body.
		a.router.Method(http.MethodHead, r.Path, h)
	}
	if r.Fixed {
		a.rejectOtherMethods(r)
	}
}

// rejectOtherMethods responds with 405 to all methods of a path but one.
func (a *API) rejectOtherMethods(r Route) {
	for _, method := range []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"} {
		if method != r.Method {
			a.router.MethodFunc(method, r.Path, func(w http.ResponseWriter, req *http.Request) { a.rejectMethod(w, req, r.Method) })
		}
	}
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.root.ServeHTTP(w, r) }

// Mount serves h at prefix, and at all paths below it if prefix ends with a slash. The common
// middleware applies, but no guards: it is meant for health checks and the sandbox's pages. The
// prefix "/" only matches the root, so unknown paths are still 404.
func (a *API) Mount(prefix string, h http.Handler) {
	a.router.Handle(prefix, h)
	if prefix != "/" && prefix[len(prefix)-1] == '/' {
		a.router.Handle(prefix+"*", h)
	}
}

// Routes returns the route table.
func (a *API) Routes() []Route { return a.routes }

// check panics on an invalid route. In particular, a missing scope must not make a route public.
func (r Route) check() {
	switch {
	case r.Handler == nil:
		panic("no handler")
	case r.Scope != Public && guards[r.Scope] == nil:
		panic(fmt.Sprintf("unknown scope %q", r.Scope))
	case r.Permission != "" && !slices.Contains([]Scope{Tenant, Member, Admin, Billing}, r.Scope):
		panic(fmt.Sprintf("no caller can have permission %q in scope %q", r.Permission, r.Scope))
	case r.Optional && r.Scope != Public:
		panic("only a public route has an optional caller")
	case r.Idempotent && (r.Scope == Public || r.Method != http.MethodPost):
		panic("only a POST route with a caller has idempotency keys")
	case len(r.Extra) > 0 && r.Scope == Public:
		panic("a public route cannot have guards")
	case r.KeyScope != "" && !knownKeyScopes(r.KeyScope):
		panic(fmt.Sprintf("unknown scope of API keys %q", r.KeyScope))
	case r.KeyScope != "" && !slices.Contains([]Scope{Tenant, Admin, Billing}, r.Scope):
		panic(fmt.Sprintf("no key authenticates in scope %q", r.Scope))
	case r.Rate != "" && !limit.IsGroup(r.Rate):
		panic(fmt.Sprintf("unknown rate-limit group %q", r.Rate))
	}
}

// knownKeyScopes reports whether all alternatives of a KeyScope are known.
func knownKeyScopes(scopes string) bool {
	for scope := range strings.SplitSeq(scopes, "|") {
		if !slices.Contains(authz.PlatformScopes(), scope) {
			return false
		}
	}
	return true
}
