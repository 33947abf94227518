package blackbox_test

import (
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A member cannot take away permissions that they lack: not by demoting or removing a holder, by
// revoking or resending an invitation, or by weakening or deleting a role.
func TestRevokingRequiresThePermission(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("owner@example.com", true)
		s.CreateRole(o, "Chief", "roles.manage", "team.manage", "team.invite")
		rich := s.CreateRole(o, "Rich", "billing.manage", "team.invite")
		poor := s.CreateRole(o, "Poor", "team.invite")
		member := s.RoleID(o, "member")
		chief, _ := s.Join(o, "Chief", "chief@example.com", "Chief")
		_, adminID := s.Join(o, "Admin", "admin@example.com", "admin")
		richToken, richID := s.Join(o, "Rich", "rich@example.com", "Rich")
		_, poorID := s.Join(o, "Poor", "poor@example.com", "Poor")
		toRich, _ := s.Invite(o, "r@example.com", "Rich")
		toAdmin, _ := s.Invite(o, "a@example.com", "admin")
		toPoor, token := s.Invite(o, "p@example.com", "Poor")

		change := func(token string, id, role int64) apptest.Reply {
			return s.Call("PATCH", fmt.Sprintf("%s/members/%d/role", o.Path("/team"), id), token, apptest.Object{"role_id": role})
		}
		remove := func(token string, id int64) apptest.Reply {
			return s.Call("DELETE", fmt.Sprintf("%s/members/%d", o.Path("/team"), id), token, nil)
		}
		revoke := func(token, id string) apptest.Reply {
			return s.Call("DELETE", o.Path("/team/invitations/"+id), token, nil)
		}
		resend := func(token, id string) apptest.Reply {
			return s.Call("POST", o.Path("/team/invitations/"+id+"/resend"), token, nil)
		}
		role := func(method, token string, id int64, body any) apptest.Reply {
			return s.Call(method, fmt.Sprintf("%s/%d", o.Path("/roles"), id), token, body)
		}
		for _, stronger := range []int64{adminID, richID} {
			change(chief, stronger, member).WantRefused(403, "")
			change(chief, stronger, poor).WantRefused(403, "")
			remove(chief, stronger).WantRefused(403, "")
		}
		for _, stronger := range []string{toRich, toAdmin} {
			revoke(chief, stronger).WantRefused(403, "")
			resend(chief, stronger).WantRefused(403, "INSUFFICIENT_PERMISSIONS")
		}
		role("DELETE", chief, rich, nil).WantRefused(403, "")
		role("PATCH", chief, rich, apptest.Object{"permissions": []string{}}).WantRefused(403, "")
		role("PATCH", chief, rich, apptest.Object{"permissions": []string{"billing.manage"}}).WantRefused(403, "")
		// None of that had an effect.
		s.Call("GET", "/api/v1/auth/me", richToken, nil).Want(200).WantAt("user.permissions", []any{"billing.manage", "team.invite"})
		s.Call("GET", "/api/v1/invitations/"+token, "", nil).Want(200).WantAt("data.status", "pending")

		// Members can change weaker roles and their holders, and make changes that remove no
		// permission.
		role("PATCH", chief, rich, apptest.Object{"name": "Richer"}).Want(200)
		role("PATCH", chief, rich, apptest.Object{"permissions": []string{"billing.manage", "team.invite", "team.manage"}}).Want(200)
		change(chief, poorID, member).Want(200)
		resend(chief, toPoor).Want(200)
		revoke(chief, toPoor).Want(200)
		role("DELETE", chief, poor, nil).Want(200)
		remove(chief, poorID).Want(200)
		// The owner and platform admins have all permissions.
		change(o.Token, adminID, member).Want(200)
		resend(o.Token, toRich).Want(200)
		revoke(o.Token, toRich).Want(200)
		s.Call("DELETE", "/api/v1/admin/tenants/"+o.Tenant+"/invitations/"+toAdmin, s.Admin(), nil).Want(200)
		remove(o.Token, richID).Want(200)
		role("DELETE", o.Token, rich, nil).Want(200)
	})
}
