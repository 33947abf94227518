package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Changes of a plan's quota, of the plan, of a meter's enforcement and of its activation apply to
// the next event. Events are recorded before each change to fill possible caches.
func TestChangedTermsApplyToTheNextEvent(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("some", "flat", "month", 1000, 0, map[string]int{"api-calls": 2})
		s.AddPlan("more", "flat", "month", 2000, 0, map[string]int{"api-calls": 6})
		admin := s.Admin()
		find := func(list, field, value string) string {
			t.Helper()
			for _, one := range s.Call("GET", "/api/v1/admin/"+list+"?per_page=100", admin, nil).Want(200).At("data").([]any) {
				if one := one.(map[string]any); one[field] == value {
					id, _ := one["id"].(string)
					return id
				}
			}
			t.Fatalf("no %s with %s %s", list, field, value)
			return ""
		}
		some, calls, feature := find("plans", "slug", "some"), find("meters", "code", "api-calls"), find("features", "code", "api-calls")
		quota := func(value int) {
			t.Helper()
			s.Call("PUT", "/api/v1/admin/plans/"+some+"/entitlements", admin, apptest.Object{"entitlements": []any{
				apptest.Object{"feature_id": feature, "type": "quota", "value": value},
			}}).Want(200)
		}
		meter := func(change apptest.Object) {
			t.Helper()
			s.Call("PATCH", "/api/v1/admin/meters/"+calls, admin, change).Want(200)
		}
		c := s.NewCustomer("ada")
		record := func(when string, status int) {
			t.Helper()
			if got := s.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "api-calls"}).Status; got != status {
				t.Errorf("%s: %d, want %d", when, got, status)
			}
		}
		s.BuyPlan(c.Owner, "some")
		record("one of two", 201)
		record("two of two", 201)
		record("three of two", 429)
		quota(3)
		record("three of three", 201)
		record("four of three", 429)
		s.ChangePlan(c.Owner, "more", nil).Want(200)
		record("four of six, on another plan", 201)
		record("five of six", 201)
		meter(apptest.Object{"is_active": false})
		record("on a meter that is off", 404)
		meter(apptest.Object{"is_active": true})
		record("six of six", 201)
		record("seven of six", 429)
		meter(apptest.Object{"quota_enforcement": "soft"})
		record("seven of six, which only warns", 201)
		meter(apptest.Object{"quota_enforcement": "hard"})
		record("eight of six", 429)
	})
}
