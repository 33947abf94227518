package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// nowhere is the ID of a tenant that does not exist.
const nowhere = "01990000-0000-7000-8000-000000000000"

// untouched fails the test unless a team still has its owner and its number of members, and no
// departure or transfer was recorded.
func untouched(s *apptest.Server, o apptest.Owner, members int) {
	s.T.Helper()
	me := s.Call("GET", "/api/v1/tenant", o.Token, nil).Want(200)
	me.WantAt("data.user_role", "owner").WantAt("data.owner.email", "ada@example.com")
	if n := len(s.Call("GET", o.Path("/team/members"), o.Token, nil).Want(200).Column("id")); n != members {
		s.T.Errorf("%d members", n)
	}
	for _, action := range []string{"member.left", "tenant.ownership_transferred"} {
		if n := s.CountAudited(o, action); n != 0 {
			s.T.Errorf("%s: %d entries", action, n)
		}
	}
}

// Only members can leave, each from their own team.
func TestLeaveErrors(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		elsewhere, _ := s.Join(other, "Eve", "eve@example.com", "member")
		s.Join(ada, "Bob", "bob@example.com", "member")
		key := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "Key", "scopes": []string{"team.read"}}).Want(201).Str("data.secret")
		leave := func(token, tenant string) apptest.Reply {
			t.Helper()
			return s.Call("POST", apptest.Owner{Tenant: tenant}.Path("/leave"), token, nil)
		}
		leave("", ada.Tenant).As("without login").WantRefused(401, "")
		leave("nonsense", ada.Tenant).As("with no token of ours").WantRefused(401, "")
		leave(elsewhere, ada.Tenant).As("a member of another tenant").WantRefused(403, "")
		leave(s.RegisterAlone("Di", "di@example.com"), ada.Tenant).As("user without a tenant").WantRefused(403, "")
		leave(s.Admin(), ada.Tenant).As("the administrator").WantRefused(403, "")
		leave(elsewhere, nowhere).As("an unknown tenant").WantRefused(403, "")
		if a := leave(key, ada.Tenant); a.Status != 401 && a.Status != 403 {
			t.Errorf("with a key: %d %s", a.Status, a.Text)
		}
		untouched(s, ada, 2)
		s.Call("GET", other.Path("/team/members"), elsewhere, nil).As("member of another tenant").Want(200)
	})
}

// Only the owner can transfer the tenant. Permissions and the right password do not help other
// members.
func TestTransferPermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		admin, adminID := s.Join(ada, "Coy", "coy@example.com", "admin")
		for who, token := range map[string]string{
			"an admin of it":       admin,
			"who is in no tenant":  s.RegisterAlone("Di", "di@example.com"),
			"the platform's admin": s.Admin(),
		} {
			transfer(s, ada, token, bob).As(who).WantRefused(403, "")
		}
		transfer(s, ada, admin, adminID).As("an admin to oneself").WantRefused(403, "")
		transfer(s, ada, "", bob).As("without login").WantRefused(401, "")
		transfer(s, apptest.Owner{Tenant: nowhere}, ada.Token, bob).As("an unknown tenant").WantRefused(403, "")
		s.Call("POST", ada.Path("/transfer-ownership"), admin, apptest.Object{"user_id": bob, "current_password": "wrong horse"}).
			As("admin, regardless of the password").WantRefused(403, "")
		untouched(s, ada, 3)
	})
}

// The owner can transfer the tenant only to a current member, and only with the password.
func TestInvalidTransferTargets(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		_, elsewhere := s.Join(other, "Eve", "eve@example.com", "admin")
		_, removed := s.Join(ada, "Coy", "coy@example.com", "member")
		s.Call("DELETE", ada.Path("/team/members/"+apptest.IDText(float64(removed))), ada.Token, nil).Want(200)
		invited := s.RegisterAlone("Di", "di@example.com")
		s.Invite(ada, "di@example.com", "admin")
		for who, to := range map[string]any{
			"a member of another tenant": elsewhere, "who was removed": removed, "who is invited": s.UserID(invited),
			"the administrator": s.UserID(s.Admin()), "null": nil, "0": 0, "a negative number": -bob, "a list": []int64{bob},
		} {
			transfer(s, ada, ada.Token, to).As(who).WantInvalid("user_id")
		}
		for what, given := range map[string]any{"empty": "", "null": nil, "a number": 1, "another's case": "Correct horse", "with a space": password + " "} {
			s.Call("POST", ada.Path("/transfer-ownership"), ada.Token, apptest.Object{"user_id": bob, "current_password": given}).
				As("a password: " + what).WantInvalid("current_password")
		}
		untouched(s, ada, 2)
	})
}
