package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// server is the whole service with its sandbox, as `tenantry dev` runs it, on a
// database of its own.
type server struct {
	t    testing.TB
	url  string
	log  *lockedBuffer
	stop func() error
	// database is the URL of the service's database, for looking at it from beside.
	database string
	// sandbox opens the sandbox's own database.
	sandbox func() *sqldb.DB
	secrets secrets
}

// each runs a test against the whole service on both databases.
func each(t *testing.T, f func(t *testing.T, s *server), change ...func(*settings.Settings)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, start(t, dialect, change...))
		})
	}
}

func start(t testing.TB, dialect sqldb.Dialect, change ...func(*settings.Settings)) *server {
	t.Helper()
	return startWith(t, newSettings(t, dialect, change...))
}

func newSettings(t testing.TB, dialect sqldb.Dialect, change ...func(*settings.Settings)) settings.Settings {
	t.Helper()
	s := settings.Settings{
		Addr: "127.0.0.1:0", Data: t.TempDir(), DatabaseURL: settings.Secret(dbtest.URL(t, dialect)),
		RateLimits: map[string]int{}, InvoiceMode: settings.PSPManaged, LogFormat: settings.LogJSON, LogLevel: slog.LevelDebug,
		HashCost: account.HashCost{MemoryKiB: 64, Passes: 1}, StripeSecretKey: dashboardKey,
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func startWith(t testing.TB, config settings.Settings) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	s := &server{t: t, log: &lockedBuffer{}, database: config.DatabaseURL.Reveal()}
	s.sandbox = sync.OnceValue(func() *sqldb.DB {
		return dbtest.Open(t, "sqlite://"+filepath.Join(config.Data, settings.SandboxFile))
	})
	done := make(chan error, 1)
	go func() {
		err := Dev(ctx, config, write, s.log)
		_ = write.Close()
		done <- err
	}()
	banner := make([]byte, 4096)
	n, err := read.Read(banner)
	if err != nil {
		t.Fatalf("the service did not start: %v\n%s", <-done, s.log)
	}
	s.url = regexp.MustCompile(`http://[^/\s]+`).FindString(string(banner[:n]))
	s.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("the service stopped with %v", err)
		}
		s.secrets.notIn(t, s.log.String())
		if t.Failed() {
			t.Logf("what the service logged:\n%s", s.log.notable())
		}
	})
	return s
}

// cli are the settings with which the command line reaches the same database.
func (s *server) cli() settings.Settings {
	return settings.Settings{DatabaseURL: settings.Secret(s.database)}
}

// limited turns the rate limits on.
func limited(s *settings.Settings) { s.RateLimits = limit.Defaults() }

// reply is a response, read whole.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	text   string
	body   map[string]any
}

// call makes a request with a JSON body (nil for none) and a bearer token ("" for
// none).
func (s *server) call(method, path, token string, body any) reply {
	s.t.Helper()
	return s.do(s.request(method, path, token, body))
}

func (s *server) request(method, path, token string, body any) *http.Request {
	s.t.Helper()
	var reader io.Reader
	if body != nil {
		s.secrets.noteJSON(body)
		text, ok := body.(string)
		if !ok {
			encoded, err := json.Marshal(body)
			if err != nil {
				s.t.Fatal(err)
			}
			text = string(encoded)
		}
		reader = strings.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func (s *server) do(r *http.Request) reply {
	s.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s.with(client, r)
}

func (s *server) with(client *http.Client, r *http.Request) reply {
	s.t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.read(r, resp)
}

// read takes a response in.
func (s *server) read(r *http.Request, resp *http.Response) reply {
	s.t.Helper()
	defer resp.Body.Close()
	s.secrets.noteLocation(resp.Header.Get("Location"))
	for _, c := range resp.Cookies() {
		s.secrets.note(c.Value)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := reply{t: s.t, status: resp.StatusCode, header: resp.Header, text: string(text)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &a.body); err != nil {
			s.t.Fatalf("%s %s: %v in %s", r.Method, r.URL.Path, err, text)
		}
		s.secrets.noteJSON(a.body)
	}
	return a
}

// want fails the test unless the status is as expected.
func (a reply) want(status int) reply {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.text)
	}
	return a
}

// at reads a value of the body by its path, such as data.plan.name or
// data.0.code; nil where there is none.
func (a reply) at(path string) any {
	var v any = a.body
	for _, key := range strings.Split(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

func (a reply) str(path string) string {
	a.t.Helper()
	s, ok := a.at(path).(string)
	if !ok {
		a.t.Fatalf("%s is %v in %s", path, a.at(path), a.text)
	}
	return s
}

// eventually repeats a look until it is content, for what follows in the
// background. It waits long: machines that run tests are busy.
func eventually(t testing.TB, what string, look func() bool) {
	t.Helper()
	for deadline := clock.System().Now().Add(time.Minute); clock.System().Now().Before(deadline); {
		if look() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not happen", what)
}

// owner is a registered user with a tenant.
type owner struct {
	token, tenant string
}

// register makes an account; onboarded completes the setup with all billing
// details.
func (s *server) register(email string, onboarded bool) owner {
	s.t.Helper()
	token := s.call("POST", "/api/v1/auth/register", "", map[string]any{
		"name": "Ada", "email": email, "password": "correct horse", "password_confirmation": "correct horse",
	}).want(201).str("accessToken")
	o := owner{token: token, tenant: s.call("GET", "/api/v1/auth/me", token, nil).want(200).str("currentTenant.id")}
	if onboarded {
		s.call("PATCH", "/api/v1/onboarding/complete-setup", token, billing).want(200)
	}
	return o
}

var billing = map[string]any{
	"legal_name": "Analytical Engines Ltd", "address": "12 St James Square", "city": "London",
	"postal_code": "SW1Y 4JH", "country": "GB", "billing_email": "billing@example.com",
}

// plan finds a plan's id by its slug.
func (s *server) plan(o owner, slug string) string {
	s.t.Helper()
	list, _ := s.call("GET", "/api/v1/tenant/"+o.tenant+"/plans", o.token, nil).want(200).at("data").([]any)
	for _, p := range list {
		if p := p.(map[string]any); p["slug"] == slug {
			return p["id"].(string)
		}
	}
	s.t.Fatalf("no plan %q", slug)
	return ""
}

// checkout opens a hosted checkout and returns the address of its page.
func (s *server) checkout(o owner, slug string) string {
	s.t.Helper()
	return s.call("POST", "/api/v1/tenant/"+o.tenant+"/checkout", o.token, map[string]any{
		"plan_id": s.plan(o, slug), "currency": "EUR", "quantity": 1,
		"success_url": "https://app.example.com/ok", "cancel_url": "https://app.example.com/no",
	}).want(200).str("data.url")
}

// pay submits the form of a hosted page.
func (s *server) pay(page, card string) reply {
	s.t.Helper()
	form := url.Values{"card_number": {card}}.Encode()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", page, strings.NewReader(form))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(r)
}

// subscribe buys a plan and waits until the subscription is active.
func (s *server) subscribe(o owner, slug string) {
	s.t.Helper()
	s.subscribeBy(o, slug, goodCard)
}

func (s *server) subscribeBy(o owner, slug, card string) {
	s.t.Helper()
	s.pay(s.checkout(o, slug), card).want(303)
	eventually(s.t, "the activation", func() bool {
		return s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200).at("data.status") == "active"
	})
}

const (
	goodCard     = "4242 4242 4242 4242"
	declinedCard = "4000 0000 0000 0002"
)

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// notable are the lines of a JSON log from the level WARN on.
func (l *lockedBuffer) notable() string {
	var lines strings.Builder
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, `"level":"INFO"`) && !strings.Contains(line, `"level":"DEBUG"`) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
