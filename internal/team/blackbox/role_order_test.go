package blackbox_test

import (
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The admin list of a tenant's roles is sorted by name, with accented letters next to their base
// letters.
func TestRolesOfATenantAreByName(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for _, name := range []string{"zebra", "Éditeur", "apple"} {
			s.Call("POST", ada.Path("/roles"), ada.Token, apptest.Object{"name": name, "permissions": []string{}}).Want(201)
		}
		found := s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, s.Admin(), nil).Want(200)
		var names []any
		for i := range found.At("data.roles").([]any) {
			names = append(names, found.At(fmt.Sprintf("data.roles.%d.name", i)))
		}
		if got := fmt.Sprint(names[len(names)-3:]); got != "[apple Éditeur zebra]" {
			t.Errorf("roles %v", names)
		}
	})
}
