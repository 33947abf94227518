package blackbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestRoles(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		s.CreateRole(other, "Elsewhere")
		made := s.Call("POST", o.Path("/roles"), o.Token, map[string]any{
			"name": "  Support ", "permissions": []string{"team.invite", "billing.manage", "team.invite"},
		}).Want(201)
		data := made.At("data").(map[string]any)
		want := map[string]any{
			"id": data["id"], "name": "Support", "guard_name": "web", "tenant_id": o.Tenant, "is_builtin": false,
			"permissions": []any{"billing.manage", "team.invite"}, "users_count": 0.0,
			"created_at": data["created_at"], "updated_at": data["created_at"],
		}
		if diff := cmp.Diff(want, made.At("data")); diff != "" || made.Str("message") != "roles.created" {
			t.Errorf("created: %s %s", diff, made.Text)
		}
		s.CreateRole(o, "auditor")
		s.Join(o, "Bob", "bob@example.com", "Support")
		list := s.Call("GET", o.Path("/roles"), o.Token, nil).Want(200)
		if diff := cmp.Diff([]any{"owner", "admin", "member", "auditor", "Support"}, list.Column("name")); diff != "" {
			t.Errorf("list: %s", diff)
		}
		if diff := cmp.Diff([]any{1.0, 0.0, 0.0, 0.0, 1.0}, list.Column("users_count")); diff != "" {
			t.Errorf("users: %s", diff)
		}
		if diff := cmp.Diff([]any{true, true, true, false, false}, list.Column("is_builtin")); diff != "" {
			t.Errorf("built in: %s", diff)
		}
		if list.At("data.0.tenant_id") != nil || len(list.At("data.2.permissions").([]any)) != 0 {
			t.Errorf("built-in roles: %s", list.Text)
		}
		all := s.Call("GET", o.Path("/roles/permissions"), o.Token, nil).Want(200).At("data")
		if diff := cmp.Diff([]any{"api_keys.manage", "audit.view", "billing.manage", "roles.manage", "sso.manage", "team.invite", "team.manage", "tenant.update", "webhooks.manage"}, all); diff != "" {
			t.Errorf("permissions: %s", diff)
		}
	})
}

func TestRoleRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("owner@example.com", true), s.Register("other@example.com", true)
		foreign := s.CreateRole(other, "Foreign")
		s.CreateRole(o, "Straße")
		id := s.CreateRole(o, "Editor", "team.invite")
		none := []string{}
		for name, c := range map[string]struct {
			body  map[string]any
			field string
		}{
			"no name":            {map[string]any{"permissions": none}, "name"},
			"blank name":         {map[string]any{"name": " ", "permissions": none}, "name"},
			"long name":          {map[string]any{"name": strings.Repeat("é", 256), "permissions": none}, "name"},
			"taken":              {map[string]any{"name": "eDITOR", "permissions": none}, "name"},
			"taken beyond ASCII": {map[string]any{"name": "STRASSE", "permissions": none}, "name"},
			"built in":           {map[string]any{"name": "Owner", "permissions": none}, "name"},
			"built in, wide":     {map[string]any{"name": "ａｄｍｉｎ", "permissions": none}, "name"},
			"built in, hidden":   {map[string]any{"name": "ad\u200bmin", "permissions": none}, "name"},
			"built in, variant":  {map[string]any{"name": "admin\ufe0f", "permissions": none}, "name"},
			"taken, ligature":    {map[string]any{"name": "ﬆraße", "permissions": none}, "name"},
			"no permissions":     {map[string]any{"name": "New"}, "permissions"},
			"null permissions":   {map[string]any{"name": "New", "permissions": nil}, "permissions"},
			"unknown permission": {map[string]any{"name": "New", "permissions": []string{"team.manage", "plans.view"}}, "permissions.1"},
		} {
			t.Run(name, func(t *testing.T) { s.Call("POST", o.Path("/roles"), o.Token, c.body).WantInvalid(c.field) })
		}
		at := func(id any) string { return fmt.Sprintf("%s/%v", o.Path("/roles"), id) }
		s.Call("PATCH", at(id), o.Token, map[string]any{"name": "MEMBER"}).WantInvalid("name")
		s.Call("PATCH", at(id), o.Token, map[string]any{"name": "straSSe"}).WantInvalid("name")
		s.Call("PATCH", at(id), o.Token, map[string]any{"name": nil}).WantInvalid("name")
		s.Call("PATCH", at(id), o.Token, map[string]any{"permissions": []string{""}}).WantInvalid("permissions.0")
		for _, builtIn := range []string{"owner", "admin", "member"} {
			s.Call("PATCH", at(s.RoleID(o, builtIn)), o.Token, map[string]any{"name": ""}).WantRefused(403, "")
			s.Call("DELETE", at(s.RoleID(o, builtIn)), o.Token, nil).WantRefused(403, "")
		}
		for _, unknown := range []any{foreign, 999999, "x", 0} {
			s.Call("PATCH", at(unknown), o.Token, map[string]any{"name": ""}).WantRefused(404, "")
			s.Call("DELETE", at(unknown), o.Token, nil).WantRefused(404, "")
		}
		// The name of another tenant's role and the role's own name are free.
		s.Call("PATCH", at(id), o.Token, map[string]any{"name": "EDITOR"}).Want(200)
		s.Call("PATCH", at(id), o.Token, map[string]any{"name": "Foreign", "permissions": none}).Want(200)
		if a := s.Call("PATCH", at(id), o.Token, map[string]any{}).Want(200); a.Str("data.name") != "Foreign" || len(a.At("data.permissions").([]any)) != 0 {
			t.Errorf("role: %s", a.Text)
		}
	})
}

// A member cannot grant permissions that they lack: not by creating or changing a role, assigning
// it, or inviting to it.
func TestGrantingRequiresThePermission(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		s.CreateRole(o, "Chief", "roles.manage", "team.manage", "team.invite")
		rich := s.CreateRole(o, "Rich", "billing.manage")
		poor := s.CreateRole(o, "Poor")
		token, _ := s.Join(o, "Chief", "chief@example.com", "Chief")
		plain, id := s.Join(o, "Bob", "bob@example.com", "member")
		at := func(id int64) string { return fmt.Sprintf("%s/%d", o.Path("/roles"), id) }

		s.Call("GET", o.Path("/roles"), plain, nil).WantRefused(403, "")
		s.Call("POST", o.Path("/roles"), plain, map[string]any{"name": "x"}).WantRefused(403, "")
		s.Call("POST", o.Path("/roles"), token, map[string]any{"name": "New", "permissions": []string{"tenant.update"}}).WantRefused(403, "")
		s.Call("PATCH", at(poor), token, map[string]any{"permissions": []string{"billing.manage"}}).WantRefused(403, "")
		s.Call("PATCH", at(s.RoleID(o, "Chief")), token, map[string]any{"permissions": []string{"roles.manage", "billing.manage"}}).WantRefused(403, "")
		s.Call("PATCH", fmt.Sprintf("%s/members/%d/role", o.Path("/team"), id), token, map[string]any{"role_id": rich}).WantRefused(403, "")
		s.Call("POST", o.Path("/team/invitations"), token, map[string]any{"email": "new@example.com", "role": "Rich"}).WantRefused(403, "INSUFFICIENT_PERMISSIONS")
		s.Call("POST", o.Path("/team/invitations"), token, map[string]any{"email": "new@example.com", "role": "admin"}).WantRefused(403, "INSUFFICIENT_PERMISSIONS")

		s.Call("POST", o.Path("/roles"), token, map[string]any{"name": "New", "permissions": []string{"team.invite"}}).Want(201)
		s.Call("PATCH", at(poor), token, map[string]any{"permissions": []string{"team.manage"}}).Want(200)
		s.Call("POST", o.Path("/team/invitations"), token, map[string]any{"email": "new@example.com", "role": "Poor"}).Want(201)
		// Keeping the permissions that a role already has grants nothing.
		s.Call("PATCH", at(rich), token, map[string]any{"name": "Richer", "permissions": []string{"billing.manage", "team.invite"}}).Want(200)
		// If a permission is removed from a role, its members lose it from their next request.
		s.Call("PATCH", at(s.RoleID(o, "Chief")), o.Token, map[string]any{"permissions": []string{}}).Want(200)
		s.Call("GET", o.Path("/roles"), token, nil).WantRefused(403, "")
	})
}

func TestDeleteRole(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		id := s.CreateRole(o, "Editor", "team.invite", "team.manage")
		token, _ := s.Join(o, "Bob", "bob@example.com", "Editor")
		_, pending := s.Invite(o, "eve@example.com", "Editor")
		s.Call("GET", o.Path("/team/stats"), token, nil).Want(200)
		if a := s.Call("DELETE", fmt.Sprintf("%s/%d", o.Path("/roles"), id), o.Token, nil).Want(200); a.Str("message") != "roles.deleted" {
			t.Errorf("deleted: %s", a.Text)
		}
		s.Call("DELETE", fmt.Sprintf("%s/%d", o.Path("/roles"), id), o.Token, nil).WantRefused(404, "")
		if me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200); me.At("user.roles.0") != "member" || len(me.At("user.permissions").([]any)) != 0 {
			t.Errorf("holder: %s", me.Text)
		}
		if a := s.Call("GET", "/api/v1/invitations/"+pending, "", nil).Want(200); a.At("data.role") != "member" || a.At("data.status") != "pending" {
			t.Errorf("invitation to the deleted role: %s", a.Text)
		}
		s.CreateRole(o, "editor") // the name is free again
	})
}

// Names that look the same are the same name, however they are encoded.
func TestRoleNamesAreComparedAsTheyLook(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		s.CreateRole(o, "Cafe\u0301  Team")
		list := s.Call("GET", o.Path("/roles"), o.Token, nil).Want(200)
		if got := list.Str("data.3.name"); got != "Caf\u00e9  Team" {
			t.Errorf("stored as %+q", got)
		}
		for _, name := range []string{"Caf\u00e9 Team", "CAFE\u0301 TEAM", "caf\u00e9\u00a0team", "\uff43af\u00e9 team"} {
			s.Call("POST", o.Path("/roles"), o.Token, map[string]any{"name": name, "permissions": []string{}}).WantInvalid("name")
		}
	})
}
