package blackbox_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Platform admins see a customer's webhook endpoints and API keys as the
// customer does, without secrets. Other users cannot see them.
func TestEndpointsAndKeysOfACustomer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		endpoint := s.Call("POST", ada.Path("/webhook-endpoints"), ada.Token, apptest.Object{"url": "https://hooks.example.com/in", "events": []any{"*"}}).Want(201)
		made := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "Meter", "scopes": []any{"usage.write"}}).Want(201)
		for list, id := range map[string]any{"/webhook-endpoints": endpoint.At("data.id"), "/api-keys": made.At("data.id")} {
			own := s.Call("GET", ada.Path(list), ada.Token, nil).Want(200)
			shown := s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+list, admin, nil).Want(200).WantAt("data.0.id", id)
			if diff := cmp.Diff(own.At("data"), shown.At("data")); diff != "" {
				t.Errorf("%s: %s", list, diff)
			}
			for _, secret := range []string{made.Str("data.secret"), endpoint.Str("data.secret")} {
				if strings.Contains(shown.Text, secret) {
					t.Errorf("%s has a secret", list)
				}
			}
			s.Call("GET", "/api/v1/admin/tenants/"+bob.Tenant+list, admin, nil).Want(200).WantAt("data", []any{})
			s.Call("GET", "/api/v1/admin/tenants/"+apptest.NoSuchID+list, admin, nil).WantRefused(404, "")
			s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+list, ada.Token, nil).WantRefused(403, "")
		}
	})
}
