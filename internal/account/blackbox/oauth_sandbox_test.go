package blackbox_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// cookieBrowser is a browser that stores cookies and does not follow redirects automatically.
type cookieBrowser struct {
	s      *apptest.Server
	client *http.Client
	// language is the Accept-Language header; may be empty.
	language string
}

func newCookieBrowser(s *apptest.Server) *cookieBrowser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return &cookieBrowser{s: s, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *cookieBrowser) open(method, address string, form url.Values) apptest.Reply {
	b.s.T.Helper()
	r, err := http.NewRequestWithContext(b.s.T.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.s.T.Fatal(err)
	}
	if b.language != "" {
		r.Header.Set("Accept-Language", b.language)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.s.DoWith(b.client, r)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// logInAtSandbox performs a login up to the redirect to the frontend, and returns that URL.
func (b *cookieBrowser) logInAtSandbox(email, name string) *url.URL {
	t := b.s.T
	t.Helper()
	consent := b.open("GET", b.s.URL+"/api/v1/auth/oauth/sandbox/redirect", nil).Want(302).Header.Get("Location")
	callback := b.open("GET", b.consent(consent, email, name), nil).Want(302).Header.Get("Location")
	end, err := url.Parse(callback)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// key returns the cookie with the browser's key.
func (b *cookieBrowser) key() *http.Cookie {
	at, err := url.Parse(b.s.URL + "/api/v1/auth/oauth/exchange")
	if err != nil {
		b.s.T.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == "tenantry_oauth" {
			return c
		}
	}
	b.s.T.Fatal("no tenantry_oauth cookie")
	return nil
}

// consent submits the consent form and returns the address of the callback.
func (b *cookieBrowser) consent(page, email, name string) string {
	t := b.s.T
	t.Helper()
	form := url.Values{"email": {email}, "name": {name}, "email_verified": {"true"}}
	shown := b.open("GET", page, nil).Want(200)
	if !strings.Contains(shown.Text, `id="consent"`) {
		t.Fatalf("no consent form: %s", shown.Text)
	}
	for _, field := range hiddenField.FindAllStringSubmatch(shown.Text, -1) {
		form.Set(field[1], strings.ReplaceAll(field[2], "&amp;", "&"))
	}
	action := regexp.MustCompile(`<form[^>]*id="consent"[^>]*action="([^"]*)"|<form[^>]*action="([^"]*)"[^>]*id="consent"`).FindStringSubmatch(shown.Text)
	to, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	if action != nil {
		if to, err = to.Parse(strings.ReplaceAll(action[1]+action[2], "&amp;", "&")); err != nil {
			t.Fatal(err)
		}
	}
	return b.open("POST", to.String(), form).Header.Get("Location")
}

// A login at the sandbox's identity provider, from the redirect to the session.
func TestDelegatedLogin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		if p := s.Call("GET", "/api/v1/auth/oauth/providers", "", nil).Want(200); p.Text != `{"providers":["sandbox"]}`+"\n" {
			t.Errorf("providers: %s", p.Text)
		}
		end := newCookieBrowser(s).logInAtSandbox("new@example.com", "New Person")
		if end.Path != "/oauth/callback" || end.Query().Get("code") == "" {
			t.Fatalf("the browser ends at %s", end)
		}
		popup := s.Call("GET", end.RequestURI(), "", nil).Want(200)
		if !strings.Contains(popup.Header.Get("Content-Type"), "text/html") {
			t.Errorf("popup: %s", popup.Header.Get("Content-Type"))
		}
		exchange := map[string]any{"code": end.Query().Get("code")}
		a := s.Call("POST", "/api/v1/auth/oauth/exchange", "", exchange).Want(200)
		if a.At("isNewUser") != true || a.Str("user.tenants.0.name") != "New Person's Organization" {
			t.Errorf("exchange: %s", a.Text)
		}
		s.Call("GET", "/api/v1/auth/me", a.Str("accessToken"), nil).Want(200)
		if again := s.Call("POST", "/api/v1/auth/oauth/exchange", "", exchange).Want(400); again.At("code") != "OAUTH_CODE_EXPIRED" {
			t.Errorf("again: %s", again.Text)
		}

		// The second login gets the same user. The frontend gets a session only in the browser that
		// started the login: another browser may have received the code in a link and would act as
		// another user.
		browser := newCookieBrowser(s)
		end = browser.logInAtSandbox("new@example.com", "New Person")
		code := map[string]any{"code": end.Query().Get("code")}
		other := s.Frontend()
		other.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		other.Send("POST", "/api/v1/auth/oauth/exchange", code).WantRefused(400, "OAUTH_CODE_EXPIRED")
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Cookies["tenantry_oauth"] = browser.key()
		second := f.Send("POST", "/api/v1/auth/oauth/exchange", code).Want(200)
		if second.At("isNewUser") != false || second.At("accessToken") != nil {
			t.Errorf("second: %s", second.Text)
		}
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)

		// The demo owner keeps the password, because the email was already verified.
		newCookieBrowser(s).logInAtSandbox("owner@acme.test", "Owner")
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "owner@acme.test", "password": "sandbox-owner"}).Want(200)
	})
}

// An account with an unverified email may have been registered by another person. When the owner of
// the email logs in, the password and the credentials of the account are removed.
func TestDelegatedLoginTakesAnUnverifiedAccountOver(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		squatter := s.Register("victim@example.com", false)
		newCookieBrowser(s).logInAtSandbox("victim@example.com", "Victim")
		s.Call("GET", "/api/v1/auth/me", squatter.Token, nil).Want(401)
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "victim@example.com", "password": "correct horse"}).Want(401)
	})
}

// On a developer's machine a login ends under the loopback name under which it started, because
// cookies of localhost and 127.0.0.1 are separate.
func TestALoginUnderAnotherNameOfThisMachine(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	at := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	b := newCookieBrowser(s)
	consent := b.open("GET", at+"/api/v1/auth/oauth/sandbox/redirect", nil).Want(302).Header.Get("Location")
	callback := b.consent(consent, "near@example.com", "Near")
	if !strings.HasPrefix(callback, at+"/api/v1/auth/oauth/sandbox/callback?") {
		t.Fatalf("provider redirects to %s", callback)
	}
	end := b.open("GET", callback, nil).Want(302).Header.Get("Location")
	if !strings.HasPrefix(end, at+"/oauth/callback?code=") {
		t.Fatalf("the browser ends at %s", end)
	}
	if page := b.open("GET", end, nil).Want(200).Text; !strings.Contains(page, `data-origin="`+at+`"`) {
		t.Errorf("the code is for another window: %s", page)
	}
	r := s.NewRequest("GET", "/api/v1/auth/oauth/sandbox/redirect", "", nil)
	r.Host = "evil.example"
	if to := s.DoWith(b.client, r).Header.Get("Location"); strings.Contains(to, "evil") {
		t.Errorf("another name is accepted: %s", to)
	}
}
