package blackbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// filled returns an object whose JSON has the given number of bytes.
func filled(bytes int) object {
	return object{"x": strings.Repeat("s", bytes-len(`{"x":""}`))}
}

// Neither members nor admins can exceed the maximum size of a tenant's settings. This also limits
// the size of a page of tenants.
func TestSettingsAreBounded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		for _, by := range []struct{ path, token string }{{"/api/v1/tenant", ada.Token}, {"/api/v1/admin/tenants/" + ada.Tenant, admin}} {
			s.Call("PATCH", by.path, by.token, object{"settings": filled(16 << 10)}).Want(200)
			s.Call("PATCH", by.path, by.token, object{"settings": filled(16<<10 + 1)}).WantInvalid("settings")
			// Spaces are not stored and do not count.
			s.Call("PATCH", by.path, by.token, `{"settings":{"x":`+strings.Repeat(" ", 16<<10)+`1}}`).Want(200)
		}
		inLocale(s, "it", "PATCH", "/api/v1/tenant", ada.Token, object{"settings": filled(20 << 10)}).
			WantAt("errors.settings", []any{"Deve occupare al massimo 16.384 byte in JSON."})
		if got := s.Call("GET", "/api/v1/tenant", ada.Token, nil).At("data.settings"); got.(object)["x"] != 1.0 {
			t.Errorf("rejected change was made: %v", got)
		}
	})
}

// Roles are not paginated, so the number of a tenant's roles is limited.
func TestRolesAreBounded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for i := range 97 {
			s.Call("POST", ada.Path("/roles"), ada.Token, object{"name": fmt.Sprint("Role ", i), "permissions": []string{}}).Want(201)
		}
		s.Call("POST", ada.Path("/roles"), ada.Token, object{"name": "One too many", "permissions": []string{}}).WantInvalid("name")
	})
}
