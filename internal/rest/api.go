package rest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest/panics"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/tracing"
)

// Config is what the HTTP layer needs from the rest of the service.
type Config struct {
	Messages *i18n.Catalog
	Log      *slog.Logger
	// Clock measures how long requests take; the system's, not the sandbox's.
	Clock clock.Clock
	// Authenticate looks up the caller of a bearer token. It returns
	// fault.Unauthenticated for a token that is unknown, revoked or expired.
	Authenticate func(ctx context.Context, token string) (*authz.Caller, error)
	// AuthenticateSession does the same for a session cookie. Nil accepts none.
	AuthenticateSession func(ctx context.Context, secret string) (*authz.Caller, error)
	// AuthenticateKey does the same for an API key; tenantID is the tenant in the path,
	// uuid.Nil where there is none. Nil accepts none.
	AuthenticateKey func(ctx context.Context, secret string, tenantID uuid.UUID) (*authz.Caller, error)
	Limiter         Limiter
	// ClientIP returns the key of the client's address for public rate limits.
	ClientIP func(*http.Request) string
	// Address returns the address itself, for the log and the audit trail; nil stands
	// for ClientIP.
	Address func(*http.Request) string
	// FirstPartyOrigin reports whether a browser's Origin may read answers.
	FirstPartyOrigin func(origin string) bool
	// RequireVerifiedEmail closes the routes that say so to callers whose email nobody has
	// proved.
	RequireVerifiedEmail bool
	// HTTPS says that the service is reached over TLS; it turns HSTS on.
	HTTPS bool
	// CookieDomain is the domain whose subdomains share the cookies; "" keeps them to the
	// host that sets them.
	CookieDomain string
	// PublicURL and Version are shown in the OpenAPI document.
	PublicURL string
	Version   string
	// Events are the messages to endpoints outside that the document describes.
	Events []Event
	// Unlogged are the beginnings of paths whose requests are not logged, such as "/sandbox/".
	Unlogged []string
	// Book is what is written about the API by hand; nil says nothing.
	Book *reference.Book
	// Observe is called for each answered request. route is the template of its path,
	// empty for a path without a route. Nil observes nothing.
	Observe func(ctx context.Context, method, route string, status int, took time.Duration)
	// Tracer makes spans of requests; nil makes none.
	Tracer *tracing.Tracer
	// Panicked is called for each panic of a request; nil is not called.
	Panicked func()
	// Outage returns the refusal for an error that says that a part of the service is away
	// for now, such as its database, and nil for any other; nil knows none.
	Outage func(err error) *fault.Error
	// Timeout bounds the handling of one request.
	Timeout time.Duration
}

// Limiter decides whether one more request of a group may pass for a key.
type Limiter interface {
	Allow(ctx context.Context, group, key string) limit.Decision
	// AllowMany decides about several requests together; the limit is the group's times share.
	AllowMany(ctx context.Context, group, key string, hits, share int) limit.Decision
}

// API serves a route table.
type API struct {
	cfg    Config
	router chi.Router
	huma   huma.API
	root   http.Handler
	routes []Route
	ops    map[string]*operation // by operation id

	missing   http.Handler // the page of unknown pages; nil answers as the API does
	panics    *panics.Log
	strangers strangers
	streams   streams
	openAPI   func() *huma.OpenAPI
	document  func() ([]byte, error)
}

// New compiles the routes of a table. It panics on a table that contradicts itself: two equal
// routes, an unknown scope or limit, a body type that OpenAPI cannot describe, or a rule that
// bind does not enforce.
func New(cfg Config, routes []Route) *API {
	replaceHumaErrors()
	if cfg.Address == nil {
		cfg.Address = cfg.ClientIP
	}
	if cfg.AuthenticateSession == nil {
		cfg.AuthenticateSession = func(context.Context, string) (*authz.Caller, error) { return nil, errUnauthenticated }
	}
	if cfg.AuthenticateKey == nil {
		cfg.AuthenticateKey = func(context.Context, string, uuid.UUID) (*authz.Caller, error) { return nil, errUnauthenticated }
	}
	if cfg.Book == nil {
		cfg.Book = &reference.Book{}
	}
	if cfg.Observe == nil {
		cfg.Observe = func(context.Context, string, string, int, time.Duration) {}
	}
	if cfg.Panicked == nil {
		cfg.Panicked = func() {}
	}
	a := &API{
		cfg: cfg, router: chi.NewRouter(), routes: routes, ops: map[string]*operation{},
		panics: panics.NewLog(cfg.Log, cfg.Clock),
	}
	a.huma = huma.NewAPI(humaConfig(cfg), adapter{a})
	a.router.NotFound(a.notFound)
	a.router.MethodNotAllowed(a.methodNotAllowed)
	for _, r := range routes {
		a.add(r)
	}
	a.settleSchemas()
	a.openAPI = sync.OnceValue(a.completed)
	a.document = sync.OnceValues(a.encodeDocument)
	a.mountDocs()
	a.Mount("/csrf-cookie", http.HandlerFunc(a.csrf))
	a.root = a.begin(a.recoverPanic(a.securityHeaders(a.cors(a.router))))
	return a
}

// add compiles a route. A panic names the route.
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
	r.Handler.register(a, r)
}

// handle serves h behind the checks of its route. HEAD is answered like GET, without the body.
func (a *API) handle(op *operation, h http.Handler) {
	h = a.protect(op, h)
	a.router.Method(op.route.Method, op.route.Path, h)
	if op.route.Method == http.MethodGet {
		a.router.Method(http.MethodHead, op.route.Path, h)
	}
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.root.ServeHTTP(w, r) }

// Mount serves h at prefix, and at everything below it if prefix ends with a slash.
// The common middleware runs before it, but no guard: it is for health checks and the
// sandbox's pages. The prefix "/" is the root alone, so that an unknown path is 404.
func (a *API) Mount(prefix string, h http.Handler) {
	a.router.Handle(prefix, h)
	if prefix != "/" && prefix[len(prefix)-1] == '/' {
		a.router.Handle(prefix+"*", h)
	}
}

// Routes returns the table that the API serves.
func (a *API) Routes() []Route { return a.routes }

// OpenAPI returns the document of all routes. It is completed at the first call, because
// most processes are never asked for it.
func (a *API) OpenAPI() *huma.OpenAPI { return a.openAPI() }

// adapter registers huma's operations with chi, behind the middleware of their route.
type adapter struct{ api *API }

func (ad adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	a := ad.api
	own := a.ops[op.OperationID]
	a.handle(own, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, in, err := a.bind(own, w, r)
		if err != nil {
			a.WriteError(w, r, err)
			return
		}
		e := newExchange(op, in, w, r)
		handler(e)
		e.finish()
	}))
}

func (ad adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { ad.api.ServeHTTP(w, r) }

// encode writes v as JSON with a trailing newline. A nil slice is []. A value that cannot be
// encoded is a programming error: encode panics before it writes a byte.
func encode(w io.Writer, v any) error {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
