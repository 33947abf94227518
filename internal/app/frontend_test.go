package app_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

var mailLink = regexp.MustCompile(`http://[^\s<>"]+`)

// Without a frontend, every link in a mail leads to a page of the service at the path in the
// settings: to the console, or to a plain page if there is no console. With a separate frontend and
// no console, the service only has the page that completes logins.
func TestNoLinkInAMailIsDead(t *testing.T) {
	t.Parallel()
	own := func(s *settings.Settings) { s.FrontendPaths = frontend.Paths{frontend.Invitation: "/join/{token}"} }
	plain := func(s *settings.Settings) { s.NoConsole = true }
	follow := func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@mail.test", true)
		s.Call("POST", "/api/v1/tenant/"+o.Tenant+"/team/invitations", o.Token, map[string]any{"email": "grace@example.test", "role": "member"}).Want(201)
		s.Call("POST", "/api/v1/auth/forgot-password", "", map[string]any{"email": "owner@mail.test"}).Want(200)
		s.Call("POST", "/api/v1/user/email/verification", o.Token, nil).Want(202)
		seen := map[string]bool{}
		apptest.Eventually(t, "the mails are there", func() bool {
			for _, m := range s.Call("GET", "/sandbox/mail/messages", "", nil).Want(200).At("data").([]any) {
				for _, link := range mailLink.FindAllString(m.(map[string]any)["text"].(string), -1) {
					u, err := url.Parse(link)
					if err != nil {
						t.Fatal(err)
					}
					page := s.Call("GET", u.RequestURI(), "", nil)
					if to := page.Header.Get("Location"); page.Status == 302 { // a path from the settings redirects
						page = s.Call("GET", strings.TrimPrefix(to, s.URL), "", nil)
					}
					page.Want(200)
					if !strings.Contains(page.Text, "<main data-page=") && !strings.Contains(page.Text, `<div id="root">`) {
						t.Errorf("%s: %s", link, page.Text)
					}
					seen[strings.Split(u.Path, "/")[1]] = true
				}
			}
			return seen["join"] && seen["reset-password"] && seen["verify-email"]
		})
	}
	apptest.Each(t, follow, own)
	t.Run("without a console", func(t *testing.T) {
		t.Parallel()
		follow(t, apptest.Start(t, sqldb.SQLite, own, plain))
	})
	elsewhere := func(s *settings.Settings) { s.FrontendURL, _ = url.Parse("http://app.example.test") }
	s := apptest.Start(t, sqldb.SQLite, elsewhere, plain)
	s.Call("GET", "/billing", "", nil).Want(404)
	s.Call("GET", "/oauth/callback", "", nil).Want(200)
}

// If an origin is refused, the response and the log explain why. The log explains it once, with the
// settings that would allow the origin. The CSRF token is also in a header, for frontends on other
// hosts.
func TestARefusedOriginIsExplained(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	page := s.Frontend()
	shown := page.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
	if token := shown.Header.Get("X-CSRF-Token"); token == "" || page.Cookies["XSRF-TOKEN"] == nil || page.Cookies["XSRF-TOKEN"].Value != token {
		t.Errorf("the token is %q in the header, %v in the cookie", token, page.Cookies["XSRF-TOKEN"])
	}
	if again := page.Fetch("GET", "/csrf-cookie", "", nil).Want(204).Header.Get("X-CSRF-Token"); again != shown.Header.Get("X-CSRF-Token") {
		t.Errorf("the token of the same session became %q", again)
	}
	page.Send("POST", "/api/v1/auth/login", apptest.AdminLogin).Want(200)
	for origin, want := range map[string]string{
		"https://evil.example": "You cannot sign in from https://evil.example. Open " + s.URL + " instead, or ask the operator to set TENANTRY_PUBLIC_URL (the address of this service), TENANTRY_FRONTEND_URL (a separate frontend) or TENANTRY_FIRST_PARTY_HOSTS (other hosts).",
		s.URL:                  "Your session could not be verified. Please reload the page.",
	} {
		r := s.NewRequest(http.MethodPost, "/api/v1/auth/logout", "", nil)
		r.Header.Set("Origin", origin)
		for _, c := range page.Cookies {
			r.AddCookie(c)
		}
		for range 2 {
			if got := s.Do(r.Clone(t.Context())).Want(419).Str("message"); got != want {
				t.Errorf("%s: %s", origin, got)
			}
		}
	}
	if log := s.Log(); strings.Count(log, `"origin":"https://evil.example"`) != 1 || !strings.Contains(log, "TENANTRY_FIRST_PARTY_HOSTS=evil.example ") {
		t.Errorf("origin logged %d times, want 1: %s", strings.Count(log, `"origin":"https://evil.example"`), log)
	}
}

// A login with a CSRF token from an origin that is not first-party fails with an explanation.
// Otherwise the page would get tokens, ignore them, and show the login again. A client without a
// CSRF token still gets tokens.
func TestALoginAtAnotherAddressIsExplained(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		page := s.Frontend()
		page.Origin = "http://tenantry.example"
		page.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		refused := page.Send("POST", "/api/v1/auth/login", apptest.AdminLogin).Want(419)
		for _, want := range []string{page.Origin, s.URL, "TENANTRY_PUBLIC_URL", "TENANTRY_FIRST_PARTY_HOSTS"} {
			if !strings.Contains(refused.Str("message"), want) {
				t.Errorf("the message lacks %s: %s", want, refused.Str("message"))
			}
		}
		if page.Fetch("POST", "/api/v1/auth/login", "", apptest.AdminLogin).Want(200).Str("accessToken") == "" {
			t.Error("a login without a CSRF token returns no access token")
		}
		for _, origin := range []string{"http://localhost:3000", "https://127.0.0.2", "http://[::1]:8080"} {
			local := s.Frontend()
			local.Origin = origin
			local.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
			local.Send("POST", "/api/v1/auth/login", apptest.AdminLogin).Want(200)
			local.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)
		}
	})
}

// For an unknown path, a browser gets an HTML page and an API client gets a JSON error.
func TestAnUnknownPageIsAPage(t *testing.T) {
	t.Parallel()
	plain := func(s *settings.Settings) { s.NoConsole = true }
	for name, s := range map[string]*apptest.Server{"console": apptest.Start(t, sqldb.SQLite), "plain pages": apptest.Start(t, sqldb.SQLite, plain)} {
		get := func(path, accept string) apptest.Reply {
			r := s.NewRequest(http.MethodGet, path, "", nil)
			r.Header.Set("Accept", accept)
			return s.Do(r)
		}
		for _, path := range []string{"/nothing-here", "/sandbox/nothing-here"} {
			page := get(path, "text/html,application/xhtml+xml,*/*;q=0.8").Want(404)
			if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || !strings.Contains(page.Text, "<html") {
				t.Errorf("%s: %s is %s: %s", name, path, page.Header.Get("Content-Type"), page.Text)
			}
			if program := get(path, "application/json").Want(404); !strings.HasPrefix(program.Header.Get("Content-Type"), "application/json") {
				t.Errorf("%s: %s for a program is %s", name, path, program.Header.Get("Content-Type"))
			}
		}
		if api := get("/api/v1/nothing-here", "text/html").Want(404); !strings.HasPrefix(api.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: the API returns %s", name, api.Header.Get("Content-Type"))
		}
	}
}

// The public settings list only the configured languages, and error messages use only these.
func TestOfferedLanguages(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite, func(s *settings.Settings) { s.Locales = []string{"en", "it"} })
	s.Call("GET", "/api/v1/settings", "", nil).Want(200).WantAt("data.locales", []any{"en", "it"}).WantAt("data.default_locale", "en")
	for accept, want := range map[string]string{"it": "L’indirizzo", "fr": "The email"} {
		r := s.NewRequest(http.MethodPost, "/api/v1/auth/login", "", map[string]any{"email": "nobody@example.com", "password": "wrong-password"})
		r.Header.Set("Accept-Language", accept)
		if got := s.Do(r).Want(401).Str("message"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", accept, got)
		}
	}
}
