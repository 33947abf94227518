package blackbox_test

import (
	"io"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// browserKeys are the keys of a push subscription, as sent by browsers.
var browserKeys = apptest.Object{
	"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
	"auth":   "tBHItJI5svbpez7KI4CCXg",
}

func subscribe(s *apptest.Server, token, endpoint string) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/push-subscriptions", token, apptest.Object{"endpoint": endpoint, "keys": browserKeys})
}

// A person who proves ownership of an email registered by another person gets the account, without
// the other person's tenant, logins and browsers. A platform admin can delete the remaining tenant.
func TestVerifiedOwnerGetsTheAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		proofs := map[string]func(email string) (token string){
			"delegated": func(email string) string {
				end := newCookieBrowser(s).logInAtSandbox(email, "Victim")
				return s.Call("POST", "/api/v1/auth/oauth/exchange", "", apptest.Object{"code": end.Query().Get("code")}).Want(200).Str("accessToken")
			},
			"reset": func(email string) string {
				resetPassword(s, email, resetToken(s, email), "a new password").Want(200)
				return s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "a new password"}).Want(200).Str("accessToken")
			},
		}
		for name, prove := range proofs {
			email := name + "@victims.example"
			squatter := s.Register(email, true)
			subscribe(s, squatter.Token, "https://push.example.com/"+name).Want(201)

			token := prove(email)
			s.Call("GET", "/api/v1/auth/me", squatter.Token, nil).Want(401)
			me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
			if tenants := me.At("user.tenants").([]any); len(tenants) != 0 || me.At("currentTenant") != nil {
				t.Errorf("%s: the user is still in the squatter's tenant: %s", name, me.Text)
			}
			if browsers := s.Call("GET", "/api/v1/push-subscriptions", token, nil).Want(200).At("data").([]any); len(browsers) != 0 {
				t.Errorf("%s: %d browsers of the squatter get messages", name, len(browsers))
			}
			own := s.Call("POST", "/api/v1/tenants", token, apptest.Object{"name": "Mine"}).Want(201)
			if own.Str("data.id") == squatter.Tenant {
				t.Errorf("%s: the tenant is the squatter's", name)
			}
			// Proving the email again changes nothing.
			again := prove(email)
			if tenants := s.Call("GET", "/api/v1/auth/me", again, nil).Want(200).At("user.tenants").([]any); len(tenants) != 1 {
				t.Errorf("%s: the second proof removed %d tenants", name, 1-len(tenants))
			}

			path := "/api/v1/admin/tenants/" + squatter.Tenant
			s.Call("DELETE", path, again, nil).Want(403)
			s.Call("DELETE", path, admin, nil).Want(204)
			s.Call("GET", path, admin, nil).Want(404)
			s.Call("DELETE", path, admin, nil).Want(404)
		}
	})
}

// A reset does not remove the user from a paying tenant, from a tenant that the user declares to be
// theirs, or from a tenant with other members. A free subscription does not count as paying.
// Accepting an invitation by mail also proves the email.
func TestResetKeepsTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		for _, email := range []string{"ada@example.com", "bob@example.com"} {
			resetPassword(s, email, resetToken(s, email), "a new password").Want(200)
			login := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "a new password"}).Want(200)
			if login.Str("user.tenants.0.id") != ada.Tenant {
				t.Errorf("%s (of Bob, %d) has lost the tenant: %s", email, bob, login.Text)
			}
		}
		s.Call("DELETE", "/api/v1/admin/tenants/"+ada.Tenant, s.Admin(), nil).WantRefused(409, "TENANT_NOT_EMPTY")

		for email, kept := range map[string]bool{"free@example.com": false, "former@example.com": true, "says@example.com": true, "silent@example.com": false, "joined@example.com": true} {
			o := s.Register(email, true)
			switch email {
			case "free@example.com":
				s.BuyPlan(o, "free")
			case "joined@example.com":
				s.Join(o, "Grace", "grace@example.com", "member")
			case "former@example.com":
				s.BuyPlan(o, "starter")
				s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"immediately": true}).Want(200)
			}
			reset := apptest.Object{"email": email, "token": resetToken(s, email), "password": "a new password", "password_confirmation": "a new password"}
			if email == "says@example.com" {
				reset["keep_tenant"] = true
			}
			s.Call("POST", "/api/v1/auth/reset-password", "", reset).Want(200)
			s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(401)
			login := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": email, "password": "a new password"}).Want(200)
			if tenants := login.At("user.tenants").([]any); (len(tenants) == 1) != kept {
				t.Errorf("%s keeps the tenant: %s", email, login.Text)
			}
		}
	})
}

// A platform admin's account is never linked to a provider identity by email, and an account with an
// unverified email cannot become an admin.
func TestAdminsAreNeverLinked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		end := newCookieBrowser(s).logInAtSandbox("admin@tenantry.test", "Mallory")
		if end.Query().Get("error") != "link_refused" || end.Query().Get("code") != "" {
			t.Errorf("the browser ends at %s", end)
		}
		s.Admin()

		s.Register("ada@example.com", false)
		grant := func() error {
			return commands.GrantAdmin(t.Context(), s.CLISettings(), "ada@example.com", nil, io.Discard)
		}
		if grant() == nil {
			t.Error("GrantAdmin accepted an account with an unverified email")
		}
		resetPassword(s, "ada@example.com", resetToken(s, "ada@example.com"), "a new password").Want(200)
		if err := grant(); err != nil {
			t.Error(err)
		}
	})
}

// A user has at most 100 logins, and a pair of tokens counts as one. The oldest login ends first.
func TestAtMostAHundredLogins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
		first = s.Refresh(first.Str("refreshToken")).Want(200) // a refresh continues the same login
		f := s.Frontend()
		f.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		f.Send("POST", "/api/v1/auth/login", apptest.AdaLogin).Want(200)
		for range 98 {
			s.LogIn("ada@example.com")
		}
		s.Call("GET", "/api/v1/auth/me", first.Str("accessToken"), nil).Want(200)
		last := s.LogIn("ada@example.com")
		s.Call("GET", "/api/v1/auth/me", first.Str("accessToken"), nil).Want(401)
		s.Refresh(first.Str("refreshToken")).Want(401)
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(200)
		s.LogIn("ada@example.com")
		f.Fetch("GET", "/api/v1/auth/me", "", nil).Want(401)
		s.Call("GET", "/api/v1/auth/me", last, nil).Want(200)
		if n := s.CountRows("SELECT count(DISTINCT family) FROM credentials WHERE revoked_at IS NULL AND user_id = $1", s.UserID(last)); n != 100 {
			t.Errorf("%d logins live", n)
		}
	})
}

// An impersonation ends immediately when its target leaves the tenant.
func TestImpersonationEndsWithTheMembership(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		token := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", token, apptest.Object{"user_id": bob, "tenant_id": ada.Tenant}).Want(200)
		subscribe(s, token, "https://push.example.com/admin").Want(400)
		s.Call("DELETE", "/api/v1/push-subscriptions", token, apptest.Object{"endpoint": "https://push.example.com/x"}).Want(400)
		s.Call("DELETE", ada.Path("/team/members/"+apptest.IDText(float64(bob))), ada.Token, nil)
		s.Call("GET", "/api/v1/admin/impersonation/status", token, nil).Want(400)
		if me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200); me.At("user.email") != "admin@tenantry.test" {
			t.Errorf("me: %s", me.Text)
		}
		subscribe(s, token, "https://push.example.com/admin").Want(201)
		if got := s.Call("GET", "/api/v1/admin/impersonation/logs", token, nil).Want(200).Column("action"); len(got) != 2 || got[0] != "ended" {
			t.Errorf("the log: %v", got)
		}
	})
}
