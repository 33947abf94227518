package rest

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/logging"
)

type infoKey struct{}

// requestInfo is the API that answers a request and what the access log says about
// it. Inner middleware fills it.
type requestInfo struct {
	api    *API
	id     string
	host   string      // by which the caller calls the service
	header http.Header // of the answer
	ip     string      // see API.address
	userID int64       // 0 is nobody
	key    uuid.UUID   // the API key; Nil is none
	tenant uuid.UUID   // Nil is none
	op     *operation  // nil before the route is known
}

func infoOf(ctx context.Context) *requestInfo {
	if info, ok := ctx.Value(infoKey{}).(*requestInfo); ok {
		return info
	}
	return &requestInfo{}
}

// Host returns the host, and the port if there is one, by which a request calls the service.
func Host(ctx context.Context) string { return infoOf(ctx).host }

// SetHeader sets a header of the answer to the request of ctx, before the answer begins. Where
// there is no request it does nothing.
func SetHeader(ctx context.Context, name, value string) {
	if h := infoOf(ctx).header; h != nil {
		h.Set(name, value)
	}
}

func requestIDOf(ctx context.Context) string { return infoOf(ctx).id }

// saneRequestID reports whether an id cannot break a log line: it has 1 to 128
// letters, digits or ._-:
func saneRequestID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._-:", rune(c)) {
			return false
		}
	}
	return true
}

// begin is the outermost middleware. It gives the request an id (the caller's own if
// that is sane), finds the locale, and writes the access log at the end.
func (a *API) begin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.cfg.Clock.Now()
		info := &requestInfo{api: a, id: r.Header.Get("X-Request-Id"), host: r.Host}
		if !saneRequestID(info.id) {
			info.id = uuid.NewString()
		}
		info.header = w.Header()
		info.header["X-Request-Id"] = []string{info.id}
		routing := chi.NewRouteContext()
		traced, end := a.cfg.Tracer.Request(r, methodForLog(r.Method))
		ctx := logging.WithRequestID(context.WithValue(traced, infoKey{}, info), info.id)
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
			end(route, status)
		}()
		next.ServeHTTP(rw, r)
	})
}

// logRequest writes one line for a request. It names the route by its template
// and leaves out query strings, headers and bodies, which carry tokens and codes.
func (a *API) logRequest(ctx context.Context, r *http.Request, info *requestInfo, route string, rw middleware.WrapResponseWriter, took time.Duration) {
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
		slog.String("ip", a.address(r, info)),
	}
	if info.userID != 0 {
		attrs = append(attrs, slog.Int64("user", info.userID))
	}
	if info.key != uuid.Nil {
		attrs = append(attrs, slog.String("api_key", info.key.String()))
	}
	if info.tenant != uuid.Nil {
		attrs = append(attrs, slog.String("tenant", info.tenant.String()))
	}
	a.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}

// address returns the client's address, which is found once for a request.
func (a *API) address(r *http.Request, info *requestInfo) string {
	if info.ip == "" {
		info.ip = a.cfg.Address(r)
	}
	return info.ip
}

// methodForLog returns a method for the log and the metrics: callers can make up
// methods, which are all "OTHER".
func methodForLog(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "OTHER"
	}
}
