package rest_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
)

const (
	frontend     = "Origin: https://app.example.com"
	ownSession   = "owner-session-owner-session-owner-session-1" // has the length of a session secret
	adminSession = "admin-session-admin-session-admin-session-1"
)

// withSessions accepts two session cookies.
func withSessions(c *rest.Config) {
	c.AuthenticateSession = func(_ context.Context, secret string) (*authz.Caller, error) {
		switch secret {
		case ownSession:
			own := *callers["owner"] // A copy for each request.
			return &own, nil
		case adminSession:
			own := *callers["admin"] // A copy for each request.
			return &own, nil
		}
		return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
	}
}

// sessionRoutes log in and out, and return the cookies that the handler sees.
func sessionRoutes() []rest.Route {
	type seen struct {
		CookieMode bool   `json:"cookie_mode"`
		Session    string `json:"session"`
	}
	tell := rest.Handle(func(ctx context.Context, _ *struct{}) (*rest.Body[seen], error) {
		return rest.NewBody(seen{rest.RequestOf(ctx).IsCookieMode(), rest.RequestOf(ctx).Session()}), nil
	})
	begin := rest.Handle(func(ctx context.Context, _ *struct{}) (*rest.NoBody, error) {
		rest.RequestOf(ctx).StartSession(ownSession, 90*time.Second)
		return nil, nil
	})
	end := rest.Handle(func(ctx context.Context, _ *struct{}) (*rest.NoBody, error) {
		rest.RequestOf(ctx).EndSession()
		return nil, nil
	})
	return append(routes(),
		rest.Route{Method: "POST", Path: "/api/v1/begin", Scope: rest.Public, Handler: begin},
		rest.Route{Method: "POST", Path: "/api/v1/end", Scope: rest.User, Handler: end},
		rest.Route{Method: "GET", Path: "/api/v1/cookies", Scope: rest.Public, Handler: tell},
		rest.Route{Method: "POST", Path: "/api/v1/cookies", Scope: rest.Public, Handler: tell},
	)
}

// cookies returns the cookies that a response sets, by name.
func (a answer) cookies() map[string]*http.Cookie {
	all := map[string]*http.Cookie{}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		all[c.Name] = c
	}
	return all
}

// csrfOf requests the CSRF token of a session.
func (s *server) csrfOf(session string) string {
	s.t.Helper()
	return s.get("/csrf-cookie", "Cookie: tenantry_session="+session).cookies()["XSRF-TOKEN"].Value
}

func TestCSRFCookie(t *testing.T) {
	t.Parallel()
	plain := start(t, sessionRoutes(), withSessions)
	https := start(t, sessionRoutes(), withSessions, func(c *rest.Config) { c.HTTPS = true })
	for s, cookie := range map[*server]string{plain: "tenantry_session", https: "__Host-tenantry_session"} {
		first, second := s.get("/csrf-cookie"), s.get("/csrf-cookie")
		if first.Status != 204 || first.Body != "" || first.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %s %v", first.Status, first.Body, first.Header)
		}
		given := first.cookies()
		if len(given) != 2 {
			t.Fatalf("cookies %v", given)
		}
		for name, c := range given {
			if c.HttpOnly != (name == cookie) || c.Secure != (s == https) || c.Path != "/" || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 0 || c.Domain != "" {
				t.Errorf("%s", c)
			}
			if other := second.cookies()[name]; other == nil || other.Value == c.Value || len(c.Value) < 43 {
				t.Errorf("two browsers have %s and %s", c, other)
			}
		}
		// A browser with a session keeps it and gets its token again.
		session := given[cookie].Value
		again := s.get("/csrf-cookie", "Cookie: "+cookie+"="+session).cookies()
		if again[cookie] != nil || again["XSRF-TOKEN"].Value != given["XSRF-TOKEN"].Value || again["XSRF-TOKEN"].HttpOnly {
			t.Errorf("again: %v", again)
		}
		// A session of the wrong length was never issued.
		for _, strange := range []string{"", "x", session + "x"} {
			if got := s.get("/csrf-cookie", "Cookie: "+cookie+"="+strange).cookies(); got[cookie] == nil {
				t.Errorf("%q is kept", strange)
			}
		}
	}
}

// Conditions for cookie mode, and the session of the request.
func TestCookieMode(t *testing.T) {
	t.Parallel()
	s := start(t, sessionRoutes(), withSessions)
	const cookie = "Cookie: tenantry_session=" + ownSession
	for name, test := range map[string]struct {
		headers []string
		mode    bool
		session bool
	}{
		"nothing":                          {},
		"the frontend":                     {headers: []string{frontend}, mode: true},
		"the frontend with a session":      {headers: []string{frontend, cookie}, mode: true, session: true},
		"a session alone":                  {headers: []string{cookie}, session: true},
		"a page of the frontend":           {headers: []string{"Referer: https://app.example.com/a/b?c=d"}, mode: true},
		"another origin":                   {headers: []string{"Origin: https://evil.example"}},
		"another origin on our page":       {headers: []string{"Origin: https://evil.example", "Referer: https://app.example.com/"}},
		"no origin on our page":            {headers: []string{"Origin: null", "Referer: https://app.example.com/"}},
		"another page":                     {headers: []string{"Referer: https://evil.example/https://app.example.com"}},
		"our host as a user name":          {headers: []string{"Referer: https://app.example.com@evil.example/"}},
		"another scheme":                   {headers: []string{"Referer: http://app.example.com/"}},
		"an invalid page URL":              {headers: []string{"Referer: %zz"}},
		"a bearer token besides":           {headers: []string{frontend, cookie, "Authorization: Bearer owner"}},
		"any authorization besides":        {headers: []string{frontend, cookie, "Authorization: Basic x"}},
		"a session that is too short":      {headers: []string{"Cookie: tenantry_session=" + ownSession[1:]}},
		"a cookie of another name":         {headers: []string{"Cookie: Tenantry_Session=" + ownSession}},
		"of two sessions the first counts": {headers: []string{cookie + "; tenantry_session=" + adminSession}, session: true},
	} {
		want := `{"cookie_mode":false,"session":"`
		if test.mode {
			want = `{"cookie_mode":true,"session":"`
		}
		if test.session {
			want += ownSession
		}
		if got := s.get("/api/v1/cookies", test.headers...); got.Status != 200 || got.Body != want+`"}` {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

func TestCSRF(t *testing.T) {
	t.Parallel()
	s := start(t, sessionRoutes(), withSessions)
	const cookie = "Cookie: tenantry_session=" + ownSession
	anonymous := strings.Repeat("a", len(ownSession))
	token, others := s.csrfOf(ownSession), s.csrfOf(adminSession)
	for name, test := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"reading needs none":                     {"GET", "/api/v1/me", []string{frontend, cookie}, 204},
		"nor does HEAD":                          {"HEAD", "/api/v1/me", []string{frontend, cookie}, 204},
		"writing by a session":                   {"POST", "/api/v1/end", []string{frontend, cookie}, 419},
		"without an origin too":                  {"POST", "/api/v1/end", []string{cookie}, 419},
		"from another origin too":                {"POST", "/api/v1/end", []string{"Origin: https://evil.example", cookie}, 419},
		"from another origin with the token":     {"POST", "/api/v1/end", []string{"Origin: https://evil.example", cookie, "X-XSRF-TOKEN: " + token}, 419},
		"with the token":                         {"POST", "/api/v1/end", []string{frontend, cookie, "X-XSRF-TOKEN: " + token}, 204},
		"by its other name":                      {"POST", "/api/v1/end", []string{frontend, cookie, "X-CSRF-TOKEN: " + token}, 204},
		"URL-encoded":                            {"POST", "/api/v1/end", []string{cookie, "X-XSRF-TOKEN: %" + strings.ToUpper(hexOf(token[0])) + url.QueryEscape(token[1:])}, 204},
		"with another session's token":           {"POST", "/api/v1/end", []string{frontend, cookie, "X-XSRF-TOKEN: " + others}, 419},
		"with half of it":                        {"POST", "/api/v1/end", []string{frontend, cookie, "X-XSRF-TOKEN: " + token[:32]}, 419},
		"with the session itself":                {"POST", "/api/v1/end", []string{frontend, cookie, "X-XSRF-TOKEN: " + ownSession}, 419},
		"in the cookie only":                     {"POST", "/api/v1/end", []string{frontend, cookie + "; XSRF-TOKEN=" + token}, 419},
		"in the query only":                      {"POST", "/api/v1/end?_token=" + token, []string{frontend, cookie}, 419},
		"a wrong one is not saved by the other":  {"POST", "/api/v1/end", []string{cookie, "X-XSRF-TOKEN: x", "X-CSRF-TOKEN: " + token}, 419},
		"a bearer token needs none":              {"POST", "/api/v1/end", []string{frontend, cookie, "Authorization: Bearer owner"}, 204},
		"logging in from the frontend":           {"POST", "/api/v1/begin", []string{frontend}, 419},
		"with an anonymous session":              {"POST", "/api/v1/begin", []string{frontend, "Cookie: tenantry_session=" + anonymous, "X-XSRF-TOKEN: " + s.csrfOf(anonymous)}, 204},
		"with a token and no session":            {"POST", "/api/v1/begin", []string{frontend, "X-XSRF-TOKEN: " + token}, 419},
		"logging in from elsewhere":              {"POST", "/api/v1/begin", nil, 204},
		"a public route with a cookie by chance": {"POST", "/api/v1/begin", []string{cookie}, 204},
		"PATCH":                                  {"PATCH", "/api/v1/gadgets/5", []string{cookie}, 419},
		"DELETE":                                 {"DELETE", "/api/v1/gadgets/5", []string{"Cookie: tenantry_session=" + adminSession}, 419},
		"DELETE with the token":                  {"DELETE", "/api/v1/gadgets/5", []string{"Cookie: tenantry_session=" + adminSession, "X-XSRF-TOKEN: " + others}, 204},
		"an unknown session is 401 first":        {"POST", "/api/v1/end", []string{frontend, "Cookie: tenantry_session=" + anonymous}, 401},
		"no session at all":                      {"POST", "/api/v1/end", []string{frontend}, 401},
	} {
		got := s.do(test.method, test.path, "", test.headers...)
		if got.Status != test.want {
			t.Errorf("%s: %d %s, want %d", name, got.Status, got.Body, test.want)
			continue
		}
		if test.want >= 400 {
			if r := got.refused(test.want); r.Code != "" || len(got.cookies()) != 0 {
				t.Errorf("%s: %s %v", name, got.Body, got.cookies())
			}
		}
	}
	// A new session comes with a new token.
	begun := s.do("POST", "/api/v1/begin", "").cookies()
	if c := begun["tenantry_session"]; c == nil || c.Value != ownSession || c.MaxAge != 90 || !c.HttpOnly {
		t.Errorf("%v", begun)
	}
	if c := begun["XSRF-TOKEN"]; c == nil || c.Value != token || c.MaxAge != 90 {
		t.Errorf("%v", begun)
	}
	ended := s.do("POST", "/api/v1/end", "", cookie, "X-XSRF-TOKEN: "+token).cookies()
	if c := ended["tenantry_session"]; c == nil || c.Value == ownSession || len(c.Value) != len(ownSession) || ended["XSRF-TOKEN"].Value == token {
		t.Errorf("%v", ended)
	}
}

func hexOf(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// The CSRF check runs after the rate limit and before the guards, and a rejected request counts for
// its caller (rules: http#order-of-refusals).
func TestCSRFInTheOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, sessionRoutes(), withSessions, func(c *rest.Config) {
		c.Limiter = limited(map[string]int{limit.Default: 2})
	})
	const cookie = "Cookie: tenantry_session=" + ownSession
	token := "X-XSRF-TOKEN: " + s.csrfOf(ownSession)
	for i, want := range []int{419, 404, 429} {
		headers := []string{cookie}
		if i > 0 {
			headers = append(headers, token)
		}
		if got := s.do("PATCH", "/api/v1/gadgets/404", `{broken`, headers...); got.Status != want {
			t.Errorf("%d: %d %s, want %d", i, got.Status, got.Body, want)
		}
	}
	if got := s.do("DELETE", "/api/v1/gadgets/5", "", cookie); got.Status != 419 {
		t.Errorf("%d, want 419 before the guard's 403", got.Status)
	}
	if got := s.do("DELETE", "/api/v1/gadgets/5", "", cookie, token); got.Status != 403 {
		t.Errorf("%d, want the guard's 403", got.Status)
	}
	english := s.do("DELETE", "/api/v1/gadgets/5", "", cookie).refused(419).Message
	for _, locale := range []string{"fr", "es", "it"} {
		if r := s.do("DELETE", "/api/v1/gadgets/5", "", cookie, "Accept-Language: "+locale).refused(419); r.Message == english {
			t.Errorf("%s: %s", locale, r.Message)
		}
	}
}
