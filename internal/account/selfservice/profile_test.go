package selfservice_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// me returns the profile of a token's user.
func me(s *apptest.Server, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/auth/me", token, nil)
}

func TestChangingTheProfile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		me(s, ada.Token).Want(200).WantAt("user.email_verified", false).WantAt("user.locale", nil)
		change := func(body apptest.Object) apptest.Reply {
			t.Helper()
			return s.Call("PATCH", "/api/v1/user", ada.Token, body)
		}
		changed := change(apptest.Object{"name": " Ada Lovelace ", "locale": "fr"}).Want(200)
		changed.WantAt("data.name", "Ada Lovelace").WantAt("data.locale", "fr").WantAt("data.email", "ada@example.com").
			WantAt("data.tenants.0.id", ada.Tenant).WantAt("data.roles", []any{"owner"}).WantAt("data.email_verified", false)
		change(apptest.Object{}).Want(200).WantAt("data.name", "Ada Lovelace").WantAt("data.locale", "fr")
		change(apptest.Object{"locale": nil}).Want(200).WantAt("data.locale", nil)
		me(s, ada.Token).Want(200).WantAt("user.name", "Ada Lovelace").WantAt("user.locale", nil)
		for what, body := range map[string]apptest.Object{
			"name null": {"name": nil}, "name empty": {"name": ""}, "name long": {"name": strings.Repeat("x", 256)}, "name of controls": {"name": "a\u0007"},
			"locale unknown": {"locale": "de"}, "locale as number": {"locale": 5},
		} {
			field, _, _ := strings.Cut(what, " ")
			change(body).As(what).WantInvalid(field)
		}
		s.Call("PATCH", "/api/v1/user", "", apptest.Object{}).WantRefused(401, "")
	})
}

func TestLogins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		other := s.Register("bob@example.com", true)
		first := s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200)
		browser := s.Frontend()
		browser.Send("GET", "/csrf-cookie", nil).Want(204)
		browser.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
		sessions := func(token string) apptest.Reply {
			t.Helper()
			return s.Call("GET", "/api/v1/user/sessions", token, nil).Want(200)
		}
		list := sessions(first.Str("accessToken"))
		if got := list.Column("kind"); len(got) != 3 || got[0] != "session" || got[1] != "token" || got[2] != "token" {
			t.Fatalf("%s", list.Text)
		}
		if got := list.Column("current"); got[0] != false || got[1] != true || got[2] != false {
			t.Errorf("%s", list.Text)
		}
		list.WantAt("data.1.ip", "127.0.0.1").WantAt("data.1.user_agent", "Go-http-client/1.1")
		if got := list.TimeAt("data.1.expires_at").Sub(list.TimeAt("data.1.created_at")); got != 30*apptest.Day {
			t.Errorf("the session expires after %s", got)
		}

		// A refresh continues the login and updates its user agent.
		id := list.Str("data.1.id")
		s.Advance(10 * time.Minute)
		r := s.NewRequest("POST", "/api/v1/auth/refresh", "", apptest.Object{"refresh_token": first.Str("refreshToken")})
		r.Header.Set("User-Agent", "Phone")
		pair := s.Do(r).Want(200)
		list = sessions(pair.Str("accessToken"))
		list.WantAt("data.1.id", id).WantAt("data.1.user_agent", "Phone").WantAt("data.1.current", true)
		used := list.TimeAt("data.1.last_used_at")
		if len(list.Column("id")) != 3 || used.Sub(list.TimeAt("data.1.created_at")) < 9*time.Minute || used.Second() != 0 {
			t.Errorf("%s", list.Text)
		}
		s.Advance(3 * time.Minute)
		apptest.Eventually(t, "the use of a login", func() bool {
			return sessions(pair.Str("accessToken")).TimeAt("data.1.last_used_at").Sub(used) >= 2*time.Minute
		})

		// Users can only end their own logins, with immediate effect.
		end := func(token, id string) apptest.Reply {
			t.Helper()
			return s.Call("DELETE", "/api/v1/user/sessions/"+id, token, nil)
		}
		end(other.Token, id).WantRefused(404, "")
		end(ada.Token, apptest.NoSuchID).WantRefused(404, "")
		end(ada.Token, "x").WantRefused(404, "")
		me(s, pair.Str("accessToken")).Want(200)
		end(ada.Token, id).Want(204)
		me(s, pair.Str("accessToken")).WantRefused(401, "")
		s.Refresh(pair.Str("refreshToken")).WantRefused(401, "INVALID_REFRESH_TOKEN")
		end(ada.Token, id).WantRefused(404, "")

		browser.Send("GET", "/api/v1/auth/me", nil).Want(200)
		third := s.LogIn("ada@example.com")
		s.Call("DELETE", "/api/v1/user/sessions", ada.Token, nil).Want(204)
		me(s, third).WantRefused(401, "")
		browser.Send("GET", "/api/v1/auth/me", nil).WantRefused(401, "")
		if got := sessions(ada.Token).Column("current"); len(got) != 1 || got[0] != true {
			t.Errorf("left are %v", got)
		}
		me(s, other.Token).Want(200)
		own := sessions(ada.Token).Str("data.0.id")
		end(ada.Token, own).Want(204)
		me(s, ada.Token).WantRefused(401, "")
	})
}

// An impersonated account can be read but not changed.
func TestOwnAccountWhileImpersonating(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		posing := s.Admin()
		s.Impersonate(posing, ada).Want(200)
		for path, method := range map[string]string{
			"": "PATCH", "/password": "PUT", "/email": "POST", "/email/verification": "POST", "/sessions": "DELETE", "/sessions/" + apptest.NoSuchID: "DELETE",
		} {
			s.Call(method, "/api/v1/user"+path, posing, apptest.Object{}).As(method+" "+path).WantRefused(400, "")
		}
		list := s.Call("GET", "/api/v1/user/sessions", posing, nil).Want(200)
		if got := list.Column("current"); len(got) != 1 || got[0] != false {
			t.Errorf("%s", list.Text)
		}
	})
}
