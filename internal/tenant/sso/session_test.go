package sso_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A login ends session_hours after it began, even if its tokens are refreshed.
func TestTheEndOfALogin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := corporate(s, "ada@"+corp, object{"session_hours": 2})
		tokens := enter(s, id, as("ada@"+corp))
		refresh := tokens.Str("refreshToken")
		for range 2 {
			s.Advance(55 * time.Minute)
			tokens = s.Refresh(refresh).Want(200)
			refresh = tokens.Str("refreshToken")
			me(s, tokens.Str("accessToken")).Want(200)
		}
		s.Advance(11 * time.Minute)
		me(s, tokens.Str("accessToken")).WantRefused(401, "")
		if a := s.Refresh(refresh); a.Status != 401 {
			t.Errorf("%d %s", a.Status, a.Text)
		}
	})
}

// Removing a member ends the logins and codes from the connection, and the user's other logins stay
// valid. A later login through the connection does not restore the membership.
func TestRemovingAMember(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp, object{"provision_members": true})
		bob, bobID := s.Join(ada, "Bob", "bob@"+corp, "member")
		through := enter(s, id, as("bob@"+corp, "b"))
		code := signOn(s, id, as("bob@"+corp, "b")).Get("code")
		s.Call("DELETE", ada.Path(fmt.Sprintf("/team/members/%d", bobID)), ada.Token, nil).Want(200)
		me(s, through.Str("accessToken")).WantRefused(401, "")
		s.Refresh(through.Str("refreshToken")).WantRefused(401, "INVALID_REFRESH_TOKEN")
		exchange(s, code).WantRefused(400, "OAUTH_CODE_EXPIRED")
		me(s, bob).Want(200).WantAt("currentTenant", nil)
		for range 2 {
			wantError(s, ada, id, as("bob@"+corp, "b"), "sso_account_elsewhere")
		}
		carol := enter(s, id, as("carol@"+corp)).Str("accessToken")
		s.Call("POST", ada.Path("/leave"), carol, nil).Want(204)
		me(s, carol).WantRefused(401, "")
		wantError(s, ada, id, as("carol@"+corp), "sso_account_elsewhere")

		// With a login through the connection, a user can delete the account, and an owner can
		// delete the tenant.
		dan := enter(s, id, as("dan@"+corp)).Str("accessToken")
		s.Call("DELETE", "/api/v1/user", dan, object{}).Want(204)
		owner := enter(s, id, as("ada@"+corp)).Str("accessToken")
		s.Call("DELETE", ada.Path(""), owner, object{"current_password": apptest.AdaLogin["password"]}).Want(204)
		me(s, owner).WantRefused(401, "")
		me(s, ada.Token).Want(200)
		s.Call("GET", "/api/v1/auth/sso/"+id+"/redirect", "", nil).Want(404)
		s.Call("POST", "/api/v1/auth/sso", "", object{"email": "x@" + corp}).WantRefused(404, "SSO_NOT_AVAILABLE")
	})
}

// Deleting the connection ends its logins, its codes and its open redirects.
func TestDeletingTheConnection(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp)
		through := enter(s, id, as("ada@"+corp))
		code := signOn(s, id, as("ada@"+corp)).Get("code")
		b := newBrowser(s)
		back := b.consent(startURL(s, id), as("ada@"+corp))
		s.Call("DELETE", ada.Path("/sso"), ada.Token, nil).Want(204)
		me(s, through.Str("accessToken")).WantRefused(401, "")
		exchange(s, code).WantRefused(400, "OAUTH_CODE_EXPIRED")
		if got := b.finish(back); got.Get("error") != "invalid_state" {
			t.Errorf("%v", got)
		}
		me(s, ada.Token).Want(200)
	})
}

// Members with an address in a verified domain need a login through the connection. The owner is
// exempt, and gets a mail.
func TestRequiredSignOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, id := corporate(s, "ada@"+corp, object{"provision_members": true})
		bob, _ := s.Join(ada, "Bob", "bob@"+corp, "admin")
		guest, _ := s.Join(ada, "Guest", "guest@example.com", "member")
		fresh := s.Register("fresh@"+corp, true)
		key := s.Call("POST", ada.Path("/api-keys"), ada.Token, object{"name": "Key", "scopes": []string{"usage.read"}}).Want(201).Str("data.secret")
		through := enter(s, id, as("bob@"+corp))
		connect(s, ada, object{"required": true})
		paths := []string{ada.Path("/usage"), "/api/v1/tenant", "/api/v1/onboarding/status", ada.Path("/team/members"), ada.Path("/sso")}
		for _, path := range paths {
			s.Call("GET", path, bob, nil).As(path).WantRefused(403, "SSO_REQUIRED")
			s.Call("GET", path, through.Str("accessToken"), nil).Want(200)
		}
		for method, path := range map[string]string{"PATCH": "/api/v1/tenant", "POST": ada.Path("/leave"), "PUT": ada.Path("/sso")} {
			s.Call(method, path, bob, object{}).As(path).WantRefused(403, "SSO_REQUIRED")
		}
		s.Call("GET", ada.Path("/usage"), s.Refresh(through.Str("refreshToken")).Want(200).Str("accessToken"), nil).Want(200)
		me(s, bob).Want(200)
		s.Call("GET", "/api/v1/user/sessions", bob, nil).Want(200)
		s.LogIn("bob@" + corp) // the login itself is not rejected
		s.Call("GET", ada.Path("/usage"), guest, nil).Want(200)
		s.Call("GET", ada.Path("/usage"), key, nil).Want(200)
		s.Call("GET", fresh.Path("/usage"), fresh.Token, nil).As("another tenant").Want(200)
		s.Call("GET", ada.Path("/usage"), fresh.Token, nil).As("another tenant's user").WantRefused(403, "")

		admin := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", admin, object{"user_id": s.UserID(bob), "tenant_id": ada.Tenant}).Want(200)
		s.Call("GET", ada.Path("/usage"), admin, nil).Want(200)

		exempt := func() int {
			return len(slices.DeleteFunc(actions(s, ada), func(a string) bool { return a != "sso.exempt_login" }))
		}
		s.Call("GET", ada.Path("/usage"), ada.Token, nil).Want(200)
		before := exempt()
		s.LogIn("ada@" + corp)
		if got := exempt(); got != before+1 {
			t.Errorf("%d entries, then %d", before, got)
		}
		apptest.Eventually(t, "the mail", func() bool {
			return slices.ContainsFunc(s.Mails("ada@"+corp), func(m map[string]any) bool {
				return strings.Contains(m["subject"].(string), "single sign-on")
			})
		})
		enter(s, id, as("ada@"+corp))
		if got := exempt(); got != before+1 {
			t.Error("a login through the connection is recorded as exempt")
		}
		connect(s, ada)
		s.Call("GET", ada.Path("/usage"), bob, nil).Want(200)
	})
}
