package apptest

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/rest"
)

// WantNoCredential checks that a text, such as a challenge, is not a credential. If the text is
// sent as a bearer token or a session cookie, each route responds like to an unknown credential:
// with 401, unless the route is public. tenant replaces the tenant ID in the paths.
func (s *Server) WantNoCredential(tenant, text string) {
	s.T.Helper()
	session := func(method, path, value string) Reply {
		f := s.Frontend()
		f.Cookies["tenantry_session"] = &http.Cookie{Name: "tenantry_session", Value: value}
		return f.Fetch(method, path, "", nil)
	}
	guarded := 0
	for _, r := range s.Routes() {
		path := FillPath(r.Path, tenant)
		for kind, call := range map[string]func(value string) Reply{
			"bearer":  func(value string) Reply { return s.Call(r.Method, path, value, nil) },
			"session": func(value string) Reply { return session(r.Method, path, value) },
		} {
			with, unknown := call(text), call("unknown")
			if with.Status != unknown.Status {
				s.T.Errorf("%s, %s %s: %d, and %d with an unknown credential", kind, r.Method, r.Path, with.Status, unknown.Status)
			}
			if r.Scope != rest.Public {
				guarded++
				with.As(kind+", "+r.Method+" "+r.Path).WantRefused(http.StatusUnauthorized, "")
			}
		}
	}
	if guarded < 200 {
		s.T.Errorf("only %d calls of guarded routes", guarded)
	}
	if a := s.Refresh(text); a.Status < http.StatusBadRequest || a.Status >= http.StatusInternalServerError {
		s.T.Errorf("a refresh answers %d %s", a.Status, a.Text)
	}
}
