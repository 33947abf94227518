package app_test

import (
	"net/url"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A batch reads the data of a tenant's home page. Each read has the access rules of its route: a
// member without the permission and a member of another tenant get errors, not data.
func TestBatchOfATenantsHome(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		mine, theirs := s.Register("mine@example.com", true), s.Register("theirs@example.com", true)
		s.BuyPlan(mine, "starter")
		member, _ := s.Join(mine, "Eve", "eve@example.com", "member")
		paths := []string{"/subscription", "/invoices?per_page=5", "/credit", "/usage", "/team/stats", "/audit-logs", "/usage/series?meter_code=api-calls&interval=day"}
		urls := []string{"/api/v1/settings", "/api/v1/auth/me", "/api/v1/admin/stats"}
		for _, path := range paths {
			urls = append(urls, mine.Path(path))
		}
		read := func(token string) map[string]any {
			t.Helper()
			found := map[string]any{}
			for _, one := range s.Call("GET", "/api/v1/batch?"+url.Values{"url": urls}.Encode(), token, nil).Want(200).At("data").([]any) {
				answer := one.(object)
				found[answer["url"].(string)] = answer["status"]
				if body := answer["body"].(object); answer["status"] != 200.0 && (body["data"] != nil || body["message"] == nil) {
					t.Errorf("%v has the body %v", answer["url"], body)
				}
			}
			return found
		}
		check := func(who, token string, refused map[string]float64) {
			t.Helper()
			found := read(token)
			for _, one := range urls {
				want := 200.0
				if status := refused[one]; status != 0 {
					want = status
				}
				if found[one] != want {
					t.Errorf("%s reads %s: %v, want %v", who, one, found[one], want)
				}
			}
		}
		all := func(status float64) map[string]float64 {
			of := map[string]float64{"/api/v1/admin/stats": status}
			for _, path := range paths {
				of[mine.Path(path)] = status
			}
			return of
		}
		check("the owner", mine.Token, map[string]float64{"/api/v1/admin/stats": 403})
		check("a member", member, map[string]float64{"/api/v1/admin/stats": 403, mine.Path("/credit"): 403, mine.Path("/audit-logs"): 403})
		check("another tenant", theirs.Token, all(403))
		nobody := all(401)
		nobody["/api/v1/auth/me"] = 401
		check("nobody", "", nobody)
		admin := all(403)
		delete(admin, "/api/v1/admin/stats")
		check("an admin", s.Admin(), admin)
	})
}
