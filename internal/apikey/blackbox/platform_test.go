package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// platformOnly are the scopes with which a key acts as the platform.
var platformOnly = []string{"tenants.write", "subscriptions.write", "limits.write", "credit.write", "catalog.read"}

func TestTenantKeysCannotActAsThePlatform(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, scope := range platformOnly {
			s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "Key", "scopes": []string{"usage.read", scope}}).As(scope).WantInvalid("scopes")
			makePlatformKey(s, scope)
		}
		s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "Key", "scopes": []string{"usage.read", "tenants.read"}}).WantInvalid("scopes.1")
	})
}

// A platform key acts as the platform on the members, invitations and roles of every tenant. It needs
// no permission of the tenant, and the audit trail records its changes under the key.
func TestPlatformKeysChangeTeams(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		id, key := makePlatformKey(s, "tenants.write")
		admin := "/api/v1/admin/tenants/" + ada.Tenant
		member := admin + "/members/" + apptest.IDText(float64(bob))

		role := s.Call("POST", ada.Path("/roles"), key, apptest.Object{"name": "Bookkeeper", "permissions": []string{"billing.manage", "roles.manage"}}).Want(201)
		roleID := apptest.IDText(role.At("data.id").(float64))
		s.Call("GET", ada.Path("/roles"), key, nil).Want(200)
		s.Call("GET", ada.Path("/roles/permissions"), key, nil).Want(200)
		s.Call("PATCH", ada.Path("/roles/"+roleID), key, apptest.Object{"permissions": []string{"billing.manage"}}).Want(200)
		s.Call("PATCH", member+"/role", key, apptest.Object{"role_id": role.At("data.id")}).Want(200)
		s.Call("PATCH", member, key, apptest.Object{"name": "Robert"}).Want(200).WantAt("data.name", "Robert")
		invited := s.Call("POST", admin+"/invitations", key, apptest.Object{"email": "cy@example.com", "role": "admin"}).Want(201).WantAt("data.inviter", nil)
		s.InvitationToken("cy@example.com", 1) // mails that are sent at the same time have no order
		s.Call("POST", admin+"/invitations/"+invited.Str("data.id")+"/resend", key, nil).Want(200).WantAt("data.inviter", nil)
		s.Call("GET", ada.Path("/team/invitations"), ada.Token, nil).Want(200).WantAt("data.0.inviter", nil)
		token := s.InvitationToken("cy@example.com", 2)
		s.Call("GET", "/api/v1/invitations/"+token, "", nil).Want(200).WantAt("data.inviter", nil)
		s.Call("POST", "/api/v1/invitations/"+token+"/accept", s.RegisterAlone("Cy", "cy@example.com"), nil).Want(200)
		revoked := s.Call("POST", admin+"/invitations", key, apptest.Object{"email": "di@example.com", "role": "member"}).Want(201)
		s.Call("DELETE", admin+"/invitations/"+revoked.Str("data.id"), key, nil).Want(200)
		s.Call("DELETE", member, key, nil).Want(200)
		s.Call("DELETE", ada.Path("/roles/"+roleID), key, nil).Want(200)

		for _, action := range []string{
			"role.created", "role.updated", "role.deleted", "member.role_changed", "member.renamed", "member.removed",
			"invitation.created", "invitation.resent", "invitation.revoked",
		} {
			trail := s.AuditLog(map[string][]string{"filter[action]": {action}}).Want(200)
			trail.WantAt("data.0.api_key_id", id).WantAt("data.0.tenant_id", ada.Tenant).WantAt("data.0.actor", nil)
		}
		// The owner cannot be changed by a key, either.
		owner := admin + "/members/" + apptest.IDText(float64(s.UserID(ada.Token)))
		s.Call("DELETE", owner, key, nil).WantRefused(403, "")
	})
}

func TestPlatformKeysCannotSetPasswords(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		_, key := makePlatformKey(s, "tenants.write")
		path := "/api/v1/admin/tenants/" + ada.Tenant + "/members/"
		member := path + apptest.IDText(float64(bob))
		before := s.CountRows(`SELECT count(*) FROM audit_logs`)
		for _, body := range []apptest.Object{{"password": "set by a key 1"}, {"name": "Robert", "password": "set by a key 1"}} {
			s.Call("PATCH", member, key, body).WantRefused(403, "insufficient_scope")
		}
		s.Call("PATCH", path+"999999", key, apptest.Object{"password": "set by a key 1"}).WantRefused(404, "")
		s.LogIn("bob@example.com") // with the old password
		s.Call("GET", path[:len(path)-1], s.Admin(), nil).Want(200).WantAt("data.1.name", "Bob")
		if after := s.CountRows(`SELECT count(*) FROM audit_logs WHERE api_key_id IS NOT NULL`); after != 0 {
			t.Errorf("%d entries of the key, %d before", after, before)
		}
	})
}

// A platform key buys, changes and cancels subscriptions, even if members need a verified email.
func TestPlatformKeysChangeSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		id, key := makePlatformKey(s, "subscriptions.write")
		page := s.Call("POST", ada.Path("/checkout"), key, apptest.Object{
			"plan_id": s.PlanID(ada.Owner, "starter"), "currency": "EUR", "success_url": s.URL + "/yes", "cancel_url": s.URL + "/no",
		}).Want(200).Str("data.url")
		s.Pay(page, apptest.CardPays).Want(303)
		s.AwaitNotifications()
		ada.WantStatus("active")
		team := apptest.Object{"new_plan_id": s.PlanID(ada.Owner, "team"), "quantity": 2}
		s.Call("GET", ada.Path("/subscription/preview-change?new_plan_id="+team["new_plan_id"].(string)+"&quantity=2"), key, nil).Want(200)
		s.Call("POST", ada.Path("/subscription/change-plan"), key, team).Want(200)
		s.Call("POST", ada.Path("/docs/billing/portal"), key, nil).Want(200)
		s.Call("DELETE", ada.Path("/subscription/pending-change"), key, nil).Want(204)
		s.Call("POST", ada.Path("/subscription/cancel"), key, nil).Want(200)
		s.Call("POST", ada.Path("/subscription/resume"), key, nil).Want(200)
		sub := s.Subscription(ada.Owner).Str("data.id")
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/subscriptions/"+sub+"/cancel", key, apptest.Object{"immediately": true}).Want(200)
		for _, action := range []string{"checkout.opened", "subscription.plan_changed", "subscription.resumed", "billing_portal.opened"} {
			if n := s.CountRows(`SELECT count(*) FROM audit_logs WHERE action = $1 AND tenant_id = $2 AND api_key_id = $3`, action, ada.Tenant, id); n == 0 {
				t.Errorf("no %s under the key", action)
			}
		}
	}, func(s *settings.Settings) { s.RequireVerifiedEmail = true })
}

// The scope tenants.read allows reading a tenant's members, invitations and subscriptions.
// catalog.read allows reading the catalog.
func TestPlatformKeysRead(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, key := makePlatformKey(s, "tenants.read")
		for _, below := range []string{"", "/members", "/invitations", "/subscriptions"} {
			s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+below, key, nil).Want(200)
		}
		_, key = makePlatformKey(s, "catalog.read")
		for _, kind := range []string{"products", "plans", "features", "meters"} {
			list := s.Call("GET", "/api/v1/admin/"+kind, key, nil).Want(200)
			s.Call("GET", "/api/v1/admin/"+kind+"/"+list.Str("data.0.id"), key, nil).Want(200)
			s.Call("DELETE", "/api/v1/admin/"+kind+"/"+list.Str("data.0.id"), key, nil).WantRefused(403, "insufficient_scope")
		}
		s.Call("GET", "/api/v1/admin/currencies", key, nil).Want(200)
	})
}
