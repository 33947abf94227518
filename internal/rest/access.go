package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/logging"
)

type requestKey struct{}

// Request holds facts about the current request in its context. Inner middleware fills it. Outside
// of a request it is empty, and its methods do nothing.
type Request struct {
	api     *API
	id      string
	host    string        // host that the caller addressed
	header  http.Header   // of the response
	browser *browser      // cookies of the request
	caller  *authz.Caller // nil until authenticated, and on public routes
	op      *operation    // nil until routed
	query   url.Values    // in NFC
	code    string        // code of the error in the response, if any
}

// RequestOf returns the current request from a handler's context.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{browser: &browser{}}
}

// Host returns the host, with the port if there is one, that the caller addressed.
func (r *Request) Host() string { return r.host }

// Query returns the raw query in NFC, for lists that validate their own filters. It contains no
// control characters.
func (r *Request) Query() url.Values { return r.query }

// SetHeader sets a response header. It must be called before the response is written.
func (r *Request) SetHeader(name, value string) {
	if r.header != nil {
		r.header.Set(name, value)
	}
}

// callerKey identifies a user or an API key.
func callerKey(c *authz.Caller) string {
	if c.Key != nil {
		return "key:" + c.Key.ID.String()
	}
	return "user:" + strconv.FormatInt(c.UserID, 10)
}

// Explain returns the response for a request that fails with err, and logs err like the failure of
// a request. The code can be empty. fields are the messages of a validation error.
func (r *Request) Explain(ctx context.Context, err error) (status int, code, message string, fields map[string][]string) {
	p := r.api.problem(ctx, err)
	code, _ = p.body["code"].(string)
	message, _ = p.body["message"].(string)
	fields, _ = p.body["errors"].(map[string][]string)
	return p.status, code, message, fields
}

// requestID matches IDs that are safe in a log line.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// begin is the outermost middleware. It assigns the request ID (the caller's own if it is valid),
// determines the locale, and finally writes the access log.
func (a *API) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.cfg.Clock.Now()
		info := &Request{api: a, id: r.Header.Get("X-Request-Id"), host: r.Host, browser: &browser{}}
		if !requestID.MatchString(info.id) {
			info.id = uuid.NewString()
		}
		info.header = w.Header()
		info.header["X-Request-Id"] = []string{info.id}
		routing := chi.NewRouteContext()
		traced, end := a.cfg.Tracer.Request(r, methodForLog(r.Method))
		ctx := logging.WithRequestID(context.WithValue(traced, requestKey{}, info), info.id)
		ctx = context.WithValue(ctx, chi.RouteCtxKey, routing)
		if locale := a.cfg.Messages.Match(r.Header.Get("Accept-Language")); locale != "" {
			ctx = i18n.With(ctx, locale)
		}
		r = r.WithContext(ctx)
		rw := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			now, status, route := a.cfg.Clock.Now(), max(rw.Status(), http.StatusOK), routing.RoutePattern()
			a.cfg.Observe(ctx, methodForLog(r.Method), route, status, now.Sub(start))
			a.logRequest(ctx, r, info, route, rw, now.Sub(start))
			a.recordRequest(r, info, status, now.Sub(start))
			end(route, status)
		}()
		next.ServeHTTP(rw, r)
	})
}

// logRequest writes the access log entry of a request. It logs the route template and omits query
// strings, headers and bodies, which can contain tokens and codes.
func (a *API) logRequest(ctx context.Context, r *http.Request, info *Request, route string, rw middleware.WrapResponseWriter, took time.Duration) {
	quiet := slices.ContainsFunc(a.cfg.Unlogged, func(start string) bool { return strings.HasPrefix(r.URL.Path, start) })
	if quiet || !a.cfg.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", methodForLog(r.Method)),
		slog.String("route", route),
		slog.Int("status", max(rw.Status(), http.StatusOK)),
		slog.Int("bytes", rw.BytesWritten()),
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.String("ip", a.cfg.Address(r)),
	}
	if c := info.caller; c != nil {
		if c.UserID != 0 {
			attrs = append(attrs, slog.Int64("user", c.UserID))
		}
		if c.Key != nil {
			attrs = append(attrs, slog.String("api_key", c.Key.ID.String()))
		}
		if c.Tenant != nil {
			attrs = append(attrs, slog.String("tenant", c.Tenant.TenantID.String()))
		}
	}
	a.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// recordRequest passes an API request of a known caller to the Record function of the settings, unless
// the caller disconnected before the response.
func (a *API) recordRequest(r *http.Request, info *Request, status int, took time.Duration) {
	if a.cfg.Record == nil || status == statusAbandoned || !strings.HasPrefix(r.URL.Path, "/api/") {
		return
	}
	caller := info.caller
	if caller == nil {
		caller = a.callerToRecord(r, info)
	}
	if caller == nil {
		return
	}
	route := ""
	if info.op != nil {
		route = info.op.route.Path
	}
	a.cfg.Record(r, caller, route, status, info.code, took)
}

// callerToRecord returns the caller of a request that was answered without authentication, or nil:
// an API key on a public route, and any caller on a path without a route.
func (a *API) callerToRecord(r *http.Request, info *Request) *authz.Caller {
	if info.op != nil && len(info.op.guards) > 0 {
		return nil // the request was not authenticated
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.cfg.Timeout)
	defer cancel()
	if info.op == nil {
		info.browser = a.browserOf(nil, r)
	} else if _, token := authorization(r); !isKey(token) {
		return nil
	}
	caller, err := a.authenticate(ctx, r)
	if err != nil {
		return nil
	}
	return caller
}

// methodForLog returns the method for logs and metrics. Unknown methods, which callers can make up,
// become "OTHER".
func methodForLog(method string) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, method) {
		return method
	}
	return "OTHER"
}
