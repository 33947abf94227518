package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A tenant's list has its own filters and rejects the filters of the admin list.
func TestFiltersOfATenantsTrail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		list := func(query string) apptest.Reply {
			t.Helper()
			return s.Call("GET", ada.Path("/audit-logs?"+query), ada.Token, nil).As(query)
		}
		for _, query := range []string{
			"filter[name]=x", "filter[Action]=x", "filter[created_after]=2026-01-01", "filter[created_before]=2026-01-01", "filter[from]=2026-01-01",
			"sort=ip", "include=actor", "filter[x]=1&from=soon",
		} {
			list(query).WantRefused(400, "")
		}
		for query, fields := range map[string][]string{
			"filter[actor]=ada": {"filter.actor"},
			"filter[actor]=1.5": {"filter.actor"},
			"from=2026-02-30":   {"from"}, "from=2026-13-01": {"from"}, "from=1767225600": {"from"},
			"to=soon": {"to"}, "to=2026-03-01T00:00:00": {"to"}, "to=0000-01-01": {"to"},
			"from=x&to=y&filter[actor]=z": {"from", "to", "filter.actor"},
			"page=0":                      {"page"}, "per_page=101": {"per_page"}, "per_page=ten&page=-1": {"per_page", "page"},
		} {
			list(query).WantInvalid(fields...)
		}
		// A range that ends before it starts is empty. Each bound alone matches all entries.
		day := s.Now().UTC()
		before, after := day.Add(-apptest.Day).Format("2006-01-02"), day.Add(apptest.Day).Format("2006-01-02")
		all := list("").Want(200).At("meta.total")
		for query, want := range map[string]any{
			"from=" + after + "&to=" + before: 0.0, "from=" + before + "&to=" + after: all,
			"from=" + before: all, "to=" + after: all, "from=" + after: 0.0, "to=" + before: 0.0,
		} {
			list(query).Want(200).WantAt("meta.total", want)
		}
	})
}

// Only members with the permission in this tenant can read its entries.
func TestTenantTrailPermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		elsewhere, _ := s.Join(other, "Eve", "eve@example.com", "admin")
		bob, id := s.Join(ada, "Bob", "bob@example.com", "member")
		give := func(name string, permissions ...string) {
			t.Helper()
			role := s.CreateRole(ada, name, permissions...)
			s.Call("PATCH", ada.Path("/team/members/"+apptest.IDText(float64(id))+"/role"), ada.Token, apptest.Object{"role_id": role}).Want(200)
		}
		read := func(token string, o apptest.Owner) apptest.Reply {
			t.Helper()
			return s.Call("GET", o.Path("/audit-logs"), token, nil)
		}
		read("", ada).As("without login").WantRefused(401, "")
		read(elsewhere, ada).As("an admin of another tenant").WantRefused(403, "")
		read(s.RegisterAlone("Di", "di@example.com"), ada).As("user without a tenant").WantRefused(403, "")
		read(s.Admin(), ada).As("the administrator, on the tenant's route").WantRefused(403, "")
		read(ada.Token, apptest.Owner{Tenant: "01990000-0000-7000-8000-000000000000"}).As("an unknown tenant").WantRefused(403, "")
		give("Clerk", "team.invite")
		read(bob, ada).As("with other permissions").WantRefused(403, "")
		s.Call("GET", ada.Path("/audit-logs?filter[x]=1"), bob, nil).As("a bad filter without permission").WantRefused(403, "")
		give("Auditor", "audit.view")
		read(bob, ada).As("with only the permission").Want(200)
		read(bob, other).As("with the permission, elsewhere").WantRefused(403, "")
		s.Call("DELETE", ada.Path("/team/members/"+apptest.IDText(float64(id))), ada.Token, nil).Want(200)
		read(bob, ada).As("removed member").WantRefused(403, "")
	})
}
