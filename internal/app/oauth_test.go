package app

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// browser keeps cookies and follows redirects by hand, as a popup would.
type browser struct {
	s      *server
	client *http.Client
}

func (s *server) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &browser{s, &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *browser) open(method, address string, form url.Values) reply {
	b.s.t.Helper()
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.s.with(b.client, r)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// logInAtSandbox goes from the redirect over the consent page back to the
// frontend, and returns where the browser ends.
func (b *browser) logInAtSandbox(email, name string) *url.URL {
	t := b.s.t
	t.Helper()
	consent := b.open("GET", b.s.url+"/api/v1/auth/oauth/sandbox/redirect", nil).want(302).header.Get("Location")
	page := b.open("GET", consent, nil).want(200)
	if !strings.Contains(page.text, `id="consent"`) {
		t.Fatalf("no consent form: %s", page.text)
	}
	form := url.Values{"email": {email}, "name": {name}, "email_verified": {"true"}}
	for _, field := range hidden.FindAllStringSubmatch(page.text, -1) {
		form.Set(field[1], strings.ReplaceAll(field[2], "&amp;", "&"))
	}
	action := regexp.MustCompile(`<form[^>]*id="consent"[^>]*action="([^"]*)"|<form[^>]*action="([^"]*)"[^>]*id="consent"`).FindStringSubmatch(page.text)
	to, err := url.Parse(consent)
	if err != nil {
		t.Fatal(err)
	}
	if action != nil {
		if to, err = to.Parse(strings.ReplaceAll(action[1]+action[2], "&amp;", "&")); err != nil {
			t.Fatal(err)
		}
	}
	back := b.open("POST", to.String(), form)
	callback := b.open("GET", back.header.Get("Location"), nil).want(302).header.Get("Location")
	end, err := url.Parse(callback)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// A login at the sandbox's identity provider, from the popup to the session.
func TestDelegatedLogin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		if p := s.call("GET", "/api/v1/auth/oauth/providers", "", nil).want(200); p.text != `{"providers":["sandbox"]}`+"\n" {
			t.Errorf("providers: %s", p.text)
		}
		end := s.browser().logInAtSandbox("new@example.com", "New Person")
		if end.Path != "/oauth/callback" || end.Query().Get("code") == "" {
			t.Fatalf("the browser ends at %s", end)
		}
		popup := s.call("GET", end.RequestURI(), "", nil).want(200)
		if !strings.Contains(popup.header.Get("Content-Type"), "text/html") {
			t.Errorf("popup: %s", popup.header.Get("Content-Type"))
		}
		exchange := map[string]any{"code": end.Query().Get("code")}
		a := s.call("POST", "/api/v1/auth/oauth/exchange", "", exchange).want(200)
		if a.at("isNewUser") != true || a.str("user.tenants.0.name") != "New Person's Organization" {
			t.Errorf("exchange: %s", a.text)
		}
		s.call("GET", "/api/v1/auth/me", a.str("accessToken"), nil).want(200)
		if again := s.call("POST", "/api/v1/auth/oauth/exchange", "", exchange).want(400); again.at("code") != "OAUTH_CODE_EXPIRED" {
			t.Errorf("again: %s", again.text)
		}

		// The second time it is the same user; the frontend gets a session.
		end = s.browser().logInAtSandbox("new@example.com", "New Person")
		f := s.frontend()
		f.fetch("GET", "/csrf-cookie", "", nil).want(204)
		second := f.send("POST", "/api/v1/auth/oauth/exchange", map[string]any{"code": end.Query().Get("code")}).want(200)
		if second.at("isNewUser") != false || second.at("accessToken") != nil {
			t.Errorf("second: %s", second.text)
		}
		f.fetch("GET", "/api/v1/auth/me", "", nil).want(200)

		// The demo's owner keeps the password: the address was known to be theirs.
		s.browser().logInAtSandbox("owner@acme.test", "Owner")
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "owner@acme.test", "password": "sandbox-owner"}).want(200)
	})
}

// An account whose address was never verified may be somebody else's doing: the
// login of the address's owner drops its password and its credentials.
func TestDelegatedLoginTakesAnUnverifiedAccountOver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		squatter := s.register("victim@example.com", false)
		s.browser().logInAtSandbox("victim@example.com", "Victim")
		s.call("GET", "/api/v1/auth/me", squatter.token, nil).want(401)
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "victim@example.com", "password": "correct horse"}).want(401)
	})
}
