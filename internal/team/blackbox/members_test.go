package blackbox_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestTeamMembers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		s.CreateRole(o, "Editor")
		s.Join(o, "zoe", "zoe@example.com", "admin")
		s.Join(o, "Émile", "emile@example.com", "member")
		s.Join(o, "bob", "bob@example.com", "member")
		s.Join(o, "Alan", "alan@example.com", "member")
		s.Join(o, "alan", "alan2@example.com", "member")
		s.Join(o, "Yann", "yann@example.com", "Editor")
		token, _ := s.Join(o, "Éva", "eva@example.com", "member")

		// Any member can list the team: the owner first, then by role and name.
		list := s.Call("GET", o.Path("/team/members"), token, nil).Want(200)
		want := []any{
			"owner@example.com", "zoe@example.com", "yann@example.com", "alan@example.com", "alan2@example.com",
			"bob@example.com", "emile@example.com", "eva@example.com",
		}
		if diff := cmp.Diff(want, list.Column("email")); diff != "" {
			t.Errorf("order: %s", diff)
		}
		first := list.At("data.0").(map[string]any)
		if first["name"] != "Ada" || first["avatar"] != nil || list.At("data.0.role.name") != "owner" || list.At("data.0.role.id") == nil ||
			len(list.Str("data.0.joined_at")) != len("2026-01-31T08:15:30.123456Z") || first["mfa_enabled"] != nil || len(first) != 7 {
			t.Errorf("owner: %v", first)
		}
		roles := s.Call("GET", o.Path("/team/roles"), token, nil).Want(200)
		if diff := cmp.Diff([]any{"admin", "member", "Editor"}, roles.Column("name")); diff != "" {
			t.Errorf("assignable roles: %s", diff)
		}
	})
}

func TestTeamStats(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		stats := func(want map[string]any) {
			t.Helper()
			if diff := cmp.Diff(want, s.Call("GET", o.Path("/team/stats"), o.Token, nil).Want(200).At("data")); diff != "" {
				t.Errorf("stats: %s", diff)
			}
		}
		stats(map[string]any{"members": 1.0, "pending_invitations": 0.0, "total": 1.0, "limit": nil, "available": nil})
		s.BuyPlan(o, "starter")
		s.Join(o, "Bob", "bob@example.com", "member")
		s.Invite(o, "eve@example.com", "member")
		stats(map[string]any{"members": 2.0, "pending_invitations": 1.0, "total": 3.0, "limit": 5.0, "available": 2.0})
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "169h"}).Want(200)
		o.Token = s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "owner@example.com", "password": "correct horse"}).Want(200).Str("accessToken")
		stats(map[string]any{"members": 2.0, "pending_invitations": 0.0, "total": 2.0, "limit": 5.0, "available": 3.0})
	})
}

func TestChangeRoleOfMember(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		manager := s.CreateRole(o, "Manager", "team.manage")
		foreign := s.CreateRole(other, "Foreign")
		adminToken, adminID := s.Join(o, "Admin", "admin@example.com", "admin")
		managerToken, managerID := s.Join(o, "Manager", "manager@example.com", "Manager")
		token, id := s.Join(o, "Bob", "bob@example.com", "member")
		change := func(token string, id, role any) apptest.Reply {
			return s.Call("PATCH", fmt.Sprintf("%s/members/%v/role", o.Path("/team"), id), token, map[string]any{"role_id": role})
		}
		admin, member, ownerRole := s.RoleID(o, "admin"), s.RoleID(o, "member"), s.RoleID(o, "owner")
		ownerID, strangerID := s.UserID(o.Token), s.UserID(other.Token)

		change(token, adminID, member).WantRefused(403, "") // lacks team.manage
		change(token, strangerID, "x").WantRefused(403, "")
		change(adminToken, adminID, member).WantRefused(403, "") // their own role
		change(adminToken, ownerID, member).WantRefused(403, "") // the owner's role
		change(o.Token, ownerID, admin).WantRefused(403, "")
		change(adminToken, strangerID, member).WantRefused(404, "") // in another tenant
		change(adminToken, 999999, "x").WantRefused(404, "")        // before the body is validated
		change(adminToken, "x", member).WantRefused(404, "")
		for _, role := range []any{ownerRole, foreign, 999999, 0, -1, "admin", 1.5, nil} {
			change(adminToken, id, role).WantInvalid("role_id")
		}
		s.Call("PATCH", fmt.Sprintf("%s/members/%d/role", o.Path("/team"), id), adminToken, map[string]any{}).WantInvalid("role_id")

		// A member cannot grant permissions that they lack.
		change(managerToken, id, admin).WantRefused(403, "")
		change(managerToken, id, manager).Want(200)
		change(managerToken, id, member).Want(200)
		if a := change(adminToken, id, admin).Want(200); a.Str("message") != "team.role_changed" {
			t.Errorf("changed: %s", a.Text)
		}
		if me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200); me.At("user.roles.0") != "admin" || me.At("user.permissions.0") != "api_keys.manage" {
			t.Errorf("me: %s", me.Text)
		}
		// A removed permission is gone from the next request.
		change(token, managerID, member).Want(200)
		change(adminToken, id, member).Want(200)
		change(token, managerID, manager).WantRefused(403, "")
	})
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		adminToken, adminID := s.Join(o, "Admin", "admin@example.com", "admin")
		token, id := s.Join(o, "Bob", "bob@example.com", "member")
		remove := func(token string, id any) apptest.Reply {
			return s.Call("DELETE", fmt.Sprintf("%s/members/%v", o.Path("/team"), id), token, nil)
		}
		remove(token, adminID).WantRefused(403, "")
		remove(adminToken, adminID).WantRefused(403, "")
		remove(adminToken, s.UserID(o.Token)).WantRefused(403, "")
		remove(adminToken, s.UserID(other.Token)).WantRefused(404, "")
		remove(adminToken, "0").WantRefused(404, "")
		if a := remove(adminToken, id).Want(200); a.Str("message") != "team.member_removed" {
			t.Errorf("removed: %s", a.Text)
		}
		remove(adminToken, id).WantRefused(404, "")

		// Removed members stay logged in, but cannot access the tenant.
		me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
		if me.At("currentTenant") != nil || len(me.At("user.tenants").([]any)) != 0 || len(me.At("user.permissions").([]any)) != 0 {
			t.Errorf("me: %s", me.Text)
		}
		s.Call("GET", o.Path("/team/members"), token, nil).WantRefused(403, "")
		s.Call("GET", "/api/v1/tenant", token, nil).WantRefused(400, "TENANT_CONTEXT_REQUIRED")
		// They can join this or another tenant again.
		_, again := inviteAgain(s, o, "bob@example.com", 2)
		s.Call("POST", "/api/v1/invitations/"+again+"/accept", token, nil).Want(200)
		s.Call("GET", o.Path("/team/members"), token, nil).Want(200)
	})
}

// inviteAgain invites an address that was already sent mails-1 invitations.
func inviteAgain(s *apptest.Server, o apptest.Owner, email string, mails int) (id, token string) {
	s.T.Helper()
	id = s.Call("POST", o.Path("/team/invitations"), o.Token, map[string]any{"email": email, "role": "member"}).Want(201).Str("data.id")
	return id, s.InvitationToken(email, mails)
}
