package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
)

// script is a transport that returns the answers in order and then repeats the last answer.
type script struct {
	mu      sync.Mutex
	answers []answer
	seen    []*http.Request
	bodies  []string
}

type answer struct {
	status int
	header map[string]string
	body   string
	err    error
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.bodies = append(s.seen, r), append(s.bodies, string(body))
	a := s.answers[min(len(s.seen), len(s.answers))-1]
	if a.err != nil {
		return nil, a.err
	}
	resp := &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}
	for name, value := range a.header {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

func (s *script) client(t *testing.T, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New("https://billing.example.com/prefix/", append(options, client.WithHTTPClient(&http.Client{Transport: s}))...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	keyed   = api.UsageEventInput{MeterCode: "m", IdempotencyKey: nullable.NewNullableWithValue("k")}
	unkeyed = api.UsageEventInput{MeterCode: "m"}
	broken  = answer{err: errors.New("connection reset")}
	ok      = answer{status: 200, body: `{"data": []}`}
)

// A request is retried after temporary errors, but only if that is safe.
func TestAttempts(t *testing.T) {
	t.Parallel()
	read := func(ctx context.Context, c *client.Client) error { _, err := c.ListQuotas(ctx, "t"); return err }
	write := func(body api.UsageEventInput) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.RecordUsage(ctx, "t", body)
			return err
		}
	}
	batch := func(events ...api.UsageEventInput) func(context.Context, *client.Client) error {
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.RecordUsageBatch(ctx, "t", api.RecordUsageBatchRequest{Events: events})
			return err
		}
	}
	patch := func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateProfile(ctx, api.UpdateProfileRequest{Name: new("Ada")})
		return err
	}
	remove := func(ctx context.Context, c *client.Client) error { return c.RevokePlatformAPIKey(ctx, "1") }
	upload := func(ctx context.Context, c *client.Client) error {
		_, err := c.UploadAvatar(ctx, "multipart/form-data", strings.NewReader("x"))
		return err
	}
	limited := answer{status: 429, header: map[string]string{"Retry-After": "7"}, body: `{"message": "slow"}`}
	for _, tt := range []struct {
		name  string
		first answer
		call  func(context.Context, *client.Client) error
		tries int
		pause time.Duration // minimum
	}{
		{"read, busy", answer{status: 503}, read, 4, 300 * time.Millisecond},
		{"read, gateway", answer{status: 502}, read, 4, 300 * time.Millisecond},
		{"read, broken", broken, read, 4, 300 * time.Millisecond},
		{"read, told when", answer{status: 503, header: map[string]string{"Retry-After": "9"}}, read, 4, 27 * time.Second},
		{"read, accident", answer{status: 500}, read, 1, 0},
		{"read, refused", answer{status: 404}, read, 1, 0},
		{"delete, broken", broken, remove, 4, 300 * time.Millisecond},
		{"patch, broken", broken, patch, 1, 0},
		{"patch, busy", answer{status: 503}, patch, 1, 0},
		{"patch, limited", limited, patch, 4, 21 * time.Second},
		{"upload, limited", limited, upload, 1, 0},
		{"record with key, broken", broken, write(keyed), 4, 300 * time.Millisecond},
		{"record without, broken", broken, write(unkeyed), 1, 0},
		{"record over the quota", answer{status: 429, body: `{"message": "no", "code": "QUOTA_EXCEEDED"}`}, write(keyed), 1, 0},
		{"batch with keys", answer{status: 503}, batch(keyed, keyed), 4, 300 * time.Millisecond},
		{"batch with one without", answer{status: 503}, batch(keyed, unkeyed), 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: []answer{tt.first}}
				start := time.Now()
				if err := tt.call(t.Context(), s.client(t)); err == nil {
					t.Error("no error")
				}
				if len(s.seen) != tt.tries {
					t.Errorf("%d tries, want %d", len(s.seen), tt.tries)
				}
				if took := time.Since(start); took < tt.pause || tt.pause == 0 && took > 0 {
					t.Errorf("it took %s, want at least %s", took, tt.pause)
				}
				for _, body := range s.bodies[1:] {
					if body != s.bodies[0] {
						t.Errorf("body of a retry is %q, want %q", body, s.bodies[0])
					}
				}
			})
		})
	}
}

// If a retry succeeds, the caller gets its response.
func TestSecondAttemptSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{broken, {status: 503}, ok}}
		if _, err := s.client(t).ListCurrencies(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// If the delay would exceed the deadline, the error is returned immediately.
func TestDeadlineEndsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{{status: 429, header: map[string]string{"Retry-After": "60"}, body: `{"message": "slow"}`}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := s.client(t).ListCurrencies(ctx)
		if client.StatusOf(err) != 429 || time.Since(start) != 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// Arguments and options are escaped and sent in the request.
func TestRequest(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{{status: 200, body: `{"data": [], "meta": {"current_page": 1, "last_page": 1}}`}}}
	c := s.client(t, client.WithAPIKey("tnk_x"), client.WithUserAgent("shop/1.4"), client.WithLocale("fr"))
	_, err := c.ListTenantAuditLog(t.Context(), "a/b?c", &api.ListTenantAuditLogParams{Page: new(2), FilterAction: new("a&b=c")})
	if err != nil {
		t.Fatal(err)
	}
	r := s.seen[0]
	if got := r.URL.String(); got != "https://billing.example.com/prefix/api/v1/tenant/a%2Fb%3Fc/audit-logs?filter%5Baction%5D=a%26b%3Dc&page=2" {
		t.Errorf("the address is %s", got)
	}
	for name, want := range map[string]string{"Authorization": "Bearer tnk_x", "User-Agent": "shop/1.4 tenantry-go", "Accept-Language": "fr"} {
		if r.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, r.Header.Get(name), want)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.ListQuotas(t.Context(), id); err == nil || len(s.seen) != 1 {
			t.Errorf("the tenant %q makes a request", id)
		}
	}
}

// New refuses invalid options.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "billing.example.com", "ftp://x", "https://x/api/v1", "https://x/api/v1/", "https://u:p@x", "https://x?a=b", "http://%"} {
		if _, err := client.New(base); err == nil {
			t.Errorf("base URL %q is accepted", base)
		}
	}
	for name, option := range map[string]client.Option{
		"key": client.WithAPIKey(""), "login": client.WithLogin("a", ""), "tokens": client.WithTokens(client.Tokens{}),
		"store": client.WithTokenStore(nil), "attempts": client.WithAttempts(0), "http": client.WithHTTPClient(nil),
	} {
		if _, err := client.New("https://x", option); err == nil {
			t.Errorf("an empty %s is accepted", name)
		}
	}
}

// An Error contains all details of the response.
func TestError(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{{
		status: 422, header: map[string]string{"X-Request-Id": "r1"},
		body: `{"message": "Invalid.", "code": "billing_not_ready", "errors": {"b": ["B."], "a": ["A.", "C."]}, "missing_fields": ["city"]}`,
	}}}
	_, err := s.client(t).ShowProfile(t.Context())
	wrapped := fmt.Errorf("while shopping: %w", err)
	e, is := errors.AsType[*client.Error](wrapped)
	if !is || e.Status != 422 || e.RequestID != "r1" || e.Message != "Invalid." || len(e.Fields["a"]) != 2 {
		t.Fatalf("got %#v", e)
	}
	if got := e.Error(); got != "tenantry: 422 billing_not_ready: Invalid.; a: A. C.; b: B." {
		t.Errorf("got %q", got)
	}
	if !errors.Is(wrapped, client.ErrBillingNotReady) || errors.Is(wrapped, client.ErrQuotaExceeded) || errors.Is(wrapped, client.Code("")) {
		t.Error("errors.Is does not distinguish the codes")
	}
	var more struct {
		Missing []string `json:"missing_fields"`
	}
	if err := json.Unmarshal(e.Body, &more); err != nil || !slices.Equal(more.Missing, []string{"city"}) {
		t.Errorf("the body has %v, %v", more, err)
	}
	s.answers = []answer{{status: 504, body: "<html>"}}
	_, err = s.client(t, client.WithAttempts(1)).ShowProfile(t.Context())
	if err == nil || err.Error() != "tenantry: 504: Gateway Timeout" {
		t.Errorf("a proxy's page reads %v", err)
	}
}

// codes.go contains exactly the documented codes.
func TestCodes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string, text []byte) []string {
		var codes []string
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			codes = append(codes, string(m[1]))
		}
		slices.Sort(codes)
		return codes
	}
	documented := find("(?m)^\\| `([A-Za-z_]+)` \\| \\d", page)
	if named := find(`Code = "([A-Za-z_]+)"`, source); len(named) < 40 || !slices.Equal(named, documented) {
		t.Errorf("docs/errors.md has %v, codes.go %v", documented, named)
	}
}

// An endless response is not read completely.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	s := &script{answers: []answer{{status: 200, body: strings.Repeat(" ", api.MaxBody+1)}}}
	if _, err := s.client(t).ListCurrencies(t.Context()); !errors.Is(err, api.ErrTooLarge) {
		t.Errorf("%v, want %v", err, api.ErrTooLarge)
	}
}

// The iterators read all pages, both numbered and with cursors, and stop at an error.
func TestPages(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		page, _ := strconv.Atoi(q.Get("page"))
		switch {
		case q.Get("search") == "broken" && page == 2:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message": "No."}`)
		case strings.HasSuffix(r.URL.Path, "/admin/tenants"):
			fmt.Fprintf(w, `{"data": [{"id": "%d-a"}, {"id": "%d-b"}], "meta": {"current_page": %d, "last_page": 3}}`, page, page, page)
		default:
			next := map[string]string{"": `"two"`, "two": `"three"`, "three": "null"}[q.Get("cursor")]
			fmt.Fprintf(w, `{"data": [{"id": "%s"}], "meta": {"next_cursor": %s, "per_page": 1}}`, q.Get("cursor"), next)
		}
	}))
	defer service.Close()
	c, err := client.New(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	tenants := func(params *api.AdminListTenantsParams) (ids []string, failed error) {
		for tenant, err := range c.AdminListTenantsAll(t.Context(), params) {
			if err != nil {
				failed = err
				continue
			}
			ids = append(ids, tenant.ID)
		}
		return ids, failed
	}
	if ids, err := tenants(nil); err != nil || !slices.Equal(ids, []string{"1-a", "1-b", "2-a", "2-b", "3-a", "3-b"}) {
		t.Errorf("all pages contain %v, %v", ids, err)
	}
	if ids, err := tenants(&api.AdminListTenantsParams{Page: new(3)}); err != nil || len(ids) != 2 {
		t.Errorf("the pages from page 3 contain %v, %v", ids, err)
	}
	if ids, err := tenants(&api.AdminListTenantsParams{Search: new("broken")}); len(ids) != 2 || client.StatusOf(err) != 403 {
		t.Errorf("the pages before the error contain %v, %v", ids, err)
	}
	for _, err := range c.AdminListTenantsAll(t.Context(), nil) {
		if err != nil {
			t.Error(err)
		}
		break // iteration can stop early
	}
	var entries int
	for _, err := range c.ListActivityAll(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		entries++
	}
	if entries != 3 {
		t.Errorf("%d entries, want 3", entries)
	}
}
