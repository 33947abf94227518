package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest/panics"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// The refusals that belong to HTTP itself.
var (
	errNotFound         = shape.ErrNotFound
	errUnauthenticated  = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errCSRF             = fault.New(fault.CSRF, "error.csrf")
	errOrigin           = fault.New(fault.CSRF, "error.csrf_origin")
	errForbidden        = fault.New(fault.Forbidden, "error.forbidden")
	errEmailNotVerified = fault.Coded(fault.Forbidden, fault.EmailNotVerified)
	errScope            = fault.Coded(fault.Forbidden, fault.InsufficientScope)
	errTooManyRequests  = fault.New(fault.TooMany, "error.too_many_requests")
	errMalformedJSON    = fault.New(fault.Malformed, "error.malformed_json")
	errTooLarge         = fault.New(fault.TooLarge, "error.too_large")
	errSlowBody         = fault.New(fault.Slow, "error.slow_body")
	errUnsupported      = fault.New(fault.Unsupported, "error.unsupported_media_type")
	errUnreadable       = fault.New(fault.Malformed, "error.unreadable_body")
	errMalformedQuery   = fault.New(fault.Malformed, "error.query_malformed")
	errTimeout          = &fault.Error{Kind: fault.Unavailable, Message: "error.unavailable", RetryAfter: time.Second}
	errContextRequired  = fault.Coded(fault.Malformed, fault.TenantContextRequired)
	errOnboardingNeeded = fault.Coded(fault.Forbidden, fault.OnboardingIncomplete)
	errImpersonating    = fault.New(fault.Forbidden, "error.impersonating")
	errNotImpersonating = fault.New(fault.Malformed, "error.not_impersonating")
	errExpired          = fault.Coded(fault.Forbidden, fault.ImpersonationExpired)
	errNotInPerson      = fault.New(fault.Malformed, "error.impersonating")
)

// NotFound is the refusal for what does not exist or is another tenant's.
func NotFound() error { return errNotFound }

// statusOf is the one place that turns kinds into statuses.
func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Malformed:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Slow:
		return http.StatusRequestTimeout
	case fault.Conflict:
		return http.StatusConflict
	case fault.Gone:
		return http.StatusGone
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unsupported:
		return http.StatusUnsupportedMediaType
	case fault.CSRF:
		return 419
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.TooMany:
		return http.StatusTooManyRequests
	case fault.Provider:
		return http.StatusBadGateway
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// problem is an error on its way out: its status, headers and body. It is what
// huma writes when a handler fails.
type problem struct {
	status  int
	headers http.Header
	body    map[string]any
}

func (p *problem) Error() string           { return http.StatusText(p.status) }
func (p *problem) GetStatus() int          { return p.status }
func (p *problem) GetHeaders() http.Header { return p.headers }

// MarshalJSON writes the body (rules: http#errors).
func (p *problem) MarshalJSON() ([]byte, error) {
	return json.Marshal(p.body, json.Deterministic(true))
}

// problem turns any error into an answer and logs those that are accidents. No
// other place logs errors of requests.
func (a *API) problem(ctx context.Context, err error) *problem {
	var refusal *fault.Error
	outage := false
	switch {
	case errors.As(err, &refusal) && refusal.Kind != fault.Internal:
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		refusal = errTimeout.Wrap(err)
		err = refusal
	default:
		if refusal = a.outage(err); refusal == nil {
			return a.accident(ctx, err)
		}
		outage = true
	}
	locale := i18n.Locale(ctx)
	p := &problem{status: statusOf(refusal.Kind), headers: http.Header{}, body: map[string]any{}}
	for key, value := range refusal.Extra {
		p.body[key] = value
	}
	if refusal.Code != "" {
		p.body["code"] = string(refusal.Code)
	}
	if len(refusal.Fields) > 0 {
		p.body["errors"], p.body["message"] = a.fieldMessages(locale, refusal.Fields)
	} else {
		p.body["message"] = a.cfg.Messages.Text(locale, refusal.Message, refusal.Args)
	}
	if p.status == http.StatusUnauthorized {
		p.headers.Set("WWW-Authenticate", "Bearer") // RFC 9110, section 11.6.1
	}
	if refusal.RetryAfter > 0 {
		seconds := int(math.Ceil(refusal.RetryAfter.Seconds()))
		p.headers.Set("Retry-After", strconv.Itoa(seconds))
	}
	if p.status >= http.StatusInternalServerError {
		level := slog.LevelWarn
		if outage {
			level = slog.LevelDebug // who noticed it has logged it once, and this is every request
		}
		a.cfg.Log.Log(ctx, level, "request refused", "error", err)
	}
	return p
}

// outage returns the refusal for an accident that is nobody's mistake, or nil.
func (a *API) outage(err error) *fault.Error {
	if a.cfg.Outage == nil {
		return nil
	}
	return a.cfg.Outage(err)
}

// fieldMessages returns the messages of each broken field, and the first of them as
// the message of the whole answer.
func (a *API) fieldMessages(locale string, fields []fault.Field) (errs map[string][]string, first string) {
	errs = make(map[string][]string, len(fields))
	for i, field := range fields {
		text := a.cfg.Messages.Text(locale, field.Message, field.Args)
		errs[field.Path] = append(errs[field.Path], text)
		if i == 0 {
			first = text
		}
	}
	return errs, first
}

// statusAbandoned is the status in the access log of a request whose caller hung up.
// Nobody reads that answer.
const statusAbandoned = 499

func (a *API) accident(ctx context.Context, err error) *problem {
	p := &problem{status: http.StatusInternalServerError, headers: http.Header{}, body: map[string]any{
		"message":    a.cfg.Messages.Text(i18n.Locale(ctx), "error.internal", nil),
		"request_id": requestIDOf(ctx),
	}}
	if errors.Is(ctx.Err(), context.Canceled) {
		p.status = statusAbandoned
		a.cfg.Log.InfoContext(ctx, "request abandoned by the caller", "error", err)
		return p
	}
	var panicked *panics.Error
	if errors.As(err, &panicked) {
		a.cfg.Panicked()
		a.panics.Note(ctx, panicked)
		return p
	}
	a.cfg.Log.ErrorContext(ctx, "request failed", "error", err)
	return p
}

// WriteError answers a request with an error, outside of huma's handlers.
func (a *API) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	p := a.problem(r.Context(), err)
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_ = encode(w, p)
}

// Unreadable answers 400 to a request that was refused before the API saw it.
func (a *API) Unreadable(w http.ResponseWriter, r *http.Request) {
	a.begin(a.securityHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.WriteError(w, r, errUnreadable)
	}))).ServeHTTP(w, r)
}

func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	if a.missing != nil && isPage(r) {
		a.missing.ServeHTTP(w, r)
		return
	}
	a.WriteError(w, r, errNotFound)
}

// isPage reports whether a person's browser asks for a page, and not a program for the API.
func isPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !strings.HasPrefix(r.URL.Path, "/api/") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// MountMissing serves h, which answers 404, to browsers that ask for a page that does not exist.
func (a *API) MountMissing(h http.Handler) { a.missing = h }

// methodNotAllowed answers 405 with the methods that the path has. The router also
// calls it for methods that it does not know, on any path; those may be a 404.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	methods := a.allowed(r)
	if len(methods) == 0 {
		a.notFound(w, r)
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusMethodNotAllowed)
	message := a.cfg.Messages.Text(i18n.Locale(r.Context()), "error.method_not_allowed", nil)
	_ = encode(w, map[string]any{"message": message})
}

// allowed lists the methods that the path of r answers to.
func (a *API) allowed(r *http.Request) []string {
	path := r.URL.RawPath // what the router looks at
	if path == "" {
		path = r.URL.Path
	}
	var methods []string
	for _, method := range []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"} {
		if a.router.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return methods
}

// Schema describes the body to OpenAPI.
func (*problem) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: reference.Prefix + "Error"}
}

// replaceHumaErrors turns huma's own refusals into panics, which recoverPanic logs
// and answers with 500. bind runs before huma reads a request, so that only a
// programming error gets there, whose text must not reach the caller. The setting
// is global in huma.
var replaceHumaErrors = sync.OnceFunc(func() {
	huma.NewError = func(status int, _ string, _ ...error) huma.StatusError { return &problem{status: status} }
	huma.NewErrorWithContext = func(_ huma.Context, _ int, message string, errs ...error) huma.StatusError {
		panic(fmt.Errorf("huma refused what bind accepted: %s: %w", message, errors.Join(errs...)))
	}
	huma.DefaultArrayNullable = false
})
