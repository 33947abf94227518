package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/logging"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/testkit"
)

var (
	ownTenant   = uuid.MustParse("0190a0b0-0000-7000-8000-000000000001")
	otherTenant = uuid.MustParse("0190a0b0-0000-7000-8000-000000000002")
)

// callers holds the callers by token.
var callers = map[string]*authz.Caller{
	"nobody": {UserID: 1, Name: "No Tenant"},
	"fresh":  {UserID: 2, Tenant: &authz.Membership{TenantID: ownTenant, Permissions: authz.TenantPermissions()}},
	"owner": {UserID: 3, Tenant: &authz.Membership{
		TenantID: ownTenant, OnboardingComplete: true, Permissions: authz.TenantPermissions(),
	}},
	"member": {UserID: 4, Tenant: &authz.Membership{TenantID: ownTenant, OnboardingComplete: true}},
	"admin":  {UserID: 5, IsPlatformAdmin: true, PlatformPermissions: []string{authz.BillingManage, "products.view"}},
	"clerk":  {UserID: 6, IsPlatformAdmin: true},
	"fraud":  {UserID: 7, PlatformPermissions: []string{"products.view"}},
}

func authenticate(_ context.Context, token string) (*authz.Caller, error) {
	switch caller, known := callers[token]; {
	case known:
		own := *caller // A copy for each request.
		return &own, nil
	case strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		return nil, errors.New("no token looks like this")
	case token == "broken":
		return nil, errors.New("secret: the database is down")
	default:
		return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
	}
}

// server serves only the HTTP layer, over real HTTP.
type server struct {
	t   testing.TB
	url string
	log *syncBuffer
	api *rest.API
}

// start serves routes. change modifies the configuration.
func start(t testing.TB, routes []rest.Route, change ...func(*rest.Config)) *server {
	t.Helper()
	s := &server{t: t, log: new(syncBuffer)}
	cfg := config(t, s.log)
	for _, f := range change {
		f(&cfg)
	}
	s.api = rest.New(cfg, routes)
	srv := httptest.NewServer(s.api)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

func config(t testing.TB, log io.Writer) rest.Config {
	t.Helper()
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	return rest.Config{
		Messages:         messages,
		Log:              logging.New(log, logging.Config{JSON: true}),
		Clock:            clock.System(),
		Authenticate:     authenticate,
		Limiter:          limited(nil),
		ClientIP:         func(*http.Request) string { return "192.0.2.7" },
		FirstPartyOrigin: func(origin string) bool { return origin == "https://app.example.com" },
		PublicURL:        "https://api.example.com",
		Version:          "1.2.3",
		Timeout:          10 * time.Second,
	}
}

// limited returns an in-memory limiter whose window never ends.
func limited(groups map[string]int) *limit.Limiter {
	now := clock.NewFixed(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return limit.New(limit.Config{Groups: groups, Counter: limit.NewMemory(now), Log: slog.New(slog.DiscardHandler)})
}

// answer is a response.
type answer struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   string
}

// do sends a request. Headers have the form "Name: value".
func (s *server) do(method, path, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	return s.send(req)
}

// post sends a JSON body as the owner.
func (s *server) post(path, body string, headers ...string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, path, body, append([]string{"Content-Type: application/json", "Authorization: Bearer owner"}, headers...)...)
}

func (s *server) get(path string, headers ...string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", headers...)
}

func (s *server) send(req *http.Request) answer {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{t: s.t, Status: resp.StatusCode, Header: resp.Header, Body: strings.TrimSuffix(string(body), "\n")}
}

// refusal is the body of an error response.
type refusal struct {
	Message   string              `json:"message"`
	Code      string              `json:"code"`
	Errors    map[string][]string `json:"errors"`
	RequestID string              `json:"request_id"`
}

// refused checks that the response is an error with the status, in the error format.
func (a answer) refused(status int) refusal {
	a.t.Helper()
	var r refusal
	if a.Status != status {
		a.t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	if err := json.Unmarshal([]byte(a.Body), &r); err != nil || r.Message == "" {
		a.t.Fatalf("not an error in the format of the spec: %s", a.Body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		a.t.Errorf("Content-Type %q", got)
	}
	return r
}

// broken checks that the response is 422 with exactly one message for each field.
func (a answer) broken(want map[string]string) refusal {
	a.t.Helper()
	r := a.refused(http.StatusUnprocessableEntity)
	got := map[string]string{}
	for field, messages := range r.Errors {
		got[field] = strings.Join(messages, "|")
	}
	diff(a.t, want, got)
	return r
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// logged waits for a log line that contains text, because the access log is written after the
// response.
func (s *server) logged(text string) map[string]any {
	s.t.Helper()
	var entry map[string]any
	testkit.Eventually(s.t, "a line with "+text+" in the log", func() bool {
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, text) {
				if err := json.Unmarshal([]byte(line), &entry); err != nil {
					s.t.Fatal(err)
				}
				return true
			}
		}
		return false
	})
	return entry
}
