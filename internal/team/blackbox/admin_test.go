package blackbox_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// adminTeam returns the base path of a tenant's admin routes.
func adminTeam(o apptest.Owner) string { return "/api/v1/admin/tenants/" + o.Tenant }

const noTenant = "/api/v1/admin/tenants/" + apptest.NoSuchID

func TestAdminMembers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other, admin := s.Register("owner@example.com", true), s.Register("other@example.com", true), s.Admin()
		bob, id := s.Join(o, "Bob", "bob@example.com", "member")
		ownerID, strangerID := s.UserID(o.Token), s.UserID(other.Token)
		at := func(id any) string { return fmt.Sprintf("%s/members/%v", adminTeam(o), id) }

		list := s.Call("GET", adminTeam(o)+"/members", admin, nil).Want(200)
		if diff := cmp.Diff(s.Call("GET", o.Path("/team/members"), o.Token, nil).At("data"), list.At("data")); diff != "" {
			t.Errorf("members: %s", diff)
		}
		s.Call("GET", noTenant+"/members", admin, nil).WantRefused(404, "")

		foreign := s.CreateRole(other, "Foreign")
		for _, who := range []any{strangerID, 999999, "x"} {
			s.Call("PATCH", at(who)+"/role", admin, map[string]any{"role_id": "x"}).WantRefused(404, "")
			s.Call("PATCH", at(who), admin, map[string]any{"name": ""}).WantRefused(404, "")
			s.Call("DELETE", at(who), admin, nil).WantRefused(404, "")
		}
		s.Call("DELETE", fmt.Sprintf("%s/members/%d", noTenant, id), admin, nil).WantRefused(404, "")
		s.Call("PATCH", at(id)+"/role", admin, map[string]any{"role_id": foreign}).WantInvalid("role_id")
		s.Call("PATCH", at(id)+"/role", admin, map[string]any{"role_id": s.RoleID(o, "owner")}).WantInvalid("role_id")
		s.Call("PATCH", at(ownerID)+"/role", admin, map[string]any{"role_id": s.RoleID(o, "admin")}).WantRefused(403, "")
		s.Call("DELETE", at(ownerID), admin, nil).WantRefused(403, "")

		s.Call("PATCH", at(id)+"/role", admin, map[string]any{"role_id": s.RoleID(o, "admin")}).Want(200)
		if me := s.Call("GET", "/api/v1/auth/me", bob, nil).Want(200); me.At("user.roles.0") != "admin" {
			t.Errorf("me: %s", me.Text)
		}
		s.Call("DELETE", at(id), admin, nil).Want(200)
		s.Call("GET", o.Path("/team/members"), bob, nil).WantRefused(403, "")
	})
}

func TestAdminMemberProfile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, admin := s.Register("owner@example.com", true), s.Admin()
		bob, id := s.Join(o, "Bob", "bob@example.com", "member")
		at := func(id int64) string { return fmt.Sprintf("%s/members/%d", adminTeam(o), id) }
		s.Call("PATCH", at(id), admin, map[string]any{"name": ""}).WantInvalid("name")
		s.Call("PATCH", at(id), admin, map[string]any{"name": nil}).WantInvalid("name")
		s.Call("PATCH", at(id), admin, map[string]any{"password": "1234567"}).WantInvalid("password")

		// Changing only the name keeps all sessions.
		a := s.Call("PATCH", at(id), admin, map[string]any{"name": "Robert"}).Want(200)
		if a.At("data.name") != "Robert" || a.At("data.email") != "bob@example.com" || a.At("data.role.name") != "member" {
			t.Errorf("renamed: %s", a.Text)
		}
		s.Call("GET", "/api/v1/auth/me", bob, nil).Want(200)
		s.Call("PATCH", at(id), admin, map[string]any{}).Want(200)

		s.Call("PATCH", at(id), admin, map[string]any{"password": "a new password"}).Want(200)
		s.Call("GET", "/api/v1/auth/me", bob, nil).Want(401)
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "bob@example.com", "password": "correct horse"}).Want(401)
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "bob@example.com", "password": "a new password"}).Want(200)
		apptest.Eventually(t, "the mail", func() bool { return len(s.Mails("bob@example.com")) == 2 })

		// The password of a platform admin who is a member of the tenant cannot be changed.
		_, token := s.Invite(o, "admin@tenantry.test", "member")
		s.Call("POST", "/api/v1/invitations/"+token+"/accept", admin, nil).Want(200)
		self := s.UserID(admin)
		s.Call("PATCH", at(self), admin, map[string]any{"name": "Mallory", "password": "a new password"}).WantRefused(403, "")
		s.Call("PATCH", at(self), admin, map[string]any{"name": "Root"}).Want(200)
		if me := s.Call("GET", "/api/v1/auth/me", s.Admin(), nil).Want(200); me.At("user.name") != "Root" {
			t.Errorf("me: %s", me.Text)
		}
		s.Call("DELETE", at(self), admin, nil).WantRefused(403, "") // themselves
	})
}

func TestAdminInvitations(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other, admin := s.Register("owner@example.com", true), s.Register("other@example.com", true), s.Admin()
		at := adminTeam(o) + "/invitations"
		s.Call("GET", noTenant+"/invitations", admin, nil).WantRefused(404, "")
		s.Call("POST", noTenant+"/invitations", admin, map[string]any{}).WantRefused(404, "")
		s.Call("POST", at, admin, map[string]any{"email": "eve@example.com", "role": "owner"}).WantInvalid("role")
		a := s.Call("POST", at, admin, map[string]any{"email": "eve@example.com", "role": "admin", "expires_in_days": 2}).Want(201)
		if a.At("data.tenant.id") != o.Tenant || a.At("data.inviter.name") != "Sandbox Admin" {
			t.Errorf("invitation: %s", a.Text)
		}
		first := s.InvitationToken("eve@example.com", 1)
		s.Call("POST", at, admin, map[string]any{"email": "eve@example.com", "role": "admin"}).WantRefused(409, "ALREADY_INVITED")
		id := a.Str("data.id")
		s.Call("POST", adminTeam(other)+"/invitations/"+id+"/resend", admin, nil).WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("DELETE", adminTeam(other)+"/invitations/"+id, admin, nil).WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("DELETE", noTenant+"/invitations/"+id, admin, nil).WantRefused(404, "")
		s.Call("POST", at+"/"+id+"/resend", admin, nil).Want(200)
		s.InvitationToken("eve@example.com", 2)
		s.Call("GET", "/api/v1/invitations/"+first, "", nil).WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("DELETE", at+"/"+id, admin, nil).Want(200)
		s.Call("DELETE", at+"/"+id, admin, nil).WantRefused(410, "INVITATION_REVOKED")
		if list := s.Call("GET", at+"?pending_only=true", admin, nil).Want(200); len(list.At("data").([]any)) != 0 {
			t.Errorf("waiting: %s", list.Text)
		}
		if list := s.Call("GET", at, admin, nil).Want(200); list.At("data.0.status") != "revoked" {
			t.Errorf("all: %s", list.Text)
		}
		// The seats of the plan also limit platform admins.
		s.BuyPlan(o, "free")
		s.Call("POST", at, admin, map[string]any{"email": "one@example.com", "role": "member"}).Want(201)
		s.Call("POST", at, admin, map[string]any{"email": "two@example.com", "role": "member"}).WantRefused(422, "SEAT_LIMIT_REACHED")
	})
}
