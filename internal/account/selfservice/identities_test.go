package selfservice_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A link for a change of email needs a login of the account or its password, so that an attacker
// cannot make another person confirm the change.
func TestChangingTheEmailNeedsTheOwner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		other := s.LogIn("ada@example.com")
		changeEmail(s, ada.Token, "new@example.com").Want(202)
		token := links(s, "new@example.com", 1)[0]
		if text := s.Mails("new@example.com")[0]["text"].(string); !strings.Contains(text, "ada@example.com") {
			t.Errorf("the mail does not name the account: %s", text)
		}
		verify(s, token).WantInvalid("current_password")
		confirm(s, eve.Token, token).WantInvalid("current_password")
		body := apptest.Object{"token": token, "current_password": "wrong horse"}
		s.Call("POST", "/api/v1/auth/verify-email", "", body).WantInvalid("current_password")
		acting := s.Admin()
		s.Impersonate(acting, ada).Want(200)
		confirm(s, acting, token).As("admin impersonating the owner").WantInvalid("current_password")
		me(s, ada.Token).Want(200).WantAt("user.email", "ada@example.com")

		confirm(s, ada.Token, token).Want(200)
		me(s, ada.Token).Want(200).WantAt("user.email", "new@example.com")
		me(s, other).As("another login").WantRefused(401, "")

		changeEmail(s, ada.Token, "newer@example.com").Want(202)
		s.Call("POST", "/api/v1/auth/verify-email", "", apptest.Object{
			"token": links(s, "newer@example.com", 1)[0], "current_password": password,
		}).Want(200)
		me(s, ada.Token).As("all unconfirmed logins").WantRefused(401, "")
		if n := s.CountAudited(ada, "email.changed"); n != 2 {
			t.Errorf("%d entries of changes in the audit log", n)
		}
	})
}

// A change of email removes identities with a different email, and a reset removes all identities.
// Otherwise the former owner of the account could still log in.
func TestIdentitiesEndWithTheirEmail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		deb := delegate(s, "deb@example.com").Str("accessToken")
		id := s.UserID(deb)
		changeEmail(s, deb, "new@example.com").Want(202)
		confirm(s, deb, links(s, "new@example.com", 1)[0]).Want(200)
		identities(s, deb).WantAt("data", []any{})
		if again := delegate(s, "deb@example.com"); int64(again.At("user.id").(float64)) == id {
			t.Error("the identity of the former email still logs in")
		}

		// The new email is verified, so an identity with that email is linked.
		linked := delegate(s, "new@example.com")
		if int64(linked.At("user.id").(float64)) != id {
			t.Fatalf("another account: %s", linked.Text)
		}
		reset := resetMail(s, "new@example.com")
		s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
			"email": "new@example.com", "token": reset, "password": password, "password_confirmation": password,
		}).Want(200)
		me(s, linked.Str("accessToken")).WantRefused(401, "")
		identities(s, s.LogIn("new@example.com")).WantAt("data", []any{})
	})
}

// A new platform admin loses all identities: an account at a provider, which may be less protected,
// must not give access to the platform.
func TestGrantingAdminRemovesIdentities(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const email = "deb@example.com"
		deb := delegate(s, email).Str("accessToken")
		reset := resetMail(s, email)
		s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
			"email": email, "token": reset, "password": password, "password_confirmation": password,
		}).Want(200)
		me(s, deb).WantRefused(401, "")
		delegate(s, email)
		identities(s, s.LogIn(email)).WantAt("data.0.provider", "sandbox")

		if err := commands.GrantAdmin(t.Context(), s.CLISettings(), email, []string{"plans.view"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		identities(s, s.LogIn(email)).WantAt("data", []any{})
	})
}

func identities(s *apptest.Server, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/user/identities", token, nil).Want(200)
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		eve := s.Register("eve@example.com", true)
		login := delegate(s, "deb@example.com")
		deb := login.Str("accessToken")
		list := identities(s, deb).WantAt("data.0.provider", "sandbox").WantAt("data.0.email", "deb@example.com")
		path := "/api/v1/user/identities/" + list.Str("data.0.id")
		list.Str("data.0.last_used_at")
		remove := func(token string, body apptest.Object) apptest.Reply {
			t.Helper()
			return s.Call("DELETE", path, token, body)
		}
		identities(s, eve.Token).WantAt("data", []any{})
		remove(eve.Token, apptest.Object{}).As("of another user").Want(404)
		s.Call("DELETE", "/api/v1/user/identities/"+uuid.NewString(), deb, apptest.Object{}).Want(404)
		acting := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", acting, apptest.Object{
			"user_id": s.UserID(deb), "tenant_id": login.At("user.tenants.0.id"),
		}).Want(200)
		remove(acting, apptest.Object{"current_password": 1}).As("while impersonating").Want(400)

		remove(deb, apptest.Object{}).As("the only way to log in").WantRefused(409, "LAST_LOGIN_METHOD")
		s.Advance(10 * time.Minute)
		remove(deb, apptest.Object{}).As("an old login").WantRefused(403, "RECENT_LOGIN_REQUIRED")

		// An account with a password can remove the identity, which ends its logins.
		s.Call("PUT", "/api/v1/user/password", deb, apptest.Object{"password": password, "password_confirmation": password}).Want(204)
		through := delegate(s, "deb@example.com")
		deb = s.LogIn("deb@example.com")
		remove(deb, apptest.Object{}).WantInvalid("current_password")
		remove(deb, apptest.Object{"current_password": "wrong horse"}).WantInvalid("current_password")
		remove(deb, apptest.Object{"current_password": password}).Want(204)
		remove(deb, apptest.Object{"current_password": password}).Want(404)
		me(s, through.Str("accessToken")).As("a login through it").WantRefused(401, "")
		s.Refresh(through.Str("refreshToken")).WantRefused(401, "INVALID_REFRESH_TOKEN")
		me(s, deb).Want(200)
		identities(s, deb).WantAt("data", []any{})
	})
}

// With email codes, an account can log in without a password and identities, so it can remove the
// last identity.
func TestLastIdentityWithEmailCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		deb := delegate(s, "deb@example.com").Str("accessToken")
		path := "/api/v1/user/identities/" + identities(s, deb).Str("data.0.id")
		s.Call("DELETE", path, deb, apptest.Object{}).Want(204)
		me(s, deb).As("a login through it").WantRefused(401, "")
	}, func(s *settings.Settings) { s.LoginMethods = append(s.EnabledLoginMethods(), settings.EmailCodeLogin) })
}

// A login method that is disabled does not count: an account keeps the last identity by which it can
// log in.
func TestLastIdentityWithDisabledMethods(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		deb := delegate(s, "deb@example.com").Str("accessToken")
		path := "/api/v1/user/identities/" + identities(s, deb).Str("data.0.id")
		s.Call("PUT", "/api/v1/user/password", deb, apptest.Object{"password": password, "password_confirmation": password}).Want(204)
		confirmed := apptest.Object{"current_password": password}
		s.Call("DELETE", path, deb, confirmed).As("a password that cannot log in").WantRefused(409, "LAST_LOGIN_METHOD")

		apptest.Exec(t, s.DB(), `INSERT INTO oauth_identities (provider, subject, id, user_id, email, created_at) VALUES ('gone', 's', $1, $2, 'deb@example.com', $3)`,
			uuid.New(), s.UserID(deb), s.Now())
		s.Call("DELETE", path, deb, confirmed).As("an identity of a former provider").WantRefused(409, "LAST_LOGIN_METHOD")
		apptest.Exec(t, s.DB(), `INSERT INTO oauth_identities (provider, subject, id, user_id, email, created_at) VALUES ('sandbox', 's', $1, $2, 'deb@example.com', $3)`,
			uuid.New(), s.UserID(deb), s.Now())
		s.Call("DELETE", path, deb, confirmed).Want(204)
	}, func(s *settings.Settings) { s.LoginMethods = []string{settings.OAuthLogin} })
}

// Account events are recorded in the tenant's audit log and in the user's export, without secrets.
func TestAccountsLeaveEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		apptest.Exec(t, s.DB(), "UPDATE users SET email_verified_at = created_at WHERE email = 'ada@example.com'")
		for range 4 {
			s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "ada@example.com", "password": "wrong horse"})
		}
		const fresh = "battery staple"
		s.Call("PUT", "/api/v1/user/password", ada.Token, apptest.Object{
			"current_password": password, "password": fresh, "password_confirmation": fresh,
		}).Want(204)
		s.Call("POST", "/api/v1/auth/reset-password", "", apptest.Object{
			"email": "ada@example.com", "token": resetMail(s, "ada@example.com"), "password": password, "password_confirmation": password,
		}).Want(200)
		ada.Token = s.LogIn("ada@example.com")
		delegate(s, "ada@example.com")
		want := map[string]int{"login.blocked": 1, "password.changed": 1, "password.reset": 1, "login.succeeded": 2, "identity.linked": 1}
		own := s.Call("GET", ada.Path("/audit-logs?per_page=100"), ada.Token, nil).Want(200)
		kept := keptOf(s, ada.Token)
		for action, n := range want {
			for where, text := range map[string]string{"the tenant's trail": own.Text, "the export": kept.Text} {
				if got := strings.Count(text, `"`+action+`"`); got != n {
					t.Errorf("%s has %d entries %s, want %d", where, got, action, n)
				}
			}
			if got := s.CountAudited(ada, action); got != n {
				t.Errorf("%d entries %s, want %d", got, action, n)
			}
		}
		if strings.Contains(own.Text, fresh) || strings.Contains(own.Text, ada.Token) {
			t.Error("an entry has a secret")
		}
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{"login_account": 3} })
}

// The holder of an old refresh token cannot lock the owner out of delegated login: reuse only ends
// the login of that token.
func TestReplayLeavesCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := delegate(s, "deb@example.com")
		old := first.Str("refreshToken")
		s.Refresh(old).Want(200)
		code := delegatedCode(s, "deb@example.com")
		s.Refresh(old).WantRefused(401, "INVALID_REFRESH_TOKEN")
		s.Call("POST", "/api/v1/auth/oauth/exchange", "", apptest.Object{"code": code}).Want(200)
	})
}

// All invalid fields are reported together, including the current password.
func TestEveryBrokenField(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		wrong := apptest.Object{"current_password": "wrong horse"}
		for what, call := range map[string]apptest.Reply{
			"short":     s.Call("PUT", "/api/v1/user/password", ada.Token, apptest.WithChanges(wrong, apptest.Object{"password": "x", "password_confirmation": "x"})),
			"common":    s.Call("PUT", "/api/v1/user/password", ada.Token, apptest.WithChanges(wrong, apptest.Object{"password": "password123", "password_confirmation": "password123"})),
			"malformed": s.Call("POST", "/api/v1/user/email", ada.Token, apptest.WithChanges(wrong, apptest.Object{"email": "x"})),
			"missing":   s.Call("POST", "/api/v1/user/email", ada.Token, apptest.Object{}),
		} {
			field := "password"
			if what == "malformed" || what == "missing" {
				field = "email"
			}
			call.As(what).WantInvalid("current_password", field)
		}
		s.Call("POST", ada.Path("/team/invitations"), ada.Token, apptest.Object{"email": "x", "role": "nobody"}).WantInvalid("email", "role")
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invitations", s.Admin(), apptest.Object{"role": "owner"}).WantInvalid("email", "role")
		s.Call("PUT", "/api/v1/user/password", ada.Token, apptest.Object{"current_password": password, "password": "x", "password_confirmation": "x"}).WantInvalid("password")
		unknown := "/webhook-endpoints/" + uuid.NewString() + "/deliveries?page=0"
		s.Call("GET", ada.Path(unknown), ada.Token, nil).Want(404)
		s.Call("GET", "/api/v1/admin"+unknown, s.Admin(), nil).Want(404)
	})
}
