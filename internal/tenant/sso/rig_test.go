package sso_test

import (
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// corp is the domain of the tests.
const corp = "corp.example"

// verified adds a domain to a tenant and verifies it.
func verified(s *apptest.Server, o apptest.Owner, name string) {
	s.T.Helper()
	d := s.Call("POST", o.Path("/domains"), o.Token, object{"domain": name}).Want(201)
	s.Call("PUT", "/sandbox/dns", "", object{
		"name": d.Str("data.verification_record.name"), "values": []any{d.Str("data.verification_record.value")},
	}).Want(200)
	s.Call("POST", o.Path("/domains/"+d.Str("data.id")+"/verify"), o.Token, nil).Want(200)
}

// issuerOf returns the sandbox's issuer with a name.
func issuerOf(s *apptest.Server, name string) string { return s.URL + "/sandbox/idp/" + name }

// terms returns the request body of a connection to the tenant's issuer in the sandbox.
func terms(s *apptest.Server, o apptest.Owner, changes ...object) object {
	return apptest.WithChanges(object{"issuer": issuerOf(s, o.Tenant), "client_id": "tenantry", "client_secret": "sandbox-secret"}, changes...)
}

// connect sets the connection of a tenant and returns its ID.
func connect(s *apptest.Server, o apptest.Owner, changes ...object) string {
	s.T.Helper()
	return s.Call("PUT", o.Path("/sso"), o.Token, terms(s, o, changes...)).Want(200).Str("data.id")
}

// corporate registers a tenant with a verified domain and a connection, both set by its owner. It
// returns the ID of the connection.
func corporate(s *apptest.Server, owner string, changes ...object) (apptest.Owner, string) {
	s.T.Helper()
	o := s.Register(owner, true)
	verified(s, o, corp)
	return o, connect(s, o, changes...)
}

// browser stores cookies and does not follow redirects automatically.
type browser struct {
	s      *apptest.Server
	client *http.Client
}

func newBrowser(s *apptest.Server) browser {
	s.T.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return browser{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (b browser) open(method, address string, form url.Values) apptest.Reply {
	b.s.T.Helper()
	r, err := http.NewRequestWithContext(b.s.T.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.s.T.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.s.DoWith(b.client, r)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// consent submits the consent form behind a URL of the service, and returns the URL of the callback.
func (b browser) consent(start string, fields url.Values) string {
	b.s.T.Helper()
	page := b.open("GET", start, nil).Want(302).Header.Get("Location")
	form := url.Values{"name": {"Somebody"}, "email_verified": {"true"}}
	for _, field := range hidden.FindAllStringSubmatch(b.open("GET", page, nil).Want(200).Text, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	for name, values := range fields {
		form[name] = values
	}
	to, _, _ := strings.Cut(page, "?")
	return b.open("POST", to, form).Header.Get("Location")
}

// finish opens the callback and returns the query of the frontend's page.
func (b browser) finish(callback string) url.Values {
	b.s.T.Helper()
	end, err := url.Parse(b.open("GET", callback, nil).Want(302).Header.Get("Location"))
	if err != nil || end.Path != "/oauth/callback" {
		b.s.T.Fatalf("the browser ends at %v, %v", end, err)
	}
	return end.Query()
}

func startURL(s *apptest.Server, connection string) string {
	return s.URL + "/api/v1/auth/sso/" + connection + "/redirect"
}

// signOn logs a person in through a connection, up to the frontend's page, and returns its query.
func signOn(s *apptest.Server, connection string, fields url.Values) url.Values {
	s.T.Helper()
	b := newBrowser(s)
	return b.finish(b.consent(startURL(s, connection), fields))
}

// as returns the fields of the consent form for an email, and a subject if there is one.
func as(email string, sub ...string) url.Values {
	return url.Values{"email": {email}, "sub": sub}
}

// enter logs a person in through a connection and returns the response with the tokens.
func enter(s *apptest.Server, connection string, fields url.Values) apptest.Reply {
	s.T.Helper()
	got := signOn(s, connection, fields)
	if got.Get("code") == "" {
		s.T.Fatalf("the login ends with %v", got)
	}
	return exchange(s, got.Get("code")).Want(200)
}

func exchange(s *apptest.Server, code string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/oauth/exchange", "", object{"code": code})
}

// wantError checks that a login fails with a reason, and that the connection shows the reason.
func wantError(s *apptest.Server, o apptest.Owner, connection string, fields url.Values, reason string) {
	s.T.Helper()
	got := signOn(s, connection, fields)
	if got.Get("error") != reason || got.Has("code") || len(got) != 1 {
		s.T.Errorf("%v: %v, want %s", fields, got, reason)
	}
	s.Call("GET", o.Path("/sso"), o.Token, nil).Want(200).WantAt("data.last_error", reason)
}

func me(s *apptest.Server, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/auth/me", token, nil)
}

func members(s *apptest.Server, o apptest.Owner) int {
	s.T.Helper()
	return s.CountRows("SELECT count(*) FROM memberships WHERE tenant_id = $1", o.Tenant)
}

// actions returns the recent actions in the tenant's trail.
func actions(s *apptest.Server, o apptest.Owner) []string {
	s.T.Helper()
	return s.Call("GET", o.Path("/audit-logs"), o.Token, nil).Want(200).Actions()
}
