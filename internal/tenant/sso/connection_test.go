package sso_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// PUT replaces everything except the secret. A different issuer or client ID creates a new
// connection.
func TestPuttingAConnection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@"+corp, true)
		path := ada.Path("/sso")
		s.Call("GET", path, ada.Token, nil).Want(200).WantAt("data", nil)
		s.Call("DELETE", path, ada.Token, nil).Want(204)
		s.Call("POST", path+"/test", ada.Token, nil).Want(404)
		verified(s, ada, corp)
		put := func(body object) apptest.Reply { return s.Call("PUT", path, ada.Token, body) }
		first := put(terms(s, ada, object{"role": "admin", "provision_members": true, "counts_as_mfa": true, "session_hours": 8})).Want(200).
			WantAt("data.issuer", issuerOf(s, ada.Tenant)).WantAt("data.client_id", "tenantry").WantAt("data.role", "admin").
			WantAt("data.provision_members", true).WantAt("data.required", false).WantAt("data.counts_as_mfa", true).WantAt("data.session_hours", 8.0).
			WantAt("data.redirect_uri", s.URL+"/api/v1/auth/sso/callback").WantAt("data.last_login_at", nil).WantAt("data.last_error", nil).
			WantAt("data.last_test", nil).WantAt("data.domains", []any{corp})
		id := first.Str("data.id")
		login := enter(s, id, as("ada@"+corp))
		same := put(terms(s, ada, object{"client_secret": apptest.Absent})).Want(200).WantAt("data.id", id).WantAt("data.role", "member").
			WantAt("data.provision_members", false).WantAt("data.counts_as_mfa", false).WantAt("data.session_hours", 24.0)
		same.TimeAt("data.last_login_at")
		enter(s, id, as("ada@"+corp)) // the secret is kept
		put(terms(s, ada, object{"client_secret": "wrong"})).Want(200).WantAt("data.id", id)
		wantError(s, ada, id, as("ada@"+corp), "provider_error")

		// A different issuer removes the links, ends the logins and clears last_login_at.
		me(s, login.Str("accessToken")).Want(200)
		put(terms(s, ada, object{"issuer": issuerOf(s, "next"), "client_secret": apptest.Absent})).WantInvalid("client_secret")
		me(s, login.Str("accessToken")).Want(200)
		next := put(terms(s, ada, object{"issuer": issuerOf(s, "next")})).Want(200).WantAt("data.last_login_at", nil).WantAt("data.last_error", nil)
		if next.Str("data.id") == id {
			t.Error("the connection is the same")
		}
		me(s, login.Str("accessToken")).WantRefused(401, "")
		s.Call("GET", "/api/v1/auth/sso/"+id+"/redirect", "", nil).Want(404)
		s.Call("GET", "/api/v1/user/identities", ada.Token, nil).Want(200).WantAt("data", []any{})
		if text := s.Call("GET", path, ada.Token, nil).Want(200).Text; strings.Contains(text, "sandbox-secret") || strings.Contains(text, "client_secret") {
			t.Error(text)
		}
		if n := s.CountRows("SELECT count(*) FROM sso_connections WHERE client_secret LIKE '%sandbox-secret%'"); n != 0 {
			t.Error("the secret is stored in plain text")
		}
		s.Call("DELETE", path, ada.Token, nil).Want(204)
		s.Call("GET", path, ada.Token, nil).Want(200).WantAt("data", nil)
		s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).WantAt("data.0.status", "verified")
		if got := actions(s, ada)[:2]; got[0] != "sso.deleted" || got[1] != "sso.updated" {
			t.Errorf("%v", got)
		}
	})
}

func TestFieldsOfAConnection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@"+corp, true)
		put := func(body object) apptest.Reply { return s.Call("PUT", ada.Path("/sso"), ada.Token, body) }
		put(object{}).WantInvalid("issuer", "client_id", "client_secret")
		put(object{"role": "owner", "session_hours": 721, "required": true}).WantInvalid("issuer", "client_id", "client_secret", "role", "session_hours", "required")
		for field, values := range map[string][]any{
			"role": {"owner", "nothing", nil, 1}, "session_hours": {0, 721, 1.5, "24", nil}, "provision_members": {"yes", nil}, "required": {true, nil, 1},
			"counts_as_mfa": {nil, 1}, "client_id": {"", nil, 1}, "client_secret": {"", 1},
			"issuer": {
				"", "x", nil, 1, "ftp://example.com", "https://", "https://user@example.com", issuerOf(s, "a") + "?a=b", issuerOf(s, "a") + "?", issuerOf(s, "a") + "#f",
				"https://10.0.0.1", "https://localhost.example.invalid", s.URL + "/sandbox/idp/a/", s.URL + "/nothing", "http://192.0.2.1", "https://127.0.0.1:1",
			},
		} {
			for _, value := range values {
				put(terms(s, ada, object{field: value})).As(field).WantInvalid(field)
			}
		}
		s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200).WantAt("data", nil)
		connect(s, ada)
		put(terms(s, ada, object{"required": true})).As("before a login").WantInvalid("required")
	})
}

// The discovery document must name the issuer and have endpoints that can be requested.
func TestDiscoveryDocuments(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@"+corp, true)
		document := "{}"
		issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/.well-known/openid-configuration" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(document))
		}))
		t.Cleanup(issuer.Close)
		put := func() apptest.Reply {
			return s.Call("PUT", ada.Path("/sso"), ada.Token, object{"issuer": issuer.URL, "client_id": "c", "client_secret": "s"})
		}
		good := `{"issuer": "ISSUER", "authorization_endpoint": "ISSUER/auth", "token_endpoint": "ISSUER/token", "jwks_uri": "ISSUER/keys"}`
		for name, text := range map[string]string{
			"nothing": "", "no JSON": "<html>", "an empty object": "{}", "another issuer": strings.Replace(good, `"ISSUER"`, `"ISSUER/"`, 1),
			"no authorization endpoint": strings.Replace(good, "authorization_endpoint", "x", 1), "no token endpoint": strings.Replace(good, "token_endpoint", "x", 1),
			"no keys": strings.Replace(good, "jwks_uri", "x", 1), "a private endpoint": strings.Replace(good, "ISSUER/token", "https://10.0.0.1/token", 1),
			"a script": strings.Replace(good, "ISSUER/auth", "javascript:alert(1)", 1), "user info": strings.Replace(good, "ISSUER/auth", "https://a:b@example.com", 1),
			"a private page":   strings.Replace(good, "ISSUER/auth", "https://192.168.0.1/auth", 1),
			"a large document": strings.TrimSuffix(good, "}") + `, "x": "` + strings.Repeat("x", 64<<10) + `"}`,
		} {
			document = strings.ReplaceAll(text, "ISSUER", issuer.URL)
			put().As(name).WantInvalid("issuer")
		}
		document = strings.ReplaceAll(good, "ISSUER", issuer.URL)
		put().Want(200)
	})
}

// Only plans with the feature can change single sign-on, if the catalog has the feature.
func TestFeatureOfThePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		s.Join(ada, "Bob", "bob@"+corp, "member")
		s.CatalogAdmin().CreateFeature("tenant-sso")
		domain := ada.Path("/domains/" + s.Call("GET", ada.Path("/domains"), ada.Token, nil).Want(200).Str("data.0.id"))
		changes := map[string]string{
			"POST": ada.Path("/domains"), "PATCH": domain, "PUT": ada.Path("/sso"),
		}
		for method, path := range changes {
			s.Call(method, path, ada.Token, object{}).As(method).WantRefused(403, "FEATURE_NOT_IN_PLAN")
			s.Call(method, path, s.LogIn("bob@"+corp), object{}).As(method+" without the permission").WantRefused(403, "")
		}
		for _, path := range []string{domain + "/verify", ada.Path("/sso/test")} {
			s.Call("POST", path, ada.Token, nil).WantRefused(403, "FEATURE_NOT_IN_PLAN")
		}
		enter(s, id, as("bob@"+corp))
		s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200)
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/tenant-sso", s.Admin(), object{"type": "boolean", "reason": "test"}).Want(200)
		s.Call("POST", ada.Path("/sso/test"), ada.Token, nil).Want(200)
		s.Call("POST", ada.Path("/domains"), ada.Token, object{}).WantInvalid("domain")
		s.Call("DELETE", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/tenant-sso", s.Admin(), nil).Want(204)
		s.Call("DELETE", ada.Path("/sso"), ada.Token, nil).Want(204)
		s.Call("DELETE", domain, ada.Token, nil).Want(204)
	})
}

// A test runs in any browser, shows the result of a login, and changes nothing else.
func TestTestingAConnection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		start := s.Call("POST", ada.Path("/sso/test"), ada.Token, nil).Want(200).Str("data.url")
		try := func(email string) string {
			t.Helper()
			b := newBrowser(s)
			return b.finish(b.consent(start, as(email))).Encode()
		}
		shows := func(result string) {
			t.Helper()
			got := s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200).WantAt("data.last_test.result", result).
				WantAt("data.last_error", nil).WantAt("data.last_login_at", nil)
			got.TimeAt("data.last_test.at")
		}
		if got := try("ada@" + corp); got != "test=ok" {
			t.Error(got)
		}
		shows("ok")
		if got := try("ada@elsewhere.example"); got != "error=sso_domain_mismatch" {
			t.Error(got)
		}
		shows("sso_domain_mismatch")
		connect(s, ada, object{"provision_members": true})
		if got := try("new@" + corp); got != "test=ok" {
			t.Error(got)
		}
		if n := s.CountRows("SELECT count(*) FROM sso_identities") + s.CountRows("SELECT count(*) FROM users WHERE email = 'new@corp.example'"); n != 0 {
			t.Errorf("%d rows", n)
		}
		s.Call("PUT", ada.Path("/sso"), ada.Token, terms(s, ada, object{"required": true})).As("after a test").WantInvalid("required")
		for _, wrong := range []string{startURL(s, id) + "?test=1", strings.Replace(start, "?test=", "?test=1", 1)} {
			if to := newBrowser(s).open("GET", wrong, nil).Want(302).Header.Get("Location"); !strings.HasSuffix(to, "?error=invalid_state") {
				t.Errorf("%s links to %s", wrong, to)
			}
		}
		connect(s, ada, object{"issuer": issuerOf(s, "other")})
		s.Call("GET", ada.Path("/sso"), ada.Token, nil).Want(200).WantAt("data.last_test", nil)
	})
}
