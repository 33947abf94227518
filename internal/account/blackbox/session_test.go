package blackbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", true)
		f := s.Frontend()
		f.Fetch("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(419)
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		session, csrf := f.Cookies["tenantry_session"], f.Cookies["XSRF-TOKEN"]
		if !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Secure || csrf.HttpOnly {
			t.Errorf("cookies: %v, %v", session, csrf)
		}
		f.Fetch("POST", "/api/v1/auth/login", "nonsense", apptest.AdaLogin).Want(419)
		login := f.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
		if login.At("accessToken") != nil || login.At("refreshToken") != nil || login.At("user.email") != "ada@example.com" {
			t.Errorf("login: %s", login.Text)
		}
		if f.Cookie("tenantry_session") == session.Value {
			t.Error("the session is the same after the login")
		}
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)

		// Requests that change data need the CSRF token, in either header and encoding.
		f.Fetch("PATCH", "/api/v1/onboarding/complete-setup", "", apptest.BillingDetails).Want(419)
		f.Fetch("PATCH", "/api/v1/onboarding/complete-setup", csrf.Value, apptest.BillingDetails).Want(419) // the token of the previous session
		f.Fetch("PATCH", "/api/v1/onboarding/complete-setup", url.QueryEscape(f.Cookie("XSRF-TOKEN")), apptest.BillingDetails).Want(200)
		// A page of another site makes the browser send the cookie, but cannot send the token.
		evil := s.NewRequest("PATCH", "/api/v1/onboarding/complete-setup", "", apptest.BillingDetails)
		evil.Header.Set("Origin", "https://evil.example")
		evil.AddCookie(f.Cookies["tenantry_session"])
		if a := s.Do(evil).Want(419); a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("another site may read the response")
		}

		old := *f.Cookies["tenantry_session"]
		f.Send("POST", "/api/v1/auth/logout", nil).Want(200)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
		f.Cookies["tenantry_session"] = &old
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
	})
}

// A login replaces the browser's previous session, which may be planted or left over.
func TestLoginReplacesTheSession(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
		first := f.Cookies["tenantry_session"]
		f.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)
		f.Cookies["tenantry_session"] = first
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
	})
}

func TestSessionLifetimes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		login := func(remember bool) *apptest.Frontend {
			f := s.Frontend()
			f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
			f.Send("POST", "/api/v1/auth/login", map[string]any{"email": "ada@example.com", "password": "correct horse", "remember": remember}).Want(200)
			return f
		}
		me := func(f *apptest.Frontend) int { return f.Fetch("GET", "/api/v1/auth/me", "", nil).Status }
		pass := func(d string) { s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": d}).Want(200) }

		used, unused, remembered := login(false), login(false), login(true)
		if used.Cookies["tenantry_session"].MaxAge != 0 || remembered.Cookies["tenantry_session"].MaxAge == 0 {
			t.Error("Max-Age of the session cookie does not match remember")
		}
		pass("119m")
		if me(used) != 200 {
			t.Error("a session ended before two hours without use")
		}
		pass("2m")
		if me(used) != 200 || me(unused) != 401 {
			t.Error("the idle timeout does not start at the last use")
		}
		for range 12 { // used about every two hours for a day
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

// A registration in cookie mode also starts a session.
func TestRegisterInCookieMode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		a := f.Send("POST", "/api/v1/auth/register", apptest.Registration("ada@example.com", nil)).Want(201)
		if strings.Contains(a.Text, "Token") {
			t.Errorf("register: %s", a.Text)
		}
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)
	})
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
		b := s.Refresh(a.Str("refreshToken")).Want(200)
		s.Call("GET", "/api/v1/auth/me", b.Str("accessToken"), nil).Want(200)
		if b.Str("user.email") != "ada@example.com" || len(b.Str("refreshToken")) != 64 {
			t.Errorf("refresh: %s", b.Text)
		}
		other := s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200)

		// Reuse revokes the whole family, but not the user's other login.
		if reuse := s.Refresh(a.Str("refreshToken")).Want(401); reuse.At("code") != "INVALID_REFRESH_TOKEN" {
			t.Errorf("reuse: %s", reuse.Text)
		}
		s.Refresh(b.Str("refreshToken")).Want(401)
		s.Call("GET", "/api/v1/auth/me", b.Str("accessToken"), nil).Want(401)
		s.Call("GET", "/api/v1/auth/me", other.Str("accessToken"), nil).Want(200)

		if unknown := s.Refresh(strings.Repeat("x", 64)).Want(401); unknown.At("code") != "INVALID_REFRESH_TOKEN" {
			t.Errorf("unknown: %s", unknown.Text)
		}
		s.Refresh("short").Want(422)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "721h"}).Want(200)
		if expired := s.Refresh(other.Str("refreshToken")).Want(401); expired.At("code") != "REFRESH_TOKEN_EXPIRED" {
			t.Errorf("expired: %s", expired.Text)
		}
	})
}

// A family ends after 90 days, even if its tokens are refreshed.
func TestRefreshFamilyEnds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201).Str("refreshToken")
		for range 3 {
			s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "696h"}).Want(200) // 29 days
			token = s.Refresh(token).Want(200).Str("refreshToken")
		}
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "96h"}).Want(200)
		if a := s.Refresh(token).Want(401); a.At("code") != "REFRESH_TOKEN_EXPIRED" {
			t.Errorf("after 91 days: %s", a.Text)
		}
	})
}

// If a token is used for 20 concurrent refreshes, exactly one succeeds. The others count as reuse,
// so the family is revoked afterwards. The account package runs 100 rounds of the same test without
// the slow logins.
func TestRefreshRace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("ada@example.com", false)
		token := ""
		for round := range 5 {
			// revoke_previous keeps the table small; the password hash takes most of the time.
			token = s.Call("POST", "/api/v1/auth/login", "", map[string]any{
				"email": "ada@example.com", "password": "correct horse", "revoke_previous": true,
			}).Want(200).Str("refreshToken")
			var (
				wg  sync.WaitGroup
				mu  sync.Mutex
				won []string
			)
			for range 20 {
				wg.Go(func() {
					a := s.Refresh(token)
					mu.Lock()
					defer mu.Unlock()
					switch a.Status {
					case 200:
						won = append(won, a.Str("refreshToken"))
					case 401:
					default:
						t.Errorf("status %d: %s", a.Status, a.Text)
					}
				})
			}
			wg.Wait()
			if len(won) != 1 {
				t.Fatalf("round %d: %d refreshes succeeded", round, len(won))
			}
			s.Refresh(won[0]).Want(401)
		}
	})
}

func TestLogout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
		b := s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200)
		s.Call("POST", "/api/v1/auth/logout", a.Str("accessToken"), nil).Want(200)
		s.Call("GET", "/api/v1/auth/me", a.Str("accessToken"), nil).Want(401)
		// The other access token works until it expires, but no refresh token does.
		s.Call("GET", "/api/v1/auth/me", b.Str("accessToken"), nil).Want(200)
		s.Refresh(a.Str("refreshToken")).Want(401)
		s.Refresh(b.Str("refreshToken")).Want(401)
	})
}

func TestMakeATenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", map[string]any{"create_tenant": false})).Want(201).Str("accessToken")
		s.Call("POST", "/api/v1/tenants", token, map[string]any{"name": " "}).Want(422)
		var wg sync.WaitGroup
		statuses := make([]int, 8)
		for i := range statuses {
			wg.Go(func() {
				statuses[i] = s.Call("POST", "/api/v1/tenants", token, map[string]any{"name": "Café Ølé"}).Status
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
			t.Errorf("%d tenants were created", made)
		}
		again := s.Call("POST", "/api/v1/tenants", token, map[string]any{"name": "Another"}).Want(409)
		if again.At("code") != "USER_BELONGS_TO_ANOTHER_TENANT" {
			t.Errorf("again: %s", again.Text)
		}
		if me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200); me.At("user.roles.0") != "owner" {
			t.Errorf("me: %s", me.Text)
		}
	})
}

// The cookies of a deployment behind TLS.
func TestCookiesUnderHTTPS(t *testing.T) {
	t.Parallel()
	address := apptest.FreeAddress(t)
	s := apptest.Start(t, sqldb.SQLite, func(s *settings.Settings) {
		s.Addr, s.PublicURL = address, &url.URL{Scheme: "https", Host: "api.example.com"}
	})
	s.URL = "http://" + address // the address that a proxy would use
	a := s.Call("GET", "/csrf-cookie", "", nil).Want(204)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if !c.Secure {
			t.Errorf("%s is not secure", c.Name)
		}
	}
	// Because of the prefix, other hosts and plain http cannot set the session cookie.
	f := &apptest.Frontend{}
	f.Cookies = map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		f.Cookies[c.Name] = c
	}
	if c := f.Cookies["__Host-tenantry_session"]; c == nil || c.Path != "/" || c.Domain != "" || f.Cookies["tenantry_session"] != nil {
		t.Errorf("cookies: %v", f.Cookies)
	}
	if a.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS")
	}
}

// With a cookie domain, a login on one subdomain is also valid on the others.
func TestCookieDomain(t *testing.T) {
	t.Parallel()
	address := apptest.FreeAddress(t)
	s := apptest.Start(t, sqldb.SQLite, func(s *settings.Settings) {
		s.Addr, s.PublicURL, s.CookieDomain = address, &url.URL{Scheme: "https", Host: "api.example.com"}, "example.com"
		s.FrontendURL = &url.URL{Scheme: "https", Host: "app.example.com"}
	})
	s.URL = "http://" + address // the address that a proxy would use
	s.Register("ada@example.com", false)
	var session, token string
	send := func(method, path string, body any) apptest.Reply {
		t.Helper()
		r := s.NewRequest(method, path, "", body)
		r.Header.Set("Origin", "https://app.example.com")
		r.Header.Set("Cookie", session)
		r.Header.Set("X-XSRF-TOKEN", token)
		a := s.Do(r)
		for _, c := range (&http.Response{Header: a.Header}).Cookies() {
			if c.Domain != "example.com" || !c.Secure || c.HttpOnly != (c.Name == "__Secure-tenantry_session") {
				t.Errorf("%s sets %v", path, c)
			}
			switch c.Name {
			case "__Secure-tenantry_session":
				session = c.Name + "=" + c.Value
			case "XSRF-TOKEN":
				token = c.Value
			default:
				t.Errorf("%s sets %v", path, c)
			}
		}
		return a
	}
	send("GET", "/csrf-cookie", nil).Want(204)
	send("GET", "/csrf-cookie", nil).Want(204)
	send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
	send("GET", "/api/v1/auth/me", nil).Want(200)
	send("POST", "/api/v1/auth/logout", nil)
	send("GET", "/api/v1/auth/me", nil).Want(401)
}

// The browser that moves the sandbox clock stays logged in however far the clock moves, even with a
// session that is not remembered. Afterwards the session still times out when idle. Moving the
// clock without a session extends no session.
func TestMovingTheClockKeepsTheLogin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Send("POST", "/api/v1/auth/register", apptest.Registration("ada@example.com", nil)).Want(201)
		for _, d := range []string{"24h", "26h", "2400h"} {
			f.Send("POST", "/sandbox/clock", map[string]any{"advance": d}).Want(200)
			f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)
		}
		now, err := time.Parse(time.RFC3339, s.Call("GET", "/sandbox/clock", "", nil).Want(200).Str("data.now"))
		if err != nil {
			t.Fatal(err)
		}
		to := now.Add(5000 * time.Hour).Format(time.RFC3339)
		f.Send("POST", "/sandbox/clock", map[string]any{"to": to}).Want(200)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "3h"}).Want(200)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
		f.Send("POST", "/sandbox/clock", map[string]any{"advance": "24h"}).Want(200)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
	})
}
