package blackbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

const password = "correct horse"

func deleteTenant(s *apptest.Server, o apptest.Owner, token string) apptest.Reply {
	s.T.Helper()
	return s.Call("DELETE", o.Path(""), token, apptest.Object{"current_password": password})
}

func restore(s *apptest.Server, admin string, o apptest.Owner) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/restore", admin, nil)
}

func key(s *apptest.Server, o apptest.Owner) string {
	s.T.Helper()
	return s.Call("POST", o.Path("/api-keys"), o.Token, apptest.Object{"name": "Key", "scopes": []string{"usage.read"}}).Want(201).Str("data.secret")
}

func TestDeletingATenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "admin")
		_, invitation := s.Invite(ada, "coy@example.com", "member")
		secret, admin := key(s, ada), s.Admin()
		slug := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200).Str("data.slug")

		deleteTenant(s, ada, bob).As("an admin of it").WantRefused(403, "")
		deleteTenant(s, ada, other.Token).As("a stranger").WantRefused(403, "")
		for what, body := range map[string]apptest.Object{"wrong": {"current_password": "wrong horse"}, "missing": {}} {
			s.Call("DELETE", ada.Path(""), ada.Token, body).As(what).WantInvalid("current_password")
		}
		acting := s.Admin()
		s.Impersonate(acting, ada).Want(200)
		deleteTenant(s, ada, acting).As("while impersonating").WantRefused(400, "")
		restore(s, admin, ada).WantRefused(409, "tenant_not_deleted")

		if a := deleteTenant(s, ada, ada.Token).Want(204); a.Text != "" {
			t.Errorf("%q", a.Text)
		}
		for who, token := range map[string]string{"owner": ada.Token, "admin": bob} {
			s.Call("GET", ada.Path("/usage"), token, nil).As(who).WantRefused(403, "")
			s.Call("GET", "/api/v1/tenant", token, nil).As(who).WantRefused(400, "TENANT_CONTEXT_REQUIRED")
			s.Call("GET", "/api/v1/auth/me", token, nil).As(who).Want(200).WantAt("currentTenant", nil)
		}
		s.Call("GET", ada.Path("/usage"), secret, nil).As("its key").WantRefused(401, "")
		s.Call("GET", "/api/v1/admin/impersonation/status", acting, nil).As("admin impersonating the owner").WantRefused(400, "")
		s.Call("GET", "/api/v1/invitations/"+invitation, "", nil).As("its invitation").WantRefused(404, "INVITATION_NOT_FOUND")
		s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", s.RegisterAlone("Coy", "coy@example.com"), nil).WantRefused(404, "INVITATION_NOT_FOUND")
		deleteTenant(s, ada, ada.Token).WantRefused(403, "")

		// Admins can read the deleted tenant and find it in the list of deleted tenants, but cannot
		// change it.
		of := "/api/v1/admin/tenants/" + ada.Tenant
		if a := s.Call("GET", of, admin, nil).Want(200); a.At("data.deleted_at") == nil || a.At("data.member_count") != float64(0) {
			t.Errorf("%s", a.Text)
		}
		listed := func(query string) bool {
			t.Helper()
			a := s.Call("GET", "/api/v1/admin/tenants?per_page=100"+query, admin, nil).Want(200)
			ids := a.Column("id")
			if a.At("meta.total") != float64(len(ids)) {
				t.Errorf("%q lists %d of %v", query, len(ids), a.At("meta.total"))
			}
			return slices.Contains(ids, any(ada.Tenant))
		}
		if listed("") || !listed("&deleted=true") {
			t.Errorf("listed: %v, among the deleted: %v", listed(""), listed("&deleted=true"))
		}
		s.Call("PATCH", of, admin, apptest.Object{"name": "New"}).WantRefused(404, "")
		s.Call("GET", of+"/members", admin, nil).WantRefused(404, "")
		s.Call("DELETE", of, admin, nil).WantRefused(404, "")
		s.Call("PATCH", "/api/v1/tenant", other.Token, apptest.Object{"slug": slug}).As("slug remains reserved").WantInvalid("slug")

		// Bob creates another tenant and is left out of the restore.
		s.Call("POST", "/api/v1/tenants", bob, apptest.Object{"name": "Bob's own"}).Want(201)
		restore(s, other.Token, ada).WantRefused(403, "")
		restore(s, admin, ada).Want(200).WantAt("data.id", ada.Tenant).WantAt("data.deleted_at", nil).
			WantAt("data.member_count", float64(1)).WantAt("data.owner.email", "ada@example.com").WantAt("data.slug", slug)
		restore(s, admin, ada).WantRefused(409, "tenant_not_deleted")
		s.Call("GET", ada.Path("/usage"), ada.Token, nil).Want(200)
		s.Call("GET", ada.Path("/usage"), secret, nil).As("its key").Want(200)
		s.Call("GET", ada.Path("/usage"), bob, nil).WantRefused(403, "")
		s.Call("GET", "/api/v1/invitations/"+invitation, "", nil).Want(200)
		for _, action := range []string{"tenant.deleted", "tenant.restored"} {
			if n := s.CountAudited(ada, action); n != 1 {
				t.Errorf("%s: %d entries", action, n)
			}
		}
		s.Call("POST", "/api/v1/admin/tenants/01990000-0000-7000-8000-000000000000/restore", admin, nil).WantRefused(404, "")
	})
}

// A tenant that is restored without its owner belongs to its longest-serving admin.
func TestRestoringWithoutTheOwner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Join(ada, "Bob", "bob@example.com", "member")
		coy, _ := s.Join(ada, "Coy", "coy@example.com", "admin")
		deleteTenant(s, ada, ada.Token).Want(204)
		s.Call("POST", "/api/v1/tenants", ada.Token, apptest.Object{"name": "Another"}).Want(201)
		restore(s, s.Admin(), ada).Want(200).WantAt("data.owner.email", "coy@example.com").WantAt("data.member_count", float64(2))
		s.Call("GET", "/api/v1/tenant", coy, nil).Want(200).WantAt("data.user_role", "owner")
	})
}

func TestDeletingATenantWithASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		deleteTenant(s, ada, ada.Token).WantRefused(409, "subscription_running")
		s.Cancel(ada, false).Want(200)
		deleteTenant(s, ada, ada.Token).As("at the end of its period").WantRefused(409, "subscription_running")
		s.Cancel(ada, true).Want(200)
		s.AwaitNotifications()
		deleteTenant(s, ada, ada.Token).Want(204)

		// The payment of a checkout is refunded if its tenant was deleted in the meantime.
		bob := s.Register("bob@example.com", true)
		page := s.Checkout(bob, "starter")
		deleteTenant(s, bob, bob.Token).Want(204)
		s.Pay(page, apptest.CardPays).Want(303)
		s.AwaitNotifications()
		apptest.Eventually(t, "a refund", func() bool {
			return s.CountRows("SELECT count(*) FROM checkouts WHERE tenant_id = $1 AND refused_at IS NOT NULL", bob.Tenant) == 1
		})
		if n := s.CountRows("SELECT count(*) FROM subscriptions WHERE tenant_id = $1 AND status <> 'canceled'", bob.Tenant); n != 0 {
			t.Errorf("%d subscriptions", n)
		}
	})
}

func TestPurgingATenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Join(ada, "Bob", "bob@example.com", "member")
		s.BuyPlan(ada, "starter")
		s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls"}).Want(201)
		s.Cancel(ada, true).Want(200)
		s.AwaitNotifications()
		key(s, ada)
		s.Call("PUT", "/api/v1/admin/tenants/"+ada.Tenant+"/limits/api-calls", s.Admin(), apptest.Object{"type": "quota", "value": 9, "reason": "Asked for it"}).Want(200)
		deleteTenant(s, ada, ada.Token).Want(204)
		invoices := s.CountRows("SELECT count(*) FROM psp_invoices WHERE tenant_id = $1", ada.Tenant)
		s.Advance(9 * apptest.Day)
		if s.CountRows("SELECT count(*) FROM usage_events WHERE tenant_id = $1", ada.Tenant) != 1 {
			t.Error("purged too early")
		}
		s.Advance(25 * time.Hour)
		apptest.Eventually(t, "the purge", func() bool {
			if s.CountRows("SELECT count(*) FROM tenants WHERE id = $1 AND emptied_at IS NOT NULL", ada.Tenant) == 1 {
				return true
			}
			s.Advance(11 * time.Minute) // the next run of the job
			return false
		})
		for _, table := range []string{"usage_events", "usage_counters", "memberships", "former_memberships", "api_keys", "invitations", "roles", "limit_overrides"} {
			if n := s.CountRows("SELECT count(*) FROM "+table+" WHERE tenant_id = $1", ada.Tenant); n != 0 {
				t.Errorf("%s: %d rows", table, n)
			}
		}
		if n := s.CountRows("SELECT count(*) FROM psp_invoices WHERE tenant_id = $1", ada.Tenant); n != invoices || n == 0 {
			t.Errorf("%d of %d invoices", n, invoices)
		}
		if n := s.CountRows("SELECT count(*) FROM tenants WHERE id = $1 AND name = '' AND legal_name IS NULL AND billing_email IS NULL", ada.Tenant); n != 1 {
			t.Error("the row still contains personal data")
		}
		admin := s.Admin()
		s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, admin, nil).WantRefused(404, "")
		restore(s, admin, ada).WantRefused(404, "")
	}, func(s *settings.Settings) { s.Retention.Tenants = 10 * apptest.Day })
}
