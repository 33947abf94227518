package app

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// frontend is a browser at a page of the first-party frontend: it keeps cookies
// and names its origin.
type frontend struct {
	s       *server
	origin  string
	cookies map[string]*http.Cookie
}

func (s *server) frontend() *frontend {
	return &frontend{s: s, origin: s.url, cookies: map[string]*http.Cookie{}}
}

// fetch makes a request as the frontend would; csrf is what goes into the
// header, "" for none.
func (f *frontend) fetch(method, path, csrf string, body any) reply {
	f.s.t.Helper()
	r := f.s.request(method, path, "", body)
	r.Header.Set("Origin", f.origin)
	if csrf != "" {
		r.Header.Set("X-XSRF-TOKEN", csrf)
	}
	for _, c := range f.cookies {
		r.AddCookie(c)
	}
	a := f.s.do(r)
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		f.cookies[c.Name] = c
	}
	return a
}

// send does what every frontend does: it repeats the CSRF cookie in the header.
func (f *frontend) send(method, path string, body any) reply {
	f.s.t.Helper()
	return f.fetch(method, path, f.value("XSRF-TOKEN"), body)
}

func (f *frontend) value(cookie string) string {
	if c := f.cookies[cookie]; c != nil {
		return c.Value
	}
	return ""
}

var adaLogin = map[string]any{"email": "ada@example.com", "password": "correct horse"}

func TestCookieMode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("ada@example.com", true)
		f := s.frontend()
		f.fetch("POST", "/api/v1/auth/login", "", adaLogin).want(419)
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		session, csrf := f.cookies["tenantry_session"], f.cookies["XSRF-TOKEN"]
		if !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Secure || csrf.HttpOnly {
			t.Errorf("cookies: %v, %v", session, csrf)
		}
		f.fetch("POST", "/api/v1/auth/login", "nonsense", adaLogin).want(419)
		login := f.send("POST", "/api/v1/auth/login", adaLogin).want(200)
		if login.at("accessToken") != nil || login.at("refreshToken") != nil || login.at("user.email") != "ada@example.com" {
			t.Errorf("login: %s", login.text)
		}
		if f.value("tenantry_session") == session.Value {
			t.Error("the session is the same after the login")
		}
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(200)

		// What changes something needs the token, in either header and encoding.
		f.fetch("PATCH", "/api/v1/onboarding/complete-setup", "", billing).want(419)
		f.fetch("PATCH", "/api/v1/onboarding/complete-setup", csrf.Value, billing).want(419) // of the session before
		f.fetch("PATCH", "/api/v1/onboarding/complete-setup", url.QueryEscape(f.value("XSRF-TOKEN")), billing).want(200)
		// A page of another site makes the browser send the cookie, and no token.
		evil := s.request("PATCH", "/api/v1/onboarding/complete-setup", "", billing)
		evil.Header.Set("Origin", "https://evil.example")
		evil.AddCookie(f.cookies["tenantry_session"])
		if a := s.do(evil).want(419); a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("another site may read the answer")
		}

		old := *f.cookies["tenantry_session"]
		f.send("POST", "/api/v1/auth/logout", nil).want(200)
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(401)
		f.cookies["tenantry_session"] = &old
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(401)
	})
}

// A session that the browser had before, planted or left over, is worth nothing
// after a login.
func TestLoginReplacesTheSession(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("ada@example.com", false)
		f := s.frontend()
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		f.send("POST", "/api/v1/auth/login", adaLogin).want(200)
		first := f.cookies["tenantry_session"]
		f.send("POST", "/api/v1/auth/login", adaLogin).want(200)
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(200)
		f.cookies["tenantry_session"] = first
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(401)
	})
}

func TestSessionLifetimes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("ada@example.com", false)
		login := func(remember bool) *frontend {
			f := s.frontend()
			f.fetch("GET", "/csrf-cookie", "", nil).want(204)
			f.send("POST", "/api/v1/auth/login", map[string]any{"email": "ada@example.com", "password": "correct horse", "remember": remember}).want(200)
			return f
		}
		me := func(f *frontend) int { return f.fetch("GET", "/api/v1/auth/me", "", nil).status }
		pass := func(d string) { s.call("POST", "/sandbox/clock", "", map[string]any{"advance": d}).want(200) }

		used, unused, remembered := login(false), login(false), login(true)
		if used.cookies["tenantry_session"].MaxAge != 0 || remembered.cookies["tenantry_session"].MaxAge == 0 {
			t.Error("the browser keeps a session that is not remembered, or drops one that is")
		}
		pass("119m")
		if me(used) != 200 {
			t.Error("a session ended before two hours without use")
		}
		pass("2m")
		if me(used) != 200 || me(unused) != 401 {
			t.Error("a session does not live from its last use on")
		}
		for range 12 { // used every two hours or so, for a day
			pass("119m")
			me(used)
		}
		if me(used) != 401 {
			t.Error("a session in use lives longer than a day")
		}
		pass("600h")
		if me(remembered) != 200 {
			t.Error("a remembered session ended within 30 days")
		}
		pass("721h")
		if me(remembered) != 401 {
			t.Error("a remembered session lives longer than 30 days without use")
		}
	})
}

// Registering in cookie mode logs in with a session, too.
func TestRegisterInCookieMode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		f := s.frontend()
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		a := f.send("POST", "/api/v1/auth/register", registration("ada@example.com", nil)).want(201)
		if strings.Contains(a.text, "Token") {
			t.Errorf("register: %s", a.text)
		}
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(200)
	})
}

func (s *server) refresh(token string) reply {
	s.t.Helper()
	return s.call("POST", "/api/v1/auth/refresh", "", map[string]any{"refresh_token": token})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		a := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", nil)).want(201)
		b := s.refresh(a.str("refreshToken")).want(200)
		s.call("GET", "/api/v1/auth/me", b.str("accessToken"), nil).want(200)
		if b.str("user.email") != "ada@example.com" || len(b.str("refreshToken")) != 64 {
			t.Errorf("refresh: %s", b.text)
		}
		other := s.call("POST", "/api/v1/auth/login", "", adaLogin).want(200)

		// Used again: the family is dead, the other login is not.
		if reuse := s.refresh(a.str("refreshToken")).want(401); reuse.at("code") != "INVALID_REFRESH_TOKEN" {
			t.Errorf("reuse: %s", reuse.text)
		}
		s.refresh(b.str("refreshToken")).want(401)
		s.call("GET", "/api/v1/auth/me", b.str("accessToken"), nil).want(401)
		s.call("GET", "/api/v1/auth/me", other.str("accessToken"), nil).want(200)

		if unknown := s.refresh(strings.Repeat("x", 64)).want(401); unknown.at("code") != "INVALID_REFRESH_TOKEN" {
			t.Errorf("unknown: %s", unknown.text)
		}
		s.refresh("short").want(422)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "721h"}).want(200)
		if expired := s.refresh(other.str("refreshToken")).want(401); expired.at("code") != "REFRESH_TOKEN_EXPIRED" {
			t.Errorf("expired: %s", expired.text)
		}
	})
}

// A family ends after 90 days, however often it is refreshed.
func TestRefreshFamilyEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		token := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", nil)).want(201).str("refreshToken")
		for range 3 {
			s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "696h"}).want(200) // 29 days
			token = s.refresh(token).want(200).str("refreshToken")
		}
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "96h"}).want(200)
		if a := s.refresh(token).want(401); a.at("code") != "REFRESH_TOKEN_EXPIRED" {
			t.Errorf("after 91 days: %s", a.text)
		}
	})
}

// Of 20 refreshes of one token at once exactly one succeeds, and since the others
// are reuse, the family is dead afterwards. The account package runs a hundred
// rounds of the same without the logins, which take long.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("ada@example.com", false)
		token := ""
		for round := range 5 {
			// revoke_previous keeps the table small; the hash is what takes time.
			token = s.call("POST", "/api/v1/auth/login", "", map[string]any{
				"email": "ada@example.com", "password": "correct horse", "revoke_previous": true,
			}).want(200).str("refreshToken")
			var (
				wg  sync.WaitGroup
				mu  sync.Mutex
				won []string
			)
			for range 20 {
				wg.Go(func() {
					a := s.refresh(token)
					mu.Lock()
					defer mu.Unlock()
					switch a.status {
					case 200:
						won = append(won, a.str("refreshToken"))
					case 401:
					default:
						t.Errorf("status %d: %s", a.status, a.text)
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Fatalf("round %d: %d refreshes succeeded", round, len(won))
			}
			s.refresh(won[0]).want(401)
		}
	})
}

func TestLogout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		a := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", nil)).want(201)
		b := s.call("POST", "/api/v1/auth/login", "", adaLogin).want(200)
		s.call("POST", "/api/v1/auth/logout", a.str("accessToken"), nil).want(200)
		s.call("GET", "/api/v1/auth/me", a.str("accessToken"), nil).want(401)
		// The other access token lives on until it expires; no refresh token does.
		s.call("GET", "/api/v1/auth/me", b.str("accessToken"), nil).want(200)
		s.refresh(a.str("refreshToken")).want(401)
		s.refresh(b.str("refreshToken")).want(401)
	})
}

func TestMakeATenant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		token := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", map[string]any{"create_tenant": false})).want(201).str("accessToken")
		s.call("POST", "/api/v1/tenants", token, map[string]any{"name": " "}).want(422)
		var wg sync.WaitGroup
		statuses := make([]int, 8)
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = s.call("POST", "/api/v1/tenants", token, map[string]any{"name": "Café Ølé"}).status
			})
		}
		wg.Wait()
		made := 0
		for _, status := range statuses {
			if status == 201 {
				made++
			} else if status != 409 {
				t.Errorf("status %d", status)
			}
		}
		if made != 1 {
			t.Errorf("%d tenants were made", made)
		}
		again := s.call("POST", "/api/v1/tenants", token, map[string]any{"name": "Another"}).want(409)
		if again.at("code") != "USER_BELONGS_TO_ANOTHER_TENANT" {
			t.Errorf("again: %s", again.text)
		}
		if me := s.call("GET", "/api/v1/auth/me", token, nil).want(200); me.at("user.roles.0") != "owner" {
			t.Errorf("me: %s", me.text)
		}
	})
}

// What the CSRF cookie says of a deployment behind TLS.
func TestCookiesUnderHTTPS(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	s := start(t, sqldb.SQLite, func(s *settings.Settings) {
		s.Addr, s.PublicURL = address, &url.URL{Scheme: "https", Host: "api.example.com"}
	})
	s.url = "http://" + address // as a proxy in front of it would
	a := s.call("GET", "/csrf-cookie", "", nil).want(204)
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if !c.Secure {
			t.Errorf("%s is not secure", c.Name)
		}
	}
	if a.header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
}
