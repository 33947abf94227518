package app

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// adminTeam is the base of a tenant's routes for platform administrators.
func (o owner) adminTeam() string { return "/api/v1/admin/tenants/" + o.tenant }

const noTenant = "/api/v1/admin/tenants/" + noSuchID

func TestAdminMembers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other, admin := s.register("owner@example.com", true), s.register("other@example.com", true), s.admin()
		bob, id := s.join(o, "Bob", "bob@example.com", "member")
		ownerID, strangerID := s.userID(o.token), s.userID(other.token)
		at := func(id any) string { return fmt.Sprintf("%s/members/%v", o.adminTeam(), id) }

		list := s.call("GET", o.adminTeam()+"/members", admin, nil).want(200)
		if diff := cmp.Diff(s.call("GET", o.team()+"/members", o.token, nil).at("data"), list.at("data")); diff != "" {
			t.Errorf("members: %s", diff)
		}
		s.call("GET", noTenant+"/members", admin, nil).refused(404, "")

		foreign := s.makeRole(other, "Foreign")
		for _, who := range []any{strangerID, 999999, "x"} {
			s.call("PATCH", at(who)+"/role", admin, map[string]any{"role_id": "x"}).refused(404, "")
			s.call("PATCH", at(who), admin, map[string]any{"name": ""}).refused(404, "")
			s.call("DELETE", at(who), admin, nil).refused(404, "")
		}
		s.call("DELETE", fmt.Sprintf("%s/members/%d", noTenant, id), admin, nil).refused(404, "")
		s.call("PATCH", at(id)+"/role", admin, map[string]any{"role_id": foreign}).invalid("role_id")
		s.call("PATCH", at(id)+"/role", admin, map[string]any{"role_id": s.role(o, "owner")}).invalid("role_id")
		s.call("PATCH", at(ownerID)+"/role", admin, map[string]any{"role_id": s.role(o, "admin")}).refused(403, "")
		s.call("DELETE", at(ownerID), admin, nil).refused(403, "")

		s.call("PATCH", at(id)+"/role", admin, map[string]any{"role_id": s.role(o, "admin")}).want(200)
		if me := s.call("GET", "/api/v1/auth/me", bob, nil).want(200); me.at("user.roles.0") != "admin" {
			t.Errorf("me: %s", me.text)
		}
		s.call("DELETE", at(id), admin, nil).want(200)
		s.call("GET", o.team()+"/members", bob, nil).refused(403, "")
	})
}

func TestAdminMemberProfile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, admin := s.register("owner@example.com", true), s.admin()
		bob, id := s.join(o, "Bob", "bob@example.com", "member")
		at := func(id int64) string { return fmt.Sprintf("%s/members/%d", o.adminTeam(), id) }
		s.call("PATCH", at(id), admin, map[string]any{"name": ""}).invalid("name")
		s.call("PATCH", at(id), admin, map[string]any{"name": nil}).invalid("name")
		s.call("PATCH", at(id), admin, map[string]any{"password": "1234567"}).invalid("password")

		// Only the name: nothing ends.
		a := s.call("PATCH", at(id), admin, map[string]any{"name": "Robert"}).want(200)
		if a.at("data.name") != "Robert" || a.at("data.email") != "bob@example.com" || a.at("data.role.name") != "member" {
			t.Errorf("renamed: %s", a.text)
		}
		s.call("GET", "/api/v1/auth/me", bob, nil).want(200)
		s.call("PATCH", at(id), admin, map[string]any{}).want(200)

		s.call("PATCH", at(id), admin, map[string]any{"password": "a new password"}).want(200)
		s.call("GET", "/api/v1/auth/me", bob, nil).want(401)
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "bob@example.com", "password": "correct horse"}).want(401)
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "bob@example.com", "password": "a new password"}).want(200)
		eventually(t, "the mail", func() bool { return len(s.mails("bob@example.com")) == 2 })

		// A platform administrator who is in the tenant keeps their password.
		_, token := s.invite(o, "admin@tenantry.test", "member")
		s.call("POST", "/api/v1/invitations/"+token+"/accept", admin, nil).want(200)
		self := s.userID(admin)
		s.call("PATCH", at(self), admin, map[string]any{"name": "Mallory", "password": "a new password"}).refused(403, "")
		s.call("PATCH", at(self), admin, map[string]any{"name": "Root"}).want(200)
		if me := s.call("GET", "/api/v1/auth/me", s.admin(), nil).want(200); me.at("user.name") != "Root" {
			t.Errorf("me: %s", me.text)
		}
		s.call("DELETE", at(self), admin, nil).refused(403, "") // themselves
	})
}

func TestAdminInvitations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other, admin := s.register("owner@example.com", true), s.register("other@example.com", true), s.admin()
		at := o.adminTeam() + "/invitations"
		s.call("GET", noTenant+"/invitations", admin, nil).refused(404, "")
		s.call("POST", noTenant+"/invitations", admin, map[string]any{}).refused(404, "")
		s.call("POST", at, admin, map[string]any{"email": "eve@example.com", "role": "owner"}).invalid("role")
		a := s.call("POST", at, admin, map[string]any{"email": "eve@example.com", "role": "admin", "expires_in_days": 2}).want(201)
		if a.at("data.tenant.id") != o.tenant || a.at("data.inviter.name") != "Sandbox Admin" {
			t.Errorf("invitation: %s", a.text)
		}
		first := s.invitationToken("eve@example.com", 1)
		s.call("POST", at, admin, map[string]any{"email": "eve@example.com", "role": "admin"}).refused(409, "ALREADY_INVITED")
		id := a.str("data.id")
		s.call("POST", other.adminTeam()+"/invitations/"+id+"/resend", admin, nil).refused(404, "INVITATION_NOT_FOUND")
		s.call("DELETE", other.adminTeam()+"/invitations/"+id, admin, nil).refused(404, "INVITATION_NOT_FOUND")
		s.call("DELETE", noTenant+"/invitations/"+id, admin, nil).refused(404, "")
		s.call("POST", at+"/"+id+"/resend", admin, nil).want(200)
		s.invitationToken("eve@example.com", 2)
		s.call("GET", "/api/v1/invitations/"+first, "", nil).refused(404, "INVITATION_NOT_FOUND")
		s.call("DELETE", at+"/"+id, admin, nil).want(200)
		s.call("DELETE", at+"/"+id, admin, nil).refused(410, "INVITATION_REVOKED")
		if list := s.call("GET", at+"?pending_only=true", admin, nil).want(200); len(list.at("data").([]any)) != 0 {
			t.Errorf("waiting: %s", list.text)
		}
		if list := s.call("GET", at, admin, nil).want(200); list.at("data.0.status") != "revoked" {
			t.Errorf("all: %s", list.text)
		}
		// The administration is bound to the places of the plan, too.
		s.subscribe(o, "free")
		s.call("POST", at, admin, map[string]any{"email": "one@example.com", "role": "member"}).want(201)
		s.call("POST", at, admin, map[string]any{"email": "two@example.com", "role": "member"}).refused(422, "SEAT_LIMIT_REACHED")
	})
}
