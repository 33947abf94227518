// Package requestlog records requests to the API: all requests of API keys, and the failed requests
// of users (rules: request-log). Requests are handed to a buffer in memory, and one goroutine per
// process stores them in batches, so that recording never delays a request.
package requestlog

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// maxPath limits the stored part of a path, in bytes.
const maxPath = 512

// entry is a request to store.
type entry struct {
	tenant   uuid.UUID // Nil for none
	isHidden bool      // only platform admins see it
	at       time.Time
	method   string
	route    *string // nil if no route matched, like path
	path     *string
	status   int
	took     time.Duration
	code     *string
	key      *uuid.UUID
	user     *int64 // the admin during impersonation
	subject  *int64 // the impersonated user
	reason   *string
	ip       string
}

func (e entry) isFailed() bool { return e.status >= http.StatusBadRequest }

// Deps holds the dependencies of a Log.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock // the service's clock, for the times of requests
	Machine clock.Clock // the machine's clock, for the limits per second
	Log     *slog.Logger
	// Address returns the client address of a request.
	Address func(*http.Request) string
	// Dropped, if not nil, is called with the number of requests that are not stored.
	Dropped func(n int)
}

// Log is the request log. It is safe for concurrent use.
type Log struct {
	deps   Deps
	store  store
	buffer buffer
}

// New returns a Log. Run stores the requests that are recorded.
func New(d Deps) *Log {
	l := &Log{deps: d, store: store{d.DB}}
	l.buffer.dropped = d.Dropped
	if l.buffer.dropped == nil {
		l.buffer.dropped = func(int) {}
	}
	return l
}

// Record records a request after its response. route is the template of its path, or "" if no route
// matched, and code the code of the error, or "". Successful requests of users are not recorded.
// Record does not block.
func (l *Log) Record(r *http.Request, caller *authz.Caller, route string, status int, code string, took time.Duration) {
	if caller.Key == nil && status < http.StatusBadRequest {
		return
	}
	e := entry{tenant: tenantOf(r, caller, route), at: l.deps.Clock.Now(), status: status, took: took}
	l.buffer.add(l.deps.Machine.Now().Unix(), e, func(e *entry) { l.complete(e, r, caller, route, code) })
}

// tenantOf returns the tenant that a request belongs to, or Nil.
func tenantOf(r *http.Request, caller *authz.Caller, route string) uuid.UUID {
	switch {
	case caller.Tenant != nil:
		return caller.Tenant.TenantID
	case caller.Key != nil && caller.Key.Platform:
		return tenantInPath(route, r.URL.EscapedPath())
	default:
		return uuid.Nil
	}
}

// complete fills in an entry that is stored.
func (l *Log) complete(e *entry, r *http.Request, caller *authz.Caller, route, code string) {
	e.method, e.ip = methodOf(r.Method), l.deps.Address(r)
	if code != "" {
		e.code = &code
	}
	if route != "" {
		e.route, e.path = &route, new(readPath(route, r.URL.EscapedPath()))
	}
	switch {
	case caller.Key != nil:
		e.key = new(caller.Key.ID)
	case caller.Impersonator != nil:
		e.user, e.subject, e.reason = new(caller.Impersonator.UserID), new(caller.UserID), caller.Impersonator.Reason
	default:
		e.user = new(caller.UserID)
	}
	e.isHidden = caller.Key == nil && isOfAccount(r.URL.Path)
}

// methodOf returns the method for the log: otherMethod if it is unknown, because callers can send
// any text.
func methodOf(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return otherMethod
}

// methods are the methods in the log. otherMethod stands for unknown ones.
var methods = []string{"DELETE", "GET", "HEAD", "OPTIONS", otherMethod, "PATCH", "POST", "PUT"}

const otherMethod = "OTHER"

// readPath returns a path without its secrets.
func readPath(route, path string) string {
	if strings.Contains(route, "{token}") {
		parts := strings.Split(path, "/")
		for i, name := range strings.Split(route, "/") {
			if name == "{token}" && i < len(parts) {
				parts[i] = name
			}
		}
		path = strings.Join(parts, "/")
	}
	return path[:min(len(path), maxPath)]
}

// tenantInPath returns the tenant in an admin's path, or Nil.
func tenantInPath(route, path string) uuid.UUID {
	before, _, found := strings.Cut(route, "{tenant}")
	if !found || len(path) < len(before) {
		return uuid.Nil
	}
	text, _, _ := strings.Cut(path[len(before):], "/")
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil
	}
	return id
}

// isOfAccount reports whether a path belongs to the account of a user, not to a tenant.
func isOfAccount(path string) bool {
	below, _ := strings.CutPrefix(path, "/api/v1/")
	area, _, _ := strings.Cut(below, "/")
	return area == "auth" || area == "user"
}

// DeleteOld deletes requests whose time is between from (inclusive) and before (exclusive), oldest
// first, and returns their times.
func (l *Log) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return l.store.deleteOld(ctx, from, before, limit)
}

// DeleteOldGaps is like DeleteOld, for the time ranges in which requests are missing.
func (l *Log) DeleteOldGaps(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return l.store.deleteOldGaps(ctx, from, before, limit)
}

// Purge deletes the requests of a tenant.
func (l *Log) Purge(ctx context.Context, tenantID uuid.UUID) error {
	return l.store.purge(ctx, tenantID)
}
