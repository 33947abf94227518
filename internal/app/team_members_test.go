package app

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTeamMembers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		s.makeRole(o, "Editor")
		s.join(o, "zoe", "zoe@example.com", "admin")
		s.join(o, "Émile", "emile@example.com", "member")
		s.join(o, "bob", "bob@example.com", "member")
		s.join(o, "Alan", "alan@example.com", "member")
		s.join(o, "alan", "alan2@example.com", "member")
		s.join(o, "Yann", "yann@example.com", "Editor")
		token, _ := s.join(o, "Éva", "eva@example.com", "member")

		// Any member sees the team: the owner first, then by role and name.
		list := s.call("GET", o.team()+"/members", token, nil).want(200)
		want := []any{
			"owner@example.com", "zoe@example.com", "yann@example.com", "alan@example.com", "alan2@example.com",
			"bob@example.com", "emile@example.com", "eva@example.com",
		}
		if diff := cmp.Diff(want, list.column("email")); diff != "" {
			t.Errorf("order: %s", diff)
		}
		first := list.at("data.0").(map[string]any)
		if first["name"] != "Ada" || first["avatar"] != nil || list.at("data.0.role.name") != "owner" || list.at("data.0.role.id") == nil ||
			len(list.str("data.0.joined_at")) != len("2026-01-31T08:15:30.123456Z") || len(first) != 6 {
			t.Errorf("owner: %v", first)
		}
		roles := s.call("GET", o.team()+"/roles", token, nil).want(200)
		if diff := cmp.Diff([]any{"admin", "member", "Editor"}, roles.column("name")); diff != "" {
			t.Errorf("assignable roles: %s", diff)
		}
	})
}

func TestTeamStats(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		stats := func(want map[string]any) {
			t.Helper()
			if diff := cmp.Diff(want, s.call("GET", o.team()+"/stats", o.token, nil).want(200).at("data")); diff != "" {
				t.Errorf("stats: %s", diff)
			}
		}
		stats(map[string]any{"members": 1.0, "pending_invitations": 0.0, "total": 1.0, "limit": nil, "available": nil})
		s.subscribe(o, "starter")
		s.join(o, "Bob", "bob@example.com", "member")
		s.invite(o, "eve@example.com", "member")
		stats(map[string]any{"members": 2.0, "pending_invitations": 1.0, "total": 3.0, "limit": 5.0, "available": 2.0})
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "169h"}).want(200)
		o.token = s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "owner@example.com", "password": "correct horse"}).want(200).str("accessToken")
		stats(map[string]any{"members": 2.0, "pending_invitations": 0.0, "total": 2.0, "limit": 5.0, "available": 3.0})
	})
}

func TestChangeRoleOfMember(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		manager := s.makeRole(o, "Manager", "team.manage")
		foreign := s.makeRole(other, "Foreign")
		adminToken, adminID := s.join(o, "Admin", "admin@example.com", "admin")
		managerToken, managerID := s.join(o, "Manager", "manager@example.com", "Manager")
		token, id := s.join(o, "Bob", "bob@example.com", "member")
		change := func(token string, id, role any) reply {
			return s.call("PATCH", fmt.Sprintf("%s/members/%v/role", o.team(), id), token, map[string]any{"role_id": role})
		}
		admin, member, ownerRole := s.role(o, "admin"), s.role(o, "member"), s.role(o, "owner")
		ownerID, strangerID := s.userID(o.token), s.userID(other.token)

		change(token, adminID, member).refused(403, "") // lacks team.manage
		change(token, strangerID, "x").refused(403, "")
		change(adminToken, adminID, member).refused(403, "") // own
		change(adminToken, ownerID, member).refused(403, "") // the owner's
		change(o.token, ownerID, admin).refused(403, "")
		change(adminToken, strangerID, member).refused(404, "") // in another tenant
		change(adminToken, 999999, "x").refused(404, "")        // before the body is judged
		change(adminToken, "x", member).refused(404, "")
		for _, role := range []any{ownerRole, foreign, 999999, 0, -1, "admin", 1.5, nil} {
			change(adminToken, id, role).invalid("role_id")
		}
		s.call("PATCH", fmt.Sprintf("%s/members/%d/role", o.team(), id), adminToken, map[string]any{}).invalid("role_id")

		// Nobody gives what they do not hold.
		change(managerToken, id, admin).refused(403, "")
		change(managerToken, id, manager).want(200)
		change(managerToken, id, member).want(200)
		if a := change(adminToken, id, admin).want(200); a.str("message") != "team.role_changed" {
			t.Errorf("changed: %s", a.text)
		}
		if me := s.call("GET", "/api/v1/auth/me", token, nil).want(200); me.at("user.roles.0") != "admin" || me.at("user.permissions.0") != "billing.manage" {
			t.Errorf("me: %s", me.text)
		}
		// What is taken away is gone on the next request.
		change(token, managerID, member).want(200)
		change(adminToken, id, member).want(200)
		change(token, managerID, manager).refused(403, "")
	})
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		adminToken, adminID := s.join(o, "Admin", "admin@example.com", "admin")
		token, id := s.join(o, "Bob", "bob@example.com", "member")
		remove := func(token string, id any) reply {
			return s.call("DELETE", fmt.Sprintf("%s/members/%v", o.team(), id), token, nil)
		}
		remove(token, adminID).refused(403, "")
		remove(adminToken, adminID).refused(403, "")
		remove(adminToken, s.userID(o.token)).refused(403, "")
		remove(adminToken, s.userID(other.token)).refused(404, "")
		remove(adminToken, "0").refused(404, "")
		if a := remove(adminToken, id).want(200); a.str("message") != "team.member_removed" {
			t.Errorf("removed: %s", a.text)
		}
		remove(adminToken, id).refused(404, "")

		// Their login lives on, and holds nothing of the tenant.
		me := s.call("GET", "/api/v1/auth/me", token, nil).want(200)
		if me.at("currentTenant") != nil || len(me.at("user.tenants").([]any)) != 0 || len(me.at("user.permissions").([]any)) != 0 {
			t.Errorf("me: %s", me.text)
		}
		s.call("GET", o.team()+"/members", token, nil).refused(403, "")
		s.call("GET", "/api/v1/tenant", token, nil).refused(400, "TENANT_CONTEXT_REQUIRED")
		// They may come back, and be somebody else's.
		_, again := s.inviteAgain(o, "bob@example.com", 2)
		s.call("POST", "/api/v1/invitations/"+again+"/accept", token, nil).want(200)
		s.call("GET", o.team()+"/members", token, nil).want(200)
	})
}

// inviteAgain invites an address that was sent mails-1 invitations before.
func (s *server) inviteAgain(o owner, email string, mails int) (id, token string) {
	s.t.Helper()
	id = s.call("POST", o.team()+"/invitations", o.token, map[string]any{"email": email, "role": "member"}).want(201).str("data.id")
	return id, s.invitationToken(email, mails)
}
