// Package accounttest is a test kit for the packages below account: a database with two users, a
// job queue, and routes behind the real HTTP layer.
package accounttest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/clock"
)

// PublicURL is the public URL of the service in a rig.
const PublicURL = "https://api.example.com"

// Rig is a database with users 1 and 2 and the other dependencies of a service. A user's number is
// also their access token.
type Rig struct {
	T     *testing.T
	DB    *sqldb.DB
	Clock *clock.Adjustable
	Jobs  *jobs.Queue
	Log   *slog.Logger

	api *rest.API
}

// New returns a rig on db. Call Serve to add routes.
func New(t *testing.T, db *sqldb.DB) *Rig {
	t.Helper()
	r := &Rig{T: t, DB: db, Clock: clock.NewAdjustable(clock.System(), 0), Log: slog.New(slog.DiscardHandler)}
	r.Jobs = jobs.New(jobs.Deps{DB: db, Clock: r.Clock, Lease: clock.System(), Log: r.Log})
	for _, id := range []string{"1", "2"} {
		r.Exec(`INSERT INTO users (id, name, email, created_at, updated_at) VALUES (` + id + `, 'U', 'u` + id +
			`@example.com', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`)
	}
	return r
}

// Serve serves routes through the HTTP layer. rates are the rate limits by group, in requests per
// minute; nil uses the default limits.
func (r *Rig) Serve(rates map[string]int, routes ...rest.Route) {
	r.T.Helper()
	messages, err := i18n.Load()
	if err != nil {
		r.T.Fatal(err)
	}
	r.api = rest.New(rest.Config{
		Messages: messages, Log: r.Log, Clock: clock.System(),
		Authenticate:     authenticateByNumber,
		Limiter:          limit.New(limit.Config{Groups: rates, Counter: limit.NewMemory(clock.System()), Log: r.Log}),
		ClientIP:         func(*http.Request) string { return "192.0.2.7" },
		FirstPartyOrigin: func(string) bool { return false },
		PublicURL:        PublicURL,
	}, routes)
}

func authenticateByNumber(_ context.Context, token string) (*authz.Caller, error) {
	id, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
	}
	return &authz.Caller{UserID: id}, nil
}

// Work runs the job queue until the test ends.
func (r *Rig) Work() {
	r.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Jobs.Run(ctx) }()
	r.T.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.T.Errorf("the queue: %v", err)
		}
	})
}

// Settle waits until every job is done, dead or waiting for a retry. It returns the numbers of dead
// and of waiting jobs.
func (r *Rig) Settle() (dead, retrying int) {
	r.T.Helper()
	testkit.Eventually(r.T, "the end of the jobs", func() bool {
		return r.Number(`SELECT count(*) FROM jobs WHERE dead_at IS NULL AND (attempt = 0 OR lease_id IS NOT NULL)`) == 0
	})
	return r.Number(`SELECT count(*) FROM jobs WHERE dead_at IS NOT NULL`), r.Number(`SELECT count(*) FROM jobs WHERE dead_at IS NULL`)
}

// Advance advances the clock by d and wakes the job queue.
func (r *Rig) Advance(d time.Duration) {
	r.Clock.Advance(d)
	r.Jobs.Wake()
}

// Exec runs a statement on the database.
func (r *Rig) Exec(query string, args ...any) {
	r.T.Helper()
	if _, err := r.DB.Conn(r.T.Context()).ExecContext(r.T.Context(), query, args...); err != nil {
		r.T.Fatal(err)
	}
}

// Number returns the result of a query that returns one number.
func (r *Rig) Number(query string, args ...any) (n int) {
	r.T.Helper()
	if err := r.DB.Conn(r.T.Context()).QueryRowContext(r.T.Context(), query, args...).Scan(&n); err != nil {
		r.T.Fatal(err)
	}
	return n
}

// Call makes a request. headers are alternating names and values.
func (r *Rig) Call(method, path, token string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r.T.Helper()
	req := httptest.NewRequestWithContext(r.T.Context(), method, path, body)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.api.ServeHTTP(w, req)
	return w
}

// JSON makes a request with a JSON body.
func (r *Rig) JSON(method, path, token, body string) *httptest.ResponseRecorder {
	r.T.Helper()
	return r.Call(method, path, token, strings.NewReader(body), "Content-Type", "application/json")
}

// WantRefusal fails the test unless a response is an error in the common format with status. If
// field is not "", it must be the only invalid field.
func WantRefusal(t *testing.T, w *httptest.ResponseRecorder, status int, field string) {
	t.Helper()
	var answer struct {
		Message string
		Errors  map[string][]string
	}
	err := json.Unmarshal(w.Body.Bytes(), &answer)
	if w.Code != status || err != nil || answer.Message == "" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d, want %d: %s", w.Code, status, w.Body)
	}
	if field != "" && (len(answer.Errors) != 1 || len(answer.Errors[field]) != 1) {
		t.Errorf("want %s broken: %s", field, w.Body)
	}
}
