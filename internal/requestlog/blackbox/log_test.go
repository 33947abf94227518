package blackbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

const adminLog = "/api/v1/admin/request-logs"

// newKey creates an API key of a tenant and returns its secret and ID.
func newKey(s *apptest.Server, o apptest.Owner, scopes ...string) (secret, id string) {
	s.T.Helper()
	a := s.Call("POST", o.Path("/api-keys"), o.Token, apptest.Object{"name": "Backend", "scopes": scopes}).Want(201)
	return a.Str("data.secret"), a.Str("data.id")
}

// newPlatformKey creates a platform key and returns its secret.
func newPlatformKey(s *apptest.Server, scopes ...string) string {
	s.T.Helper()
	return s.Call("POST", "/api/v1/admin/api-keys", s.Admin(), apptest.Object{"name": "Platform", "scopes": scopes}).Want(201).Str("data.secret")
}

// await waits until a log has n rows and returns the page.
func await(s *apptest.Server, token, path string, n int) (page apptest.Reply) {
	s.T.Helper()
	apptest.Eventually(s.T, fmt.Sprint(n, " requests in ", path), func() bool {
		page = s.Call("GET", path, token, nil).Want(200)
		return len(page.At("data").([]any)) >= n
	})
	if got := len(page.At("data").([]any)); got != n {
		s.T.Fatalf("%d requests, want %d: %s", got, n, page.Text)
	}
	return page
}

// lines returns the rows of a page, oldest first, as method, status, route and code.
func lines(page apptest.Reply) (list []string) {
	for _, one := range slices.Backward(page.At("data").([]any)) {
		row := one.(map[string]any)
		list = append(list, fmt.Sprint(row["method"], " ", row["status"], " ", row["route"], " ", row["code"]))
	}
	return list
}

// All requests of keys and failed requests of members are logged. Queries, bodies and tokens are
// not stored.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		secret, id := newKey(s, ada, "usage.read")
		admin := s.Admin()
		s.Call("GET", ada.Path("/usage/quotas?from=secret"), secret, nil).Want(200)
		s.Call("GET", ada.Path("/team/members"), secret, nil).WantRefused(403, "insufficient_scope")
		s.Call("GET", "/api/v1/none?x=secret", secret, nil).Want(404)
		s.Call("DELETE", ada.Path("/usage/quotas"), secret, nil).Want(405)
		s.Call("GET", "/api/v1/catalog/plans", secret, nil).Want(200)
		s.Call("GET", ada.Path("/usage/quotas"), ada.Token, nil).Want(200)
		s.Call("GET", ada.Path("/no-such-thing"), ada.Token, nil).Want(404)
		s.Call("POST", "/api/v1/invitations/"+strings.Repeat("Z", 64)+"/accept", ada.Token, nil).Want(404)
		s.Call("GET", "/api/v1/admin/tenants", ada.Token, nil).Want(403)
		s.Call("PATCH", ada.Path("/roles/99999"), ada.Token, apptest.Object{"name": "secret"}).Want(404)
		s.Call("GET", ada.Path("/usage/quotas"), secret+"x", nil).Want(401)
		s.Call("PATCH", "/api/v1/user", ada.Token, apptest.Object{"name": 1}).Want(422)
		page := await(s, ada.Token, ada.Path("/request-logs"), 9)
		want := []string{
			"GET 200 /api/v1/tenant/{tenantId}/usage/quotas <nil>",
			"GET 403 /api/v1/tenant/{tenantId}/team/members insufficient_scope",
			"GET 404 <nil> <nil>",
			"DELETE 405 <nil> <nil>",
			"GET 200 /api/v1/catalog/plans <nil>",
			"GET 404 <nil> <nil>",
			"POST 404 /api/v1/invitations/{token}/accept INVITATION_NOT_FOUND",
			"GET 403 /api/v1/admin/tenants <nil>",
			"PATCH 404 /api/v1/tenant/{tenantId}/roles/{role} <nil>",
		}
		if diff := cmp.Diff(want, lines(page)); diff != "" {
			t.Error(diff)
		}
		page.WantAt("meta.next_cursor", nil).WantAt("meta.sampled", false).WantAt("meta.per_page", float64(25)).
			WantAt("data.8.path", ada.Path("/usage/quotas")).WantAt("data.8.api_key", map[string]any{"id": id, "name": "Backend"}).
			WantAt("data.8.user", nil).WantAt("data.8.acting_as", nil).WantAt("data.8.ip", "127.0.0.1").
			WantAt("data.6.path", nil).WantAt("data.5.path", nil).WantAt("data.2.path", "/api/v1/invitations/{token}/accept").
			WantAt("data.0.api_key", nil).WantAt("data.0.user", map[string]any{"id": float64(s.UserID(ada.Token)), "name": "Ada"})
		if strings.Contains(page.Text, "secret") || strings.Contains(page.Text, "ZZZ") {
			t.Errorf("the log has secrets: %s", page.Text)
		}
		all := await(s, admin, adminLog+"?filter[tenant]="+ada.Tenant, 10)
		all.WantAt("data.0.route", "/api/v1/user").WantAt("data.0.tenant", map[string]any{"id": ada.Tenant, "name": all.Str("data.0.tenant.name")})
	})
}

// The requests of a platform key belong to the tenant of the path. Other tenants do not see them.
func TestTenantOfRequests(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		secret := newPlatformKey(s, "usage.read", "tenants.read", "limits.write")
		s.Call("GET", ada.Path("/usage/quotas"), secret, nil).Want(200)
		s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+"/limits", secret, nil).Want(200)
		s.Call("GET", "/api/v1/admin/tenants", secret, nil).Want(200)
		s.Call("GET", ada.Path("/usage/quotas"), bob.Token, nil).Want(403)
		page := await(s, ada.Token, ada.Path("/request-logs"), 2)
		page.WantAt("data.0.route", "/api/v1/admin/tenants/{tenant}/limits").WantAt("data.1.api_key.name", "Platform")
		await(s, bob.Token, bob.Path("/request-logs"), 1).WantAt("data.0.path", ada.Path("/usage/quotas"))
		all := await(s, s.Admin(), adminLog, 4)
		all.WantAt("data.1.route", "/api/v1/admin/tenants").WantAt("data.1.tenant", nil).WantAt("data.0.tenant.id", bob.Tenant)
		s.Call("GET", ada.Path("/request-logs"), bob.Token, nil).Want(403)
		s.Call("GET", adminLog, bob.Token, nil).Want(403)
		s.Call("GET", adminLog, secret, nil).WantRefused(403, "insufficient_scope")
	})
}

// Requests during impersonation show the admin and the user. While impersonating, an admin cannot
// read the log.
func TestImpersonatedRequests(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		admin := s.Admin()
		id := s.UserID(admin)
		s.Impersonate(admin, ada).Want(200)
		s.Call("GET", ada.Path("/request-logs"), admin, nil).Want(400)
		page := await(s, ada.Token, ada.Path("/request-logs"), 1)
		page.WantAt("data.0.status", float64(400)).WantAt("data.0.user.id", float64(id)).
			WantAt("data.0.acting_as.id", float64(s.UserID(ada.Token))).WantAt("data.0.acting_as.reason", nil)
	})
}

// The reason of an impersonation is visible to platform admins and to members with audit.view.
func TestReasonOfImpersonation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, bobID := s.Join(ada, "Bob", "bob@example.com", "member")
		role := s.CreateRole(ada, "Developer", "api_keys.manage")
		s.Call("PATCH", ada.Path("/team/members/"+apptest.IDText(float64(bobID))+"/role"), ada.Token, apptest.Object{"role_id": role}).Want(200)
		admin := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", admin, apptest.Object{
			"user_id": s.UserID(ada.Token), "tenant_id": ada.Tenant, "reason": "Ticket 4711",
		}).Want(200)
		s.Call("GET", ada.Path("/none"), admin, nil).Want(404)
		s.Call("POST", "/api/v1/admin/impersonation/stop", admin, nil).Want(200)
		for _, reader := range []struct {
			token, path string
			reason      any
		}{{ada.Token, ada.Path("/request-logs"), "Ticket 4711"}, {bob, ada.Path("/request-logs"), nil}, {admin, adminLog, "Ticket 4711"}} {
			await(s, reader.token, reader.path, 1).WantAt("data.0.acting_as", apptest.Object{
				"id": float64(s.UserID(ada.Token)), "name": "Ada", "reason": reader.reason,
			})
		}
	})
}

// The filters and the cursor select the right requests.
func TestFilters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		secret, id := newKey(s, ada, "usage.read", "usage.write")
		quotas := ada.Path("/usage/quotas")
		s.Call("GET", quotas, secret, nil).Want(200)
		s.Call("POST", ada.Path("/usage"), secret, apptest.Object{}).Want(422)
		s.Call("GET", ada.Path("/roles"), secret, nil).Want(403)
		s.Call("GET", ada.Path("/none"), ada.Token, nil).Want(404)
		log := ada.Path("/request-logs")
		page := await(s, ada.Token, log, 4)
		first := page.TimeAt("data.3.at")
		for query, want := range map[string]int{
			"filter[status]=2xx": 1, "filter[status]=4xx": 3, "filter[status]=5xx": 0, "filter[status]=422": 1, "filter[status]=599": 0,
			"filter[method]=POST": 1, "filter[method]=OPTIONS": 0, "filter[api_key]=" + id: 3, "filter[api_key]=" + ada.Tenant: 0,
			"filter[route]=/api/v1/tenant/{tenantId}/usage/quotas": 1, "filter[route]=/api/v1/tenant": 0, "filter[status]=": 4,
			"filter[status]=4xx&filter[method]=GET": 2, "from=" + first.Add(time.Microsecond).Format(time.RFC3339Nano): 3,
			"to=" + first.Format(time.RFC3339Nano): 1, "from=2020-01-01&to=2020-12-31": 0,
		} {
			if got := len(s.Call("GET", log+"?"+query, ada.Token, nil).Want(200).At("data").([]any)); got != want {
				t.Errorf("%s: %d requests, want %d", query, got, want)
			}
		}
		admin := s.Admin()
		for _, path := range []string{log, adminLog} {
			token := map[string]string{log: ada.Token, adminLog: admin}[path]
			for query, field := range map[string]string{
				"filter[status]=3xx": "filter.status", "filter[status]=x": "filter.status", "filter[status]=99": "filter.status", "filter[status]=600": "filter.status",
				"filter[method]=get": "filter.method", "filter[api_key]=x": "filter.api_key", "from=x": "from", "to=2026-13-01": "to",
				"cursor=x": "cursor", "per_page=0": "per_page", "per_page=101": "per_page",
			} {
				s.Call("GET", path+"?"+query, token, nil).WantInvalid(field)
			}
			s.Call("GET", path+"?filter[status]=x&filter[method]=x", token, nil).WantInvalid("filter.method", "filter.status")
			s.Call("GET", path+"?filter[path]=x", token, nil).Want(400)
			s.Call("GET", path+"?filter=x", token, nil).Want(400)
		}
		s.Call("GET", log+"?filter[tenant]="+ada.Tenant, ada.Token, nil).Want(400)
		s.Call("GET", adminLog+"?filter[tenant]=x", admin, nil).WantInvalid("filter.tenant")

		before := page.Column("id") // without the invalid requests above
		for query, want := range map[string][]any{"filter[api_key]=" + id: before[1:], "filter[status]=2xx": before[3:]} {
			if diff := cmp.Diff(want, s.Call("GET", log+"?"+query, ada.Token, nil).Want(200).Column("id")); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		var seen []any
		for next := "start"; next != ""; {
			part := s.Call("GET", log+"?per_page=2&filter[api_key]="+id+"&cursor="+strings.TrimPrefix(next, "start"), ada.Token, nil).Want(200)
			seen = append(seen, part.Column("id")...)
			next, _ = part.At("meta.next_cursor").(string)
		}
		if diff := cmp.Diff(before[1:], seen); diff != "" {
			t.Error(diff)
		}
	})
}

// Above the limit of requests per second, failed requests are stored first, and the page reports
// that requests are missing.
func TestSampling(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		secret, _ := newKey(s, ada, "usage.read")
		other, _ := newKey(s, bob, "usage.read")
		s.Call("GET", bob.Path("/usage/quotas"), other, nil).Want(200)
		const many = 2000
		burst := func() {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range many / 8 {
						s.Call("GET", ada.Path("/usage/quotas"), secret, nil).Want(200)
					}
				})
			}
			all.Wait()
		}
		burst()
		for range 3 {
			s.Call("GET", ada.Path("/roles"), secret, nil).Want(403)
		}
		await(s, ada.Token, ada.Path("/request-logs?filter[status]=4xx"), 3)
		rows := s.CountRows(`SELECT count(*) FROM request_logs WHERE tenant_id = $1`, ada.Tenant)
		if rows >= many || rows < 50 {
			t.Errorf("%d of %d requests are stored", rows, many)
		}
		admin := s.Admin()
		// On a busy machine the requests of the last page can be slower than the limit.
		apptest.Eventually(t, "pages with gaps", func() bool {
			own, of := s.Call("GET", ada.Path("/request-logs"), ada.Token, nil).Want(200), s.Call("GET", adminLog, admin, nil).Want(200)
			if own.At("meta.sampled") == true && of.At("meta.sampled") == true {
				return true
			}
			burst()
			return false
		})
		s.Call("GET", ada.Path("/request-logs?from=2000-01-01&to=2000-12-31"), ada.Token, nil).Want(200).WantAt("meta.sampled", false)
		s.Call("GET", bob.Path("/request-logs"), bob.Token, nil).Want(200).WantAt("meta.sampled", false)
		s.Call("GET", adminLog+"?filter[tenant]="+bob.Tenant, admin, nil).Want(200).WantAt("meta.sampled", false)
	})
}

// Old requests and the requests of a purged tenant are deleted.
func TestRetention(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		secret, _ := newKey(s, ada, "usage.read")
		s.Call("GET", ada.Path("/usage/quotas"), secret, nil).Want(200)
		await(s, ada.Token, ada.Path("/request-logs"), 1)
		s.Advance(25 * time.Hour)
		apptest.Eventually(t, "an empty log", func() bool { return s.CountRows(`SELECT count(*) FROM request_logs`) == 0 })
		ada.Token = s.LogIn("ada@example.com")
		s.Call("GET", ada.Path("/usage/quotas"), secret, nil).Want(200)
		await(s, ada.Token, ada.Path("/request-logs"), 1)
	})
}

// With 0 hours nothing is stored.
func TestLogIsOff(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		secret, _ := newKey(s, ada, "usage.read")
		s.Call("GET", ada.Path("/usage/quotas"), secret, nil).Want(200)
		s.Call("GET", ada.Path("/request-logs"), ada.Token, nil).Want(200).WantAt("data", []any{}).WantAt("meta.sampled", false)
		if err := s.Stop(); err != nil { // stores the remaining requests
			t.Fatal(err)
		}
		if n := s.CountRows(`SELECT count(*) FROM request_logs`); n != 0 {
			t.Errorf("%d requests are stored", n)
		}
	}, func(s *settings.Settings) { s.RequestLog = new(time.Duration) })
}

// When the service stops, it stores the waiting requests.
func TestStopStoresRequests(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		secret, _ := newKey(s, ada, "usage.read")
		s.Call("GET", ada.Path("/usage/quotas"), secret, nil).Want(200)
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		if n := s.CountRows(`SELECT count(*) FROM request_logs WHERE tenant_id = $1`, ada.Tenant); n != 1 {
			t.Errorf("%d requests are stored", n)
		}
	})
}
