package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Errors that belong to HTTP itself.
var (
	errUnauthenticated  = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errCSRF             = fault.New(fault.CSRF, "error.csrf")
	errOrigin           = fault.New(fault.CSRF, "error.csrf_origin")
	errForbidden        = fault.New(fault.Forbidden, "error.forbidden")
	errEmailNotVerified = fault.NewCoded(fault.Forbidden, fault.EmailNotVerified)
	errFactorNeeded     = fault.NewCoded(fault.Forbidden, fault.MFARequired)
	errFactorMissing    = fault.NewCoded(fault.Forbidden, fault.MFAEnrollmentRequired)
	errScope            = fault.NewCoded(fault.Forbidden, fault.InsufficientScope)
	errTooManyRequests  = fault.New(fault.TooMany, "error.too_many_requests")
	errMalformedJSON    = fault.New(fault.Malformed, "error.malformed_json")
	errTooLarge         = fault.New(fault.TooLarge, "error.too_large")
	errSlowBody         = fault.New(fault.Slow, "error.slow_body")
	errUnsupported      = fault.New(fault.Unsupported, "error.unsupported_media_type")
	errUnreadable       = fault.New(fault.Malformed, "error.unreadable_body")
	errMalformedQuery   = fault.New(fault.Malformed, "error.query_malformed")
	errTimeout          = &fault.Error{Kind: fault.Unavailable, Message: "error.unavailable", RetryAfter: time.Second}
	errContextRequired  = fault.NewCoded(fault.Malformed, fault.TenantContextRequired)
	errOnboardingNeeded = fault.NewCoded(fault.Forbidden, fault.OnboardingIncomplete)
	errImpersonating    = fault.New(fault.Forbidden, "error.impersonating")
	errSSORequired      = fault.NewCoded(fault.Forbidden, fault.SSORequired)
	errNotInPerson      = fault.New(fault.Malformed, "error.impersonating")
	errNotImpersonating = fault.New(fault.Malformed, "error.not_impersonating")
	errExpired          = fault.NewCoded(fault.Forbidden, fault.ImpersonationExpired)
	errReadOnly         = fault.NewCoded(fault.Forbidden, fault.ImpersonationReadOnly)
)

// statuses maps error kinds to HTTP statuses.
var statuses = map[fault.Kind]int{
	fault.Internal: http.StatusInternalServerError, fault.Malformed: http.StatusBadRequest, fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden: http.StatusForbidden, fault.NotFound: http.StatusNotFound, fault.Slow: http.StatusRequestTimeout,
	fault.Conflict: http.StatusConflict, fault.Gone: http.StatusGone, fault.TooLarge: http.StatusRequestEntityTooLarge,
	fault.Unsupported: http.StatusUnsupportedMediaType, fault.CSRF: reference.StatusCSRF, fault.Invalid: http.StatusUnprocessableEntity,
	fault.TooMany: http.StatusTooManyRequests, fault.Provider: http.StatusBadGateway, fault.Unavailable: http.StatusServiceUnavailable,
}

// problem is the response to an error.
type problem struct {
	status  int
	headers http.Header
	body    map[string]any // (rules: http#errors)
}

// problem returns the response to an error and logs unexpected errors. Errors of requests are not
// logged anywhere else.
func (a *API) problem(ctx context.Context, err error) *problem {
	refusal, level := new(fault.Error), slog.LevelWarn
	switch {
	case errors.As(err, &refusal) && refusal.Kind != fault.Internal:
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		refusal = errTimeout.Wrap(err)
	default:
		refusal = nil
		if a.cfg.Outage != nil {
			refusal = a.cfg.Outage(err)
		}
		if refusal == nil {
			return a.accident(ctx, err)
		}
		level = slog.LevelDebug // every request fails now, and the outage itself was logged once
	}
	p := &problem{status: statuses[refusal.Kind], headers: http.Header{}, body: map[string]any{}}
	maps.Copy(p.body, refusal.Extra)
	if refusal.Code != "" {
		p.body["code"] = string(refusal.Code)
	}
	if len(refusal.Fields) == 0 {
		p.body["message"] = a.text(ctx, refusal.Message, refusal.Args)
	} else {
		messages := map[string][]string{}
		for _, f := range refusal.Fields {
			messages[f.Path] = append(messages[f.Path], a.text(ctx, f.Message, f.Args))
		}
		p.body["errors"], p.body["message"] = messages, messages[refusal.Fields[0].Path][0]
	}
	if p.status == http.StatusUnauthorized {
		p.headers.Set("WWW-Authenticate", "Bearer") // RFC 9110, section 11.6.1
	}
	if refusal.RetryAfter > 0 {
		p.headers.Set("Retry-After", strconv.Itoa(int(math.Ceil(refusal.RetryAfter.Seconds()))))
	}
	if p.status >= http.StatusInternalServerError {
		a.cfg.Log.Log(ctx, level, "request refused", "error", err)
	}
	return p
}

// text returns a message in the caller's language.
func (a *API) text(ctx context.Context, key string, args map[string]any) string {
	return a.cfg.Messages.Text(i18n.Locale(ctx), key, args)
}

// statusAbandoned is the status in the access log if the caller disconnected.
const statusAbandoned = 499

func (a *API) accident(ctx context.Context, err error) *problem {
	p := &problem{status: http.StatusInternalServerError, headers: http.Header{}, body: map[string]any{
		"message": a.text(ctx, "error.internal", nil), "request_id": RequestOf(ctx).id,
	}}
	panicked, isPanic := errors.AsType[*panicError](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		p.status = statusAbandoned
		a.cfg.Log.InfoContext(ctx, "request canceled by client", "error", err)
	case isPanic:
		a.cfg.Panicked()
		a.panics.record(ctx, panicked)
	default:
		a.cfg.Log.ErrorContext(ctx, "request failed", "error", err)
	}
	return p
}

// WriteError writes the response to an error.
func (a *API) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	p := a.problem(r.Context(), err)
	RequestOf(r.Context()).code, _ = p.body["code"].(string)
	maps.Copy(w.Header(), p.headers)
	_ = writeJSON(w, p.status, p.body) // strings and numbers can always be encoded
}

// writeUnreadable responds with 400 to a request that was rejected before it reached the API.
func (a *API) writeUnreadable(w http.ResponseWriter, r *http.Request) {
	a.begin(a.securityHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.WriteError(w, r, errUnreadable)
	}))).ServeHTTP(w, r)
}

func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	if a.missing != nil && isPage(r) {
		a.missing.ServeHTTP(w, r)
		return
	}
	a.WriteError(w, r, shape.ErrNotFound)
}

// isPage reports whether the request comes from a browser that loads a page, rather than an API
// client.
func isPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !strings.HasPrefix(r.URL.Path, "/api/") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// MountNotFound serves h, which must respond with 404, to browsers that load an unknown page.
func (a *API) MountNotFound(h http.Handler) { a.missing = h }

// methodNotAllowed responds with 405 and the allowed methods of the path. The router also calls it
// for unknown methods on any path. If no route has the path, it responds with 404.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	methods := a.allowedMethods(r)
	if len(methods) == 0 {
		a.notFound(w, r)
		return
	}
	a.rejectMethod(w, r, methods...)
}

// rejectMethod responds with 405 and the allowed methods.
func (a *API) rejectMethod(w http.ResponseWriter, r *http.Request, allowed ...string) {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	_ = writeJSON(w, http.StatusMethodNotAllowed, Note{a.text(r.Context(), "error.method_not_allowed", nil)})
}

// allowedMethods lists the methods that the path of r supports.
func (a *API) allowedMethods(r *http.Request) []string {
	path := cmp.Or(r.URL.RawPath, r.URL.Path) // the path that the router uses
	var methods []string
	for _, method := range []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"} {
		if a.router.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return methods
}
