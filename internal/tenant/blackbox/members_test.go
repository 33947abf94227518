package blackbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A tenant shows up to a thousand members. A larger tenant shows its earliest members, the total
// number, the owner, and the caller's role.
func TestALargeTenantShowsItsFirstMembers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		joined := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // before the owner
		add := func(from, to int) {
			var users []any
			for n := from; n < to; n++ {
				users = append(users, fmt.Sprintf("Grace %d", n), fmt.Sprintf("grace-%d@example.com", n), joined, joined)
			}
			values, args := sqldb.Values(s.DB(), 1, users, "text", "text", "timestamptz", "timestamptz")
			apptest.Exec(t, s.DB(), `INSERT INTO users (name, email, created_at, updated_at) `+values+` ON CONFLICT DO NOTHING`, args...)
			apptest.Exec(t, s.DB(), `INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
				SELECT $1, u.id, r.id, $2 FROM users u, roles r
				WHERE u.created_at = $2 AND r.tenant_id IS NULL AND r.name = 'member'
				ON CONFLICT (user_id) DO NOTHING`, o.Tenant, joined)
		}
		check := func(a apptest.Reply, below string, users int, total string, withOwner bool) {
			t.Helper()
			a.Want(200).WantAt(below+".owner.email", "ada@example.com").WantAt(below+".user_role", "owner")
			list, _ := a.At(below + ".users").([]any)
			if len(list) != users || a.Header.Get("X-Users-Total") != total || strings.Contains(fmt.Sprint(list), "ada@example.com") != withOwner {
				t.Errorf("%d users of %q", len(list), a.Header.Get("X-Users-Total"))
			}
			if at, ok := a.At(below + ".user_joined_at").(string); !ok || at == "" {
				t.Error("the caller's join time is missing")
			}
			if permissions, _ := a.At(below + ".user_permissions").([]any); len(permissions) == 0 {
				t.Error("the caller's permissions are missing")
			}
		}
		add(0, 999)
		check(s.Call("GET", "/api/v1/tenant", o.Token, nil), "data", 1000, "", true)
		add(999, 1001)
		check(s.Call("GET", "/api/v1/tenant", o.Token, nil), "data", 1000, "1002", false)
		check(s.Call("PATCH", "/api/v1/tenant", o.Token, object{"city": "London"}), "tenant", 1000, "1002", false)
		if members := s.Call("GET", o.Path("/team/members"), o.Token, nil).Want(200).At("data").([]any); len(members) != 1002 {
			t.Errorf("the list has %d members", len(members))
		}
	})
}
