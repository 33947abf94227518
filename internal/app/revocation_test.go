package app_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// change is an operation that ends or changes the access of a caller.
type change struct {
	name  string
	write func() apptest.Reply
	// path is the path that other callers request concurrently with token. seen extracts the
	// compared value from the response.
	path, token   string
	seen          func(apptest.Reply) string
	before, after string
}

// status returns the status of a response.
func status(a apptest.Reply) string { return fmt.Sprint(a.Status) }

// at returns a function that returns the value at a path of a response.
func at(path string) func(apptest.Reply) string {
	return func(a apptest.Reply) string { return fmt.Sprint(a.At(path)) }
}

// limitOfCalls returns the number of API calls that an entitlements response allows.
func limitOfCalls(a apptest.Reply) string {
	list, _ := a.At("data").([]any)
	for _, one := range list {
		if one, ok := one.(map[string]any); ok && one["key"] == "api-calls" {
			return fmt.Sprint(one["limit"])
		}
	}
	return "none"
}

// hold makes the change during concurrent reads. The test fails if a read that began after the
// response to the change returns the old value.
func (c change) hold(t *testing.T, s *apptest.Server) {
	t.Helper()
	read := func() string { return c.seen(s.Call("GET", c.path, c.token, nil)) }
	for range 2 { // the second read uses the cache
		if got := read(); got != c.before {
			t.Errorf("%s: before: got %s, want %s", c.name, got, c.before)
		}
	}
	var answered, done atomic.Bool
	var readers sync.WaitGroup
	var reading atomic.Int64
	for range 4 {
		readers.Go(func() {
			for !done.Load() {
				late := answered.Load()
				got := read()
				if got != c.after && (late || got != c.before) {
					t.Errorf("%s: got %s in a read that began after the change: %t; want %s", c.name, got, late, c.after)
					return
				}
				reading.Add(1)
			}
		})
	}
	// The readers fill the cache.
	apptest.Eventually(t, "reads before the change", func() bool { return reading.Load() >= 20 || t.Failed() })
	reply := c.write()
	answered.Store(true)
	if got := read(); got != c.after {
		t.Errorf("%s: afterwards: got %s, want %s", c.name, got, c.after)
	}
	// Reads in flight finish, and new ones begin.
	n := reading.Load()
	apptest.Eventually(t, "reads after the change", func() bool { return reading.Load() >= n+20 || t.Failed() })
	done.Store(true)
	readers.Wait()
	if reply.Status/100 != 2 {
		t.Errorf("%s returns %d: %s", c.name, reply.Status, reply.Text)
	}
}

// A change of access applies to every request that begins after the response, with any number of
// concurrent requests.
func TestChangesApplyImmediately(t *testing.T) {
	t.Parallel()
	const me = "/api/v1/auth/me"
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		s.BuyPlan(ada, "starter")
		inviters := s.CreateRole(ada, "Inviters", "team.invite")
		bob, bobID := s.Join(ada, "Bob", "bob@example.com", "member")
		members := ada.Path("/team/members/" + apptest.IDText(float64(bobID)))
		call := func(method, path, token string, body any) func() apptest.Reply {
			return func() apptest.Reply { return s.Call(method, path, token, body) }
		}
		key := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "K", "scopes": []string{"usage.read"}}).Want(201)
		second := s.LogIn("bob@example.com")
		const other = "a longer password"
		calls := s.Call("GET", "/api/v1/admin/features?filter[code]=api-calls", admin, nil).Want(200).Str("data.0.id")
		meter := s.Call("GET", ada.Path("/usage"), ada.Token, nil).Want(200).Str("data.meters.0.meter_id")
		for _, c := range []change{
			{
				name: "another role", write: call("PATCH", members+"/role", ada.Token, apptest.Object{"role_id": inviters}),
				path: me, token: bob, seen: at("user.permissions"), before: "[]", after: "[team.invite]",
			},
			{
				name: "the permissions of the role", write: call("PATCH", ada.Path("/roles/"+apptest.IDText(float64(inviters))), ada.Token, apptest.Object{"permissions": []string{"audit.view"}}),
				path: me, token: bob, seen: at("user.permissions"), before: "[team.invite]", after: "[audit.view]",
			},
			{
				name: "the tenant's name", write: call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Acme"}),
				path: me, token: bob, seen: at("currentTenant.name"), before: "Ada's Organization", after: "Acme",
			},
			{
				name: "the start of an impersonation", write: func() apptest.Reply { return s.Impersonate(admin, ada) },
				path: me, token: admin, seen: at("user.email"), before: "admin@tenantry.test", after: "ada@example.com",
			},
			{
				name: "the end of an impersonation", write: call("POST", "/api/v1/admin/impersonation/stop", admin, nil),
				path: me, token: admin, seen: at("user.email"), before: "ada@example.com", after: "admin@tenantry.test",
			},
			{
				name: "a password", write: call("PUT", "/api/v1/user/password", bob, apptest.Object{
					"current_password": "correct horse", "password": other, "password_confirmation": other,
				}),
				path: me, token: second, seen: status, before: "200", after: "401",
			},
			{
				name: "a removed member", write: call("DELETE", members, ada.Token, nil),
				path: ada.Path("/entitlements"), token: bob, seen: status, before: "200", after: "403",
			},
			{
				name: "a logout", write: call("POST", "/api/v1/auth/logout", bob, nil),
				path: me, token: bob, seen: status, before: "200", after: "401",
			},
			{
				name: "a revoked key", write: call("DELETE", ada.Path("/api-keys/"+key.Str("data.id")), ada.Token, nil),
				path: ada.Path("/usage/quotas"), token: key.Str("data.secret"), seen: status, before: "200", after: "401",
			},
			{
				name: "usage", write: call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 3}),
				path: ada.Path("/usage/quotas"), token: ada.Token, seen: at("data.meters.0.current_usage"), before: "0", after: "3",
			},
			{
				name: "another plan", write: func() apptest.Reply { return s.ChangePlan(ada, "team", apptest.Object{"quantity": 2}) },
				path: ada.Path("/usage/quotas"), token: ada.Token, seen: at("data.meters.0.quota_limit"), before: "1000", after: "50000",
			},
			{
				name: "what a plan grants", write: call("PUT", "/api/v1/admin/plans/"+s.PlanID(ada, "team")+"/entitlements", admin, apptest.Object{
					"entitlements": []any{apptest.Object{"feature_id": calls, "type": "quota", "value": 7}},
				}),
				path: ada.Path("/entitlements"), token: ada.Token, seen: limitOfCalls, before: "50000", after: "7",
			},
			{
				name: "a meter", write: call("PATCH", "/api/v1/admin/meters/"+meter, admin, apptest.Object{"quota_enforcement": "none"}),
				path: ada.Path("/usage"), token: ada.Token, seen: at("data.meters.0.quota_enforcement"), before: "hard", after: "none",
			},
			{
				name: "the end of a plan", write: func() apptest.Reply { return s.Cancel(ada, true) },
				path: ada.Path("/entitlements"), token: ada.Token, seen: limitOfCalls, before: "7", after: "none",
			},
		} {
			c.hold(t, s)
		}
	})
}
