package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		s.makeRole(other, "Elsewhere")
		made := s.call("POST", o.roles(), o.token, map[string]any{
			"name": "  Support ", "permissions": []string{"team.invite", "billing.manage", "team.invite"},
		}).want(201)
		data := made.at("data").(map[string]any)
		want := map[string]any{
			"id": data["id"], "name": "Support", "guard_name": "web", "tenant_id": o.tenant, "is_builtin": false,
			"permissions": []any{"billing.manage", "team.invite"}, "users_count": 0.0,
			"created_at": data["created_at"], "updated_at": data["created_at"],
		}
		if diff := cmp.Diff(want, made.at("data")); diff != "" || made.str("message") != "roles.created" {
			t.Errorf("created: %s %s", diff, made.text)
		}
		s.makeRole(o, "auditor")
		s.join(o, "Bob", "bob@example.com", "Support")
		list := s.call("GET", o.roles(), o.token, nil).want(200)
		if diff := cmp.Diff([]any{"owner", "admin", "member", "auditor", "Support"}, list.column("name")); diff != "" {
			t.Errorf("list: %s", diff)
		}
		if diff := cmp.Diff([]any{1.0, 0.0, 0.0, 0.0, 1.0}, list.column("users_count")); diff != "" {
			t.Errorf("users: %s", diff)
		}
		if diff := cmp.Diff([]any{true, true, true, false, false}, list.column("is_builtin")); diff != "" {
			t.Errorf("built in: %s", diff)
		}
		if list.at("data.0.tenant_id") != nil || len(list.at("data.2.permissions").([]any)) != 0 {
			t.Errorf("built-in roles: %s", list.text)
		}
		all := s.call("GET", o.roles()+"/permissions", o.token, nil).want(200).at("data")
		if diff := cmp.Diff([]any{"billing.manage", "roles.manage", "team.invite", "team.manage", "tenant.update"}, all); diff != "" {
			t.Errorf("permissions: %s", diff)
		}
	})
}

func TestRoleRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o, other := s.register("owner@example.com", true), s.register("other@example.com", true)
		foreign := s.makeRole(other, "Foreign")
		s.makeRole(o, "Straße")
		id := s.makeRole(o, "Editor", "team.invite")
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
			"no permissions":     {map[string]any{"name": "New"}, "permissions"},
			"null permissions":   {map[string]any{"name": "New", "permissions": nil}, "permissions"},
			"unknown permission": {map[string]any{"name": "New", "permissions": []string{"team.manage", "plans.view"}}, "permissions.1"},
		} {
			t.Run(name, func(t *testing.T) { s.call("POST", o.roles(), o.token, c.body).invalid(c.field) })
		}
		at := func(id any) string { return fmt.Sprintf("%s/%v", o.roles(), id) }
		s.call("PATCH", at(id), o.token, map[string]any{"name": "MEMBER"}).invalid("name")
		s.call("PATCH", at(id), o.token, map[string]any{"name": "straSSe"}).invalid("name")
		s.call("PATCH", at(id), o.token, map[string]any{"name": nil}).invalid("name")
		s.call("PATCH", at(id), o.token, map[string]any{"permissions": []string{""}}).invalid("permissions.0")
		for _, builtIn := range []string{"owner", "admin", "member"} {
			s.call("PATCH", at(s.role(o, builtIn)), o.token, map[string]any{"name": ""}).refused(403, "")
			s.call("DELETE", at(s.role(o, builtIn)), o.token, nil).refused(403, "")
		}
		for _, unknown := range []any{foreign, 999999, "x", 0} {
			s.call("PATCH", at(unknown), o.token, map[string]any{"name": ""}).refused(404, "")
			s.call("DELETE", at(unknown), o.token, nil).refused(404, "")
		}
		// The name of another tenant's role, and the role's own, are free.
		s.call("PATCH", at(id), o.token, map[string]any{"name": "EDITOR"}).want(200)
		s.call("PATCH", at(id), o.token, map[string]any{"name": "Foreign", "permissions": none}).want(200)
		if a := s.call("PATCH", at(id), o.token, map[string]any{}).want(200); a.str("data.name") != "Foreign" || len(a.at("data.permissions").([]any)) != 0 {
			t.Errorf("role: %s", a.text)
		}
	})
}

// Nobody grants what they do not hold: not by making or changing a role, not by
// giving it to somebody, not by inviting into it.
func TestNobodyGrantsWhatTheyLack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		s.makeRole(o, "Chief", "roles.manage", "team.manage", "team.invite")
		rich := s.makeRole(o, "Rich", "billing.manage")
		poor := s.makeRole(o, "Poor")
		token, _ := s.join(o, "Chief", "chief@example.com", "Chief")
		plain, id := s.join(o, "Bob", "bob@example.com", "member")
		at := func(id int64) string { return fmt.Sprintf("%s/%d", o.roles(), id) }

		s.call("GET", o.roles(), plain, nil).refused(403, "")
		s.call("POST", o.roles(), plain, map[string]any{"name": "x"}).refused(403, "")
		s.call("POST", o.roles(), token, map[string]any{"name": "New", "permissions": []string{"tenant.update"}}).refused(403, "")
		s.call("PATCH", at(poor), token, map[string]any{"permissions": []string{"billing.manage"}}).refused(403, "")
		s.call("PATCH", at(s.role(o, "Chief")), token, map[string]any{"permissions": []string{"roles.manage", "billing.manage"}}).refused(403, "")
		s.call("PATCH", fmt.Sprintf("%s/members/%d/role", o.team(), id), token, map[string]any{"role_id": rich}).refused(403, "")
		s.call("POST", o.team()+"/invitations", token, map[string]any{"email": "new@example.com", "role": "Rich"}).refused(403, "INSUFFICIENT_PERMISSIONS")
		s.call("POST", o.team()+"/invitations", token, map[string]any{"email": "new@example.com", "role": "admin"}).refused(403, "INSUFFICIENT_PERMISSIONS")

		s.call("POST", o.roles(), token, map[string]any{"name": "New", "permissions": []string{"team.invite"}}).want(201)
		s.call("PATCH", at(poor), token, map[string]any{"permissions": []string{"team.manage"}}).want(200)
		s.call("POST", o.team()+"/invitations", token, map[string]any{"email": "new@example.com", "role": "Poor"}).want(201)
		// Leaving in a role what it holds grants nothing.
		s.call("PATCH", at(rich), token, map[string]any{"name": "Richer", "permissions": []string{"billing.manage", "team.invite"}}).want(200)
		// What a role loses its holders lose on the next request.
		s.call("PATCH", at(s.role(o, "Chief")), o.token, map[string]any{"permissions": []string{}}).want(200)
		s.call("GET", o.roles(), token, nil).refused(403, "")
	})
}

func TestDeleteRole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("owner@example.com", true)
		id := s.makeRole(o, "Editor", "team.invite", "team.manage")
		token, _ := s.join(o, "Bob", "bob@example.com", "Editor")
		_, pending := s.invite(o, "eve@example.com", "Editor")
		s.call("GET", o.team()+"/stats", token, nil).want(200)
		if a := s.call("DELETE", fmt.Sprintf("%s/%d", o.roles(), id), o.token, nil).want(200); a.str("message") != "roles.deleted" {
			t.Errorf("deleted: %s", a.text)
		}
		s.call("DELETE", fmt.Sprintf("%s/%d", o.roles(), id), o.token, nil).refused(404, "")
		if me := s.call("GET", "/api/v1/auth/me", token, nil).want(200); me.at("user.roles.0") != "member" || len(me.at("user.permissions").([]any)) != 0 {
			t.Errorf("holder: %s", me.text)
		}
		if a := s.call("GET", "/api/v1/invitations/"+pending, "", nil).want(200); a.at("data.role") != "member" || a.at("data.status") != "pending" {
			t.Errorf("invited into it: %s", a.text)
		}
		s.makeRole(o, "editor") // the name is free again
	})
}
