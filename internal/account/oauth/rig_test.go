package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/sandbox/idp"
)

// oauthFrontend is the URL of the frontend, which no server handles.
const oauthFrontend = "https://app.example.com/web"

// rig serves delegated login over HTTP, with its own database.
type rig struct {
	t        *testing.T
	db       *sqldb.DB
	clock    clock.Clock
	url      string
	log      *lockedLog
	accounts *account.Service
	oauth    *oauth.Service
	pictures *pictures
}

// newRig serves delegated login. providers returns the providers for the URL of the service.
func newRig(t *testing.T, db *sqldb.DB, c clock.Clock, providers func(url string) []oauth.Provider) *rig {
	t.Helper()
	r := &rig{t: t, db: db, clock: c, log: &lockedLog{}, pictures: &pictures{}}
	server := httptest.NewUnstartedServer(nil)
	r.url = "http://" + server.Listener.Addr().String()
	log := slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	passwords := account.NewPasswords(account.HashCost{})
	r.accounts = account.NewService(account.Deps{
		DB: db, Clock: c, Passwords: passwords, Lifetimes: account.DefaultLifetimes(),
		Tenants: tenant.NewService(tenant.Deps{DB: db, Clock: c, Subscriptions: noSubscriptions{}}),
	})
	var err error
	r.oauth, err = oauth.NewService(oauth.Deps{
		DB: db, Clock: c, Accounts: r.accounts, Providers: providers(r.url), PublicURL: r.url, CallbackPage: oauthFrontend + "/oauth/callback", Avatars: r.pictures, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	accounts := account.NewHTTP(r.accounts, new(avatar.Service))
	h := oauth.NewHTTP(r.oauth, accounts)
	server.Config.Handler = rest.New(rest.Config{
		Messages: messages, Log: log, Clock: clock.System(), Authenticate: r.accounts.Authenticate,
		Limiter:          limit.New(limit.Config{Groups: map[string]int{}, Log: log}),
		ClientIP:         func(*http.Request) string { return "192.0.2.1" },
		FirstPartyOrigin: func(origin string) bool { return origin == "https://app.example.com" },
		PublicURL:        r.url, Version: "v1", Timeout: 20 * time.Second,
	}, []rest.Route{
		{Method: "GET", Path: "/api/v1/auth/me", Scope: rest.User, Summary: "me", Handler: rest.Handle(accounts.Me)},
		{Method: "GET", Path: "/api/v1/auth/oauth/providers", Scope: rest.Public, Summary: "providers", Handler: rest.Handle(h.Providers)},
		{Method: "GET", Path: "/api/v1/auth/oauth/{provider}/redirect", Scope: rest.Public, Rate: limit.OAuth, Summary: "redirect", Handler: rest.Handle(h.Redirect, rest.Status(302))},
		{Method: "GET", Path: "/api/v1/auth/oauth/{provider}/callback", Scope: rest.Public, Rate: limit.OAuth, Summary: "callback", Handler: rest.Handle(h.Callback, rest.Status(302))},
		{Method: "POST", Path: "/api/v1/auth/oauth/exchange", Scope: rest.Public, Rate: limit.OAuth, Summary: "exchange", Handler: rest.Handle(h.Exchange)},
	})
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		if t.Failed() {
			for line := range strings.Lines(r.log.String()) {
				if !strings.Contains(line, `"msg":"request"`) {
					t.Log(line)
				}
			}
		}
	})
	return r
}

type noSubscriptions struct{}

func (noSubscriptions) Overview(context.Context, []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	return nil, nil //nolint:nilnil // Reading a nil map is fine.
}

func (noSubscriptions) RecordEntitlements(context.Context, uuid.UUID) error { return nil }

func (noSubscriptions) HasActive(context.Context, uuid.UUID) (bool, error) { return false, nil }

func (noSubscriptions) HasBought(context.Context, uuid.UUID) (bool, error) { return false, nil }

// pictures records the picture URLs that are passed to the importer in committed transactions.
type pictures struct {
	mu   sync.Mutex
	urls map[int64]string
	err  error
}

func (p *pictures) Import(ctx context.Context, userID int64, url string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !sqldb.InTx(ctx) {
		panic("a picture is imported outside of the transaction")
	}
	if p.urls == nil {
		p.urls = map[int64]string{}
	}
	p.urls[userID] = url
	return p.err
}

// onSandbox runs a test with the sandbox's provider on both databases.
func onSandbox(t *testing.T, f func(t *testing.T, r *rig, now *clock.Fixed)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := clock.NewFixed(time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)) // not the current time
		r := newRig(t, db, now, func(url string) []oauth.Provider {
			return []oauth.Provider{sandboxProvider(t, now, url)}
		})
		f(t, r, now)
	})
}

// sandboxProvider starts the sandbox's provider for a service.
func sandboxProvider(t *testing.T, c clock.Clock, service string) oauth.Provider {
	t.Helper()
	db, err := dbfile.Open(dbfile.DSN(filepath.Join(t.TempDir(), "sandbox.db"), "_txlock=immediate&_busy_timeout=5000&_pragma=journal_mode(WAL)"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	server := httptest.NewUnstartedServer(nil)
	public := "http://" + server.Listener.Addr().String()
	p, err := idp.New(t.Context(), idp.Config{
		DB: db, Clock: c, PublicURL: public, ClientID: "tenantry", ClientSecret: "s%&cret+of the client",
		RedirectURIs: []string{service + oauth.Path + "sandbox/callback"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = p.Handler()
	server.Start()
	t.Cleanup(server.Close)
	return oauth.OIDCProvider("sandbox", p.Issuer(), "tenantry", "s%&cret+of the client")
}

// browser is a browser with its own cookies.
type browser struct {
	t      *testing.T
	rig    *rig
	client *http.Client
}

func (r *rig) browser() *browser {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &browser{t: r.t, rig: r, client: &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is a complete response.
type page struct {
	status   int
	header   http.Header
	location string // absolute
	text     string
}

func (b *browser) do(r *http.Request) page {
	b.t.Helper()
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	p := page{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if to, err := resp.Location(); err == nil {
		p.location = to.String()
	}
	return p
}

func (b *browser) get(address string) page {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

func (b *browser) post(address string, form url.Values) page {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// start starts a login and returns the address of the consent page.
func (b *browser) start(provider string) string {
	b.t.Helper()
	p := b.get(b.rig.url + oauth.Path + provider + "/redirect")
	if p.status != http.StatusFound {
		b.t.Fatalf("redirect returns %d %s", p.status, p.text)
	}
	return p.location
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"/?>`)

// consent submits the sandbox's consent form and returns the address of the callback.
func (b *browser) consent(at string, fields url.Values) string {
	b.t.Helper()
	form := b.get(at)
	if form.status != http.StatusOK || !strings.Contains(form.text, `<form id="consent" method="post"`) {
		b.t.Fatalf("the consent page is %d %s %s", form.status, form.location, form.text)
	}
	for _, field := range hidden.FindAllStringSubmatch(form.text, -1) {
		fields.Set(field[1], html.UnescapeString(field[2]))
	}
	u, err := url.Parse(at)
	if err != nil {
		b.t.Fatal(err)
	}
	back := b.post("http://"+u.Host+idp.Path+"/authorize", fields)
	if back.status != http.StatusSeeOther {
		b.t.Fatalf("the consent form returns %d %s", back.status, back.text)
	}
	return back.location
}

// callback follows the provider's redirect and returns the parameters sent to the frontend.
func (b *browser) callback(address string) url.Values {
	b.t.Helper()
	p := b.get(address)
	query, ok := strings.CutPrefix(p.location, oauthFrontend+"/oauth/callback?")
	if p.status != http.StatusFound || !ok {
		b.t.Fatalf("callback returns %d %q %s", p.status, p.location, p.text)
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 {
		b.t.Fatalf("redirected with query %s, want one parameter", query)
	}
	return values
}

// somebody returns the consent form of a person with a verified email.
func somebody(email string) url.Values {
	return url.Values{"email": {email}, "name": {"Ada Lovelace"}, "email_verified": {"true"}}
}

// login performs a complete login and returns the response of the exchange.
func (b *browser) login(provider string, fields url.Values) session {
	b.t.Helper()
	told := b.callback(b.consent(b.start(provider), fields))
	return b.rig.exchange(told.Get("code")).session(b.t)
}

type session struct {
	User struct {
		ID      int64
		Name    string
		Email   string
		Tenants []struct{ ID, Name, Slug string }
	}
	IsNewUser                 *bool
	AccessToken, RefreshToken string
}

func (p page) session(t *testing.T) session {
	t.Helper()
	var s session
	if err := json.Unmarshal([]byte(p.text), &s); err != nil || p.status != http.StatusOK || s.IsNewUser == nil {
		t.Fatalf("exchange returns %d %s", p.status, p.text)
	}
	return s
}

// exchange exchanges a code as an external client does.
func (r *rig) exchange(code string, headers ...string) page {
	r.t.Helper()
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+oauth.Path+"exchange", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return r.browser().do(req)
}

// me returns the status of GET /auth/me with a token.
func (r *rig) me(token string) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+"/api/v1/auth/me", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return r.browser().do(req).status
}

// count returns the number that a query selects.
func (r *rig) count(query string, args ...any) int {
	r.t.Helper()
	var n int
	if err := r.db.Conn(r.t.Context()).QueryRowContext(r.t.Context(), query, args...).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

type lockedLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
