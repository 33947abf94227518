package blackbox_test

import (
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Lookups of concurrent requests are batched, but each caller gets their own response: members, a
// user without a tenant, an admin who impersonates a user, and callers who are rejected although
// the requested data was read together with their token.
func TestAnswersOfManyAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		carl, _ := s.Join(ada, "Carl", "carl@example.com", "member")
		dora, admin := s.RegisterAlone("Dora", "dora@example.com"), s.Admin()
		s.Impersonate(admin, bob).Want(200)
		ended := s.LogIn("ada@example.com")
		s.Call("POST", "/api/v1/auth/logout", ended, nil).Want(200)
		const me = "/api/v1/auth/me"
		var wg sync.WaitGroup
		for _, test := range []struct {
			token, path string
			status      int
			want        map[string]any
		}{
			{ada.Token, me, 200, object{"user.email": "ada@example.com", "user.tenants.0.id": ada.Tenant, "user.tenants.0.user_role": "owner"}},
			{bob.Token, me, 200, object{"user.email": "bob@example.com", "user.tenants.0.id": bob.Tenant, "user.tenants.0.user_role": "owner"}},
			{carl, me, 200, object{"user.email": "carl@example.com", "user.tenants.0.id": ada.Tenant, "user.tenants.0.user_role": "member"}},
			{dora, me, 200, object{"user.email": "dora@example.com", "user.tenants.0": nil, "currentTenant": nil}},
			{admin, me, 200, object{"user.email": "bob@example.com", "user.tenants.0.id": bob.Tenant, "impersonation.is_impersonating": true}},
			{ended, me, 401, nil},
			{ada.Token, ada.Path("/usage/quotas"), 200, object{"data.tenant_id": ada.Tenant}},
			{carl, ada.Path("/usage/quotas"), 200, object{"data.tenant_id": ada.Tenant}},
			{bob.Token, bob.Path("/usage/quotas"), 200, object{"data.tenant_id": bob.Tenant}},
			{bob.Token, ada.Path("/usage/quotas"), 403, object{"data": nil}},
			{dora, ada.Path("/usage/quotas"), 403, object{"data": nil}},
			{ended, ada.Path("/usage/quotas"), 401, object{"data": nil}},
			{carl, ada.Path("/entitlements"), 200, nil},
			{bob.Token, ada.Path("/entitlements"), 403, object{"data": nil}},
		} {
			for range 3 {
				wg.Go(func() {
					for range 5 {
						got := s.Call("GET", test.path, test.token, nil)
						if got.Status != test.status {
							t.Errorf("%s: %d, want %d: %s", test.path, got.Status, test.status, got.Text)
						}
						for path, want := range test.want {
							if value := got.At(path); value != want {
								t.Errorf("%s: %s is %v, want %v", test.path, path, value, want)
							}
						}
					}
				})
			}
		}
		wg.Wait()
	})
}
