package blackbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/webhook"
)

const password = "correct horse"

// proved returns a body with the current password and additional fields.
func proved(more ...apptest.Object) apptest.Object {
	return apptest.WithChanges(apptest.Object{"current_password": password}, more...)
}

// platformEndpoint creates an endpoint of the platform and returns its path.
func platformEndpoint(s *apptest.Server, admin, url string, events ...string) string {
	s.T.Helper()
	return platform + "/" + s.Call("POST", platform, admin, apptest.Object{"url": url, "events": events}).Want(201).Str("data.id")
}

// alike fails unless both receivers got exactly one event, the same one, about the tenant.
func alike(t *testing.T, tenant string, own, all []message) {
	t.Helper()
	if len(own) != 1 || len(all) != 1 {
		t.Fatalf("the tenant got %d, the platform %d", len(own), len(all))
	}
	if own[0].id != all[0].id || string(own[0].body) != string(all[0].body) || own[0].event["tenant_id"] != tenant {
		t.Errorf("the tenant got %s, the platform %s", own[0].body, all[0].body)
	}
}

// Deleting a tenant publishes its last state to the tenant and to the platform. Restoring the
// tenant publishes an update, and its endpoint receives events again.
func TestEventsOfATenantsEndAndReturn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		own, all, other := newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		s.Join(ada, "Bob", "bob@example.com", "admin")
		endpoint(s, ada, own.url, "*")
		endpoint(s, eve, other.url, "*")
		platformEndpoint(s, admin, all.url, "*")
		shown := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200)

		s.Call("DELETE", ada.Path(""), ada.Token, proved()).Want(204)
		all.await(1, "tenant.deleted")
		ended := own.await(1, "tenant.deleted")
		alike(t, ada.Tenant, ended, all.got())
		want := apptest.WithChanges(shown.At("data").(map[string]any), apptest.Object{"user_joined_at": nil, "user_role": nil, "user_permissions": []any{}})
		if diff := cmp.Diff(want, ended[0].event["data"]); diff != "" {
			t.Error(diff)
		}

		// Events of a deleted tenant, such as a payment of its last invoice, go only to the
		// platform.
		tellAgain := func(ctx context.Context) error {
			return hook.Publish(ctx, webhook.NewOutbox(s.DB(), clock.System()), hook.TenantUpdated, uuid.MustParse(ada.Tenant), hook.StaticData(want))
		}
		if err := s.DB().Tx(t.Context(), tellAgain); err != nil {
			t.Fatal(err)
		}
		all.await(1, "tenant.updated")

		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/restore", admin, nil).Want(200)
		all.await(2, "tenant.updated")
		back := own.await(1, "tenant.updated")
		alike(t, ada.Tenant, back, all.got("tenant.updated")[1:])
		if back[0].data("id") != ada.Tenant || back[0].data("slug") != shown.At("data.slug") {
			t.Errorf("%s", back[0].body)
		}
		s.Invite(ada, "di@example.com", "member")
		own.await(1, "invitation.created")
		own.wantKinds(map[string]int{"tenant.deleted": 1, "tenant.updated": 1, "invitation.created": 1})
		all.wantKinds(map[string]int{"tenant.deleted": 1, "tenant.updated": 2, "invitation.created": 1})
		if n := len(other.got()); n != 0 {
			t.Errorf("another tenant got %d messages", n)
		}
	})
}

// Leaving publishes one event with the member's last state. Deleting an account implies leaving,
// and later events no longer name the user.
func TestEventsOfLeavingAndDeletingTheAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, bobID := s.Join(ada, "Bob Builder", "bob@example.com", "member")
		coy, coyID := s.Join(ada, "Coy Carver", "coy@example.com", "admin")
		key := s.Call("POST", ada.Path("/api-keys"), coy, apptest.Object{"name": "K", "scopes": []string{"usage.read"}}).Want(201).Str("data.id")
		members := s.Call("GET", ada.Path("/team/members"), ada.Token, nil).Want(200).At("data").([]any)
		last := map[any]any{}
		for _, m := range members {
			member := m.(map[string]any)
			last[member["id"]] = apptest.WithChanges(member, apptest.Object{"mfa_enabled": nil})
		}
		r := newReceiver(t, nil)
		endpoint(s, ada, r.url, "*")

		s.Call("POST", ada.Path("/leave"), bob, nil).Want(204)
		left := r.await(1, "member.removed")[0]
		if diff := cmp.Diff(last[float64(bobID)], left.event["data"]); diff != "" {
			t.Errorf("leaving: %s", diff)
		}
		s.Call("DELETE", "/api/v1/user", bob, proved()).As("user without a tenant").Want(204)
		s.Call("DELETE", "/api/v1/user", coy, proved()).Want(204)
		gone := r.await(2, "member.removed")[1]
		if diff := cmp.Diff(last[float64(coyID)], gone.event["data"]); diff != "" {
			t.Errorf("deleting the account: %s", diff)
		}

		// Events about records created by Coy no longer mention Coy.
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Acme"}).Want(200)
		rotated := s.Call("POST", ada.Path("/api-keys/"+key+"/rotate"), ada.Token, apptest.Object{}).Want(201).Str("data.id")
		s.Call("DELETE", ada.Path("/api-keys/"+rotated), ada.Token, nil).Want(204)
		r.await(1, "tenant.updated")
		r.await(1, "api_key.created")
		r.await(2, "api_key.revoked")
		for _, m := range r.got() {
			if text := string(m.body); m.kind() != "member.removed" && (strings.Contains(text, "Carver") || strings.Contains(text, "coy@example.com")) {
				t.Errorf("%s names a deleted user", text)
			}
		}
		r.wantKinds(map[string]int{"member.removed": 2, "tenant.updated": 1, "api_key.created": 1, "api_key.revoked": 2})
	})
}

// A tenant deleted together with its owner's account publishes its deletion, but no member
// removals.
func TestEventsOfAnAccountWithItsTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		own, all := newReceiver(t, nil), newReceiver(t, nil)
		ada := s.Register("ada@example.com", true)
		endpoint(s, ada, own.url, "*")
		platformEndpoint(s, s.Admin(), all.url, "tenant.deleted", "member.removed", "webhook.test")
		s.Call("DELETE", "/api/v1/user", ada.Token, proved()).Want(204)
		all.await(1, "tenant.deleted")
		alike(t, ada.Tenant, own.await(1, "tenant.deleted"), all.got())
		s.Register("eve@example.com", true)
		if n := s.CountRows("SELECT count(*) FROM webhook_deliveries"); n != 2 {
			t.Errorf("%d deliveries", n)
		}
	})
}

// An ownership transfer changes two roles and publishes an event with the new role for each.
func TestEventsOfATransfer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, id := s.Join(ada, "Bob", "bob@example.com", "member")
		r := newReceiver(t, nil)
		path, _ := endpoint(s, ada, r.url, "*")
		s.Call("POST", ada.Path("/transfer-ownership"), ada.Token, proved(apptest.Object{"user_id": id})).Want(200)
		roles := map[any]any{}
		for _, m := range r.await(2, "member.role_changed") {
			roles[m.data("email")] = m.data("role").(map[string]any)["name"]
		}
		if diff := cmp.Diff(map[any]any{"ada@example.com": "admin", "bob@example.com": "owner"}, roles); diff != "" {
			t.Error(diff)
		}
		// The endpoint belongs to the tenant, not to the former owner.
		s.Call("POST", path+"/test", bob, nil).Want(202)
		r.await(1, "webhook.test")
		s.Call("POST", ada.Path("/leave"), ada.Token, nil).Want(204)
		if m := r.await(1, "member.removed")[0]; m.data("email") != "ada@example.com" {
			t.Errorf("%s", m.body)
		}
		if n := len(r.got()); n != 4 {
			t.Errorf("%d messages: %v", n, kinds(r.got()))
		}
	})
}

// A rejected request publishes nothing to any endpoint.
func TestRejectedRequestsPublishNoEvents(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		own, all := newReceiver(t, nil), newReceiver(t, nil)
		ada := s.Register("ada@example.com", true)
		bob, bobID := s.Join(ada, "Bob", "bob@example.com", "admin")
		s.BuyPlan(ada, "starter")
		s.AwaitNotifications()
		path, _ := endpoint(s, ada, own.url, "*")
		everywhere := platformEndpoint(s, admin, all.url, "*")

		wrong := apptest.Object{"current_password": "wrong horse", "user_id": bobID}
		right := proved(apptest.Object{"user_id": bobID})
		s.Call("DELETE", ada.Path(""), ada.Token, wrong).WantInvalid("current_password")
		s.Call("DELETE", ada.Path(""), bob, right).As("not the owner").WantRefused(403, "")
		s.Call("DELETE", ada.Path(""), ada.Token, right).WantRefused(409, "subscription_running")
		s.Call("POST", ada.Path("/transfer-ownership"), ada.Token, wrong).WantInvalid("current_password")
		s.Call("POST", ada.Path("/transfer-ownership"), bob, right).WantRefused(403, "")
		s.Call("POST", ada.Path("/leave"), ada.Token, nil).WantRefused(403, "")
		s.Call("DELETE", "/api/v1/user", bob, apptest.Object{"current_password": "wrong horse"}).WantInvalid("current_password")
		s.Call("DELETE", "/api/v1/user", ada.Token, right).WantRefused(409, "OWNS_TENANT")
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/restore", admin, nil).WantRefused(409, "tenant_not_deleted")
		s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "K", "scopes": []string{"everything"}}).Want(422)

		// An event of a rejected request would arrive before the test event.
		for where, token := range map[string]string{path: ada.Token, everywhere: admin} {
			s.Call("POST", where+"/test", token, nil).Want(202)
		}
		for _, r := range []*receiver{own, all} {
			r.await(1, "webhook.test")
		}
		for where, token := range map[string]string{path: ada.Token, everywhere: admin} {
			if types := deliveries(s, token, where, "").Column("type"); len(types) != 1 {
				t.Errorf("%s: %v", where, types)
			}
		}
	})
}

// A platform endpoint receives the events of all tenants, a tenant endpoint only the events of its
// tenant.
func TestEventScopeOfEndpoints(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first, second, all := newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		di, _ := s.Join(eve, "Di", "di@example.com", "member")
		types := []string{"member.removed", "tenant.deleted"}
		endpoint(s, ada, first.url, types...)
		endpoint(s, eve, second.url, types...)
		platformEndpoint(s, s.Admin(), all.url, types...)
		s.Call("POST", ada.Path("/leave"), bob, nil).Want(204)
		s.Call("DELETE", "/api/v1/user", di, proved()).Want(204)
		s.Call("DELETE", ada.Path(""), ada.Token, proved()).Want(204)
		s.Call("DELETE", eve.Path(""), eve.Token, proved()).Want(204)
		all.await(4, types...)
		for tenant, r := range map[string]*receiver{ada.Tenant: first, eve.Tenant: second} {
			r.await(2, types...)
			for _, m := range r.got() {
				if m.event["tenant_id"] != tenant {
					t.Errorf("%s was sent to the endpoint of %s", m.body, tenant)
				}
			}
		}
		of := map[any]int{}
		for _, m := range all.got() {
			of[m.event["tenant_id"]]++
		}
		if diff := cmp.Diff(map[any]int{ada.Tenant: 2, eve.Tenant: 2}, of); diff != "" {
			t.Error(diff)
		}
	})
}
