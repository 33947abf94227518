package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// nowhere is a tenant that does not exist.
var nowhere = apptest.Owner{Tenant: "01990000-0000-7000-8000-000000000000"}

// lives fails the test unless a tenant exists and no deletion was recorded.
func lives(s *apptest.Server, o apptest.Owner) {
	s.T.Helper()
	s.Call("GET", "/api/v1/tenant", o.Token, nil).Want(200).WantAt("data.id", o.Tenant).WantAt("data.user_role", "owner")
	if n := s.CountAudited(o, "tenant.deleted"); n != 0 {
		s.T.Errorf("%d entries of its end", n)
	}
}

func TestTenantDeletionPermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "admin")
		member, _ := s.Join(ada, "Coy", "coy@example.com", "member")
		deleteTenant(s, ada, "").As("without login").WantRefused(401, "")
		deleteTenant(s, ada, member).As("a member").WantRefused(403, "")
		deleteTenant(s, ada, s.RegisterAlone("Di", "di@example.com")).As("user without a tenant").WantRefused(403, "")
		deleteTenant(s, ada, s.Admin()).As("the administrator, on the tenant's route").WantRefused(403, "")
		deleteTenant(s, nowhere, ada.Token).As("an unknown tenant").WantRefused(403, "")
		if a := deleteTenant(s, ada, key(s, ada)); a.Status != 401 && a.Status != 403 {
			t.Errorf("with a key: %d %s", a.Status, a.Text)
		}
		s.Call("DELETE", ada.Path(""), bob, apptest.Object{"current_password": "wrong horse"}).
			As("admin of the tenant, regardless of the password").WantRefused(403, "")
		for what, given := range map[string]any{"empty": "", "null": nil, "a number": 1, "with a space": password + " "} {
			s.Call("DELETE", ada.Path(""), ada.Token, apptest.Object{"current_password": given}).
				As("a password: " + what).WantInvalid("current_password")
		}
		s.Call("DELETE", ada.Path(""), ada.Token, nil).As("without a body").WantInvalid("current_password")
		lives(s, ada)
		s.BuyPlan(ada, "starter")
		s.Call("DELETE", ada.Path(""), ada.Token, apptest.Object{"current_password": "wrong horse"}).
			As("password is checked before the subscription").WantInvalid("current_password")
		lives(s, ada)
		s.Subscription(ada).Want(200).WantAt("data.status", "active").WantAt("data.cancel_at_period_end", false)
	})
}

func TestTenantRestorePermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "admin")
		admin := s.Admin()
		deleteTenant(s, ada, ada.Token).Want(204)
		restore(s, "", ada).As("without login").WantRefused(401, "")
		restore(s, ada.Token, ada).As("its owner").WantRefused(403, "")
		restore(s, bob, ada).As("its admin").WantRefused(403, "")
		apptest.Exec(t, s.DB(), "UPDATE users SET platform_permissions = $1 WHERE is_platform_admin", `["tenants.view","logs.view"]`)
		for what, tenant := range map[string]apptest.Owner{"deleted": ada, "not deleted": other, "unknown": nowhere} {
			restore(s, admin, tenant).As("without permission: "+what).WantRefused(403, "")
		}
		of := "/api/v1/admin/tenants/" + ada.Tenant
		if s.Call("GET", of, admin, nil).Want(200).At("data.deleted_at") == nil || s.CountAudited(ada, "tenant.restored") != 0 {
			t.Error("tenant is restored")
		}
		apptest.Exec(t, s.DB(), "UPDATE users SET platform_permissions = $1 WHERE is_platform_admin", `["tenants.manage"]`)
		restore(s, admin, other).As("with only the permission: not deleted").WantRefused(409, "tenant_not_deleted")
		restore(s, admin, nowhere).As("with only the permission: unknown").WantRefused(404, "")
		restore(s, admin, apptest.Owner{Tenant: "acme"}).As("with only the permission: invalid ID").WantRefused(404, "")
		restore(s, admin, ada).As("with only the permission").Want(200)
		s.Call("GET", "/api/v1/tenant", bob, nil).Want(200).WantAt("data.user_role", "admin")
	})
}

// An admin who impersonates the owner can read everything in the tenant's self-service but change
// nothing, even with the owner's password.
func TestSelfServiceOfATenantWhileImpersonating(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, bob := s.Join(ada, "Bob", "bob@example.com", "member")
		acting := s.Admin()
		s.Impersonate(acting, ada).Want(200)
		for _, path := range []string{"/audit-logs", "/usage/series?meter_code=api-calls", "/usage/export?meter_code=api-calls&format=jsonl"} {
			s.Call("GET", ada.Path(path), acting, nil).As(path).Want(200)
		}
		body := apptest.Object{"current_password": password, "user_id": bob}
		for method, path := range map[string]string{"DELETE": "", "POST": "/transfer-ownership"} {
			s.Call(method, ada.Path(path), acting, body).As(method+path).WantRefused(400, "")
			s.Call(method, ada.Path(path), acting, apptest.Object{}).As(method+path+" with nothing").WantRefused(400, "")
		}
		s.Call("POST", ada.Path("/leave"), acting, nil).As("an owner leaving").WantRefused(400, "")
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/restore", acting, nil).As("the administration").WantRefused(403, "")
		lives(s, ada)
		s.Call("GET", "/api/v1/admin/impersonation/status", acting, nil).As("impersonation still active").Want(200)
	})
}
