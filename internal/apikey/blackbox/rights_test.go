package blackbox_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// holdBack sends a request without its body and waits until the service asks for the body, which it
// does after the permission checks. finish sends the body and returns the status of the response.
func holdBack(s *apptest.Server, method, path, token string, body any) (finish func() int) {
	s.T.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.T.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		method, path, token, len(text))
	if err != nil {
		s.T.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	status := func() int {
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			s.T.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(); got != http.StatusContinue {
		s.T.Fatalf("%s %s: status %d before the body", method, path, got)
	}
	time.Sleep(100 * time.Millisecond) // only a slow body is followed by another check
	return func() int {
		if _, err := conn.Write(text); err != nil {
			s.T.Fatal(err)
		}
		return status()
	}
}

// A permission that is revoked while the client is still sending the body no longer applies.
func TestRightsAreCheckedAgainAfterASlowBody(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		members := 0
		admin := func() (token, path string) {
			members++
			token, id := s.Join(ada, "Mal", fmt.Sprintf("mal%d@example.com", members), "admin")
			return token, ada.Path("/team/members/" + apptest.IDText(float64(id)))
		}
		check := func(what string, want int, finish func() int) {
			t.Helper()
			if got := finish(); got != want && got != http.StatusRequestTimeout { // 408 on a slow machine
				t.Errorf("%s: %d, want %d", what, got, want)
			}
		}
		for what, request := range map[string]struct {
			path string
			body apptest.Object
		}{
			"key":        {"/api-keys", apptest.Object{"name": "Later", "scopes": []string{"team.read"}}},
			"invitation": {"/team/invitations", apptest.Object{"email": "friend@example.com", "role": "admin"}},
			"endpoint":   {"/webhook-endpoints", apptest.Object{"url": s.URL + "/sandbox/hooks/in/x", "events": []string{"*"}}},
			"role":       {"/roles", apptest.Object{"name": "Later", "permissions": []string{"team.manage"}}},
		} {
			token, path := admin()
			finish := holdBack(s, "POST", ada.Path(request.path), token, request.body)
			s.Call("DELETE", path, ada.Token, nil).Want(200)
			check("a removed admin makes: "+what, 403, finish)
		}
		roles := map[any]any{}
		for _, role := range s.Call("GET", ada.Path("/team/roles"), ada.Token, nil).Want(200).At("data").([]any) {
			roles[role.(map[string]any)["name"]] = role.(map[string]any)["id"]
		}
		token, path := admin()
		_, friend := s.Join(ada, "Fay", "fay@example.com", "member")
		finish := holdBack(s, "PATCH", ada.Path("/team/members/"+apptest.IDText(float64(friend))+"/role"), token, apptest.Object{"role_id": roles["admin"]})
		invite := holdBack(s, "POST", ada.Path("/team/invitations"), token, apptest.Object{"email": "x@example.com", "role": "member"})
		s.Call("PATCH", path+"/role", ada.Token, apptest.Object{"role_id": roles["member"]}).Want(200)
		check("a former admin promotes a friend", 403, finish)
		check("a former admin invites", 403, invite)

		stolen := s.LogIn("ada@example.com")
		finish = holdBack(s, "POST", ada.Path("/api-keys"), stolen, usageWrite)
		push := holdBack(s, "POST", "/api/v1/push-subscriptions", stolen, apptest.Object{"endpoint": "https://push.example.com/x", "keys": apptest.Object{
			"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", "auth": "tBHItJI5svbpez7KI4CCXg",
		}})
		s.Call("DELETE", "/api/v1/user/sessions", ada.Token, nil).Want(204)
		check("an ended login makes a key", 401, finish)
		check("an ended login subscribes a browser", 401, push)

		id, secret := makeKey(s, ada, "usage.write")
		finish = holdBack(s, "POST", ada.Path("/usage"), secret, apptest.Object{"meter_code": "api-calls", "quantity": 7})
		s.Call("DELETE", ada.Path("/api-keys/"+id), ada.Token, nil).Want(204)
		check("a revoked key records usage", 401, finish)

		platform := s.Admin()
		restrict := func(permissions string) {
			apptest.Exec(t, s.DB(), `UPDATE users SET platform_permissions = $1 WHERE id = $2`, permissions, s.UserID(platform))
		}
		restrict(`["users.password"]`)
		finish = holdBack(s, "PATCH", "/api/v1/admin/tenants/"+ada.Tenant+"/members/"+apptest.IDText(float64(friend)), platform, apptest.Object{"password": "set by an admin 1"})
		restrict(`["plans.view"]`)
		check("an admin without the permission sets a password", 403, finish)
		restrict(`["api_keys.manage","tenants.view"]`)
		finish = holdBack(s, "POST", platformKeys, platform, apptest.Object{"name": "Later", "scopes": []string{"tenants.read"}})
		restrict(`["plans.view"]`)
		check("an admin without the permission makes a key of the platform", 403, finish)

		if n := s.CountRows(`SELECT count(*) FROM api_keys WHERE name = 'Later'`); n != 0 {
			t.Errorf("%d keys were created", n)
		}
	})
}

// If two admins remove each other concurrently, the second request fails with status 403.
func TestTwoAdminsRemoveEachOther(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		for i := range 3 {
			var tokens, paths [2]string
			for k := range 2 {
				token, id := s.Join(ada, "Mal", fmt.Sprintf("mal%d-%d@example.com", i, k), "admin")
				tokens[k], paths[1-k] = token, ada.Path("/team/members/"+apptest.IDText(float64(id)))
			}
			var statuses [2]int
			var both sync.WaitGroup
			for k := range 2 {
				r := s.NewRequest("DELETE", paths[k], tokens[k], nil)
				both.Go(func() { statuses[k] = s.Do(r).Status })
			}
			both.Wait()
			slices.Sort(statuses[:])
			if statuses != [2]int{200, 403} {
				t.Errorf("%v", statuses)
			}
		}
	})
}

// Callers can only create and rotate keys whose scopes they could use in person.
func TestScopesOfTheMaker(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		all := s.Admin()
		body := func(scopes ...string) apptest.Object { return apptest.Object{"name": "Key", "scopes": scopes} }
		writer := s.Call("POST", platformKeys, all, body("usage.write", "tenants.read")).Want(201).Str("data.id")
		restricted := s.Admin()
		restrict := func(permissions string) {
			apptest.Exec(t, s.DB(), `UPDATE users SET platform_permissions = $1 WHERE id = $2`, permissions, s.UserID(restricted))
		}
		restrict(`["api_keys.manage"]`)
		for _, scope := range authz.PlatformScopes() {
			s.Call("POST", platformKeys, restricted, body(scope)).As(scope).WantRefused(403, "")
		}
		s.Call("POST", platformKeys, restricted, body("no.scope")).WantInvalid("scopes.0")
		restrict(`["api_keys.manage","tenants.view"]`)
		reader := s.Call("POST", platformKeys, restricted, body("team.read", "tenants.read")).Want(201).Str("data.id")
		s.Call("POST", platformKeys, restricted, body("usage.read", "usage.write")).WantRefused(403, "")
		s.Call("POST", platformKeys+"/"+writer+"/rotate", restricted, nil).WantRefused(403, "")
		s.Call("POST", platformKeys+"/"+reader+"/rotate", restricted, nil).Want(201)
		restrict(`["api_keys.manage","limits.manage","tenants.manage","tenants.view"]`)
		s.Call("POST", platformKeys+"/"+writer+"/rotate", restricted, nil).Want(201)
		s.Call("POST", platformKeys, restricted, body("tenants.write", "limits.write")).Want(201)
		s.Call("POST", platformKeys, restricted, body("credit.write")).WantRefused(403, "")
		restrict(`["api_keys.manage","billing.credit"]`)
		s.Call("POST", platformKeys, restricted, body("credit.write")).Want(201)
		restrict(`["api_keys.manage","limits.manage","tenants.manage","tenants.view"]`)
		s.Call("POST", platformKeys, restricted, body("subscriptions.write")).WantRefused(403, "")
		s.Call("POST", platformKeys, restricted, body("catalog.read")).WantRefused(403, "")
		restrict(`["api_keys.manage","billing.manage","currencies.manage","features.view","meters.manage","plans.view","products.view","subscriptions.manage","tenants.manage"]`)
		s.Call("POST", platformKeys, restricted, body("subscriptions.write", "catalog.read")).Want(201)

		for _, r := range s.Routes() {
			ofTenant := slices.Contains(authz.TenantScopes(), r.KeyScope)
			if ofTenant && r.Scope == "tenant" && r.Permission != "" && r.Permission != authz.TenantPermissionOf(r.KeyScope) {
				t.Errorf("%s %s: a key can call the route, but its creator lacks the permission", r.Method, r.Path)
			}
		}
		ada := s.Register("ada@example.com", true)
		s.CreateRole(ada, "Developer", "api_keys.manage")
		developer, _ := s.Join(ada, "Dev", "dev@example.com", "Developer")
		books, _ := makeKey(s, ada, "invoices.read")
		s.Call("POST", ada.Path("/api-keys"), developer, body("invoices.read", "usage.read")).WantRefused(403, "")
		s.Call("POST", ada.Path("/api-keys/"+books+"/rotate"), developer, nil).WantRefused(403, "")
		s.Call("POST", ada.Path("/api-keys/"+books+"/rotate"), ada.Token, nil).Want(201)
		s.Call("POST", ada.Path("/api-keys"), developer, body("entitlements.read", "subscription.read", "team.read", "usage.read", "usage.write")).Want(201)
	})
}

// A page has at most 100 keys. Rotations with an overlap count toward the key limit.
func TestPagesOfKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		list := ada.Path("/api-keys")
		for range 2 {
			id, _ := makeKey(s, ada, "usage.read")
			s.Call("DELETE", ada.Path("/api-keys/"+id), ada.Token, nil).Want(204)
		}
		last, _ := makeKey(s, ada, "usage.read")
		s.Call("GET", list, ada.Token, nil).Want(200).WantAt("meta.total", float64(3)).WantAt("meta.per_page", float64(100)).WantAt("data.0.id", last)
		second := s.Call("GET", list+"?per_page=2&page=2", ada.Token, nil).Want(200)
		if len(second.Column("id")) != 1 || second.At("links.next") != nil || !strings.HasPrefix(second.Str("links.prev"), s.URL+list+"?") {
			t.Errorf("%s", second.Text)
		}
		s.Call("GET", list+"?per_page=101", ada.Token, nil).WantInvalid("per_page")
		s.Call("GET", platformKeys+"?page=0", s.Admin(), nil).WantInvalid("page")

		rotated := 0
		for ; rotated < 60; rotated++ {
			a := s.Call("POST", ada.Path("/api-keys/"+last+"/rotate"), ada.Token, apptest.Object{"overlap_minutes": 10_080})
			if a.Status != 201 {
				a.WantInvalid("overlap_minutes")
				break
			}
			last = a.Str("data.id")
		}
		if rotated != 49 {
			t.Errorf("%d rotations with an overlap, want 49: 50 keys live", rotated)
		}
		s.Call("POST", ada.Path("/api-keys/"+last+"/rotate"), ada.Token, nil).Want(201)
	})
}

// All keys of a tenant share a rate limit of five times the limit of one key. A batch counts as its
// number of events.
func TestLimitsOfAllKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		passed, path := 0, ada.Path("/team/stats")
		for range 7 {
			_, secret := makeKey(s, ada, "team.read")
			for range 4 {
				if s.Call("GET", path, secret, nil).Status == 200 {
					passed++
				}
			}
		}
		if passed != 20 {
			t.Errorf("%d requests passed, want 5 times 4", passed)
		}
		_, other := makeKey(s, bob, "team.read", "usage.write")
		s.Call("GET", bob.Path("/team/stats"), other, nil).Want(200)

		batch := func(n int) apptest.Reply {
			events := make([]apptest.Object, n)
			for i := range events {
				events[i] = apptest.Object{"meter_code": "api-calls", "quantity": 1}
			}
			return s.Call("POST", bob.Path("/usage/batch"), other, apptest.Object{"events": events})
		}
		batch(6).Want(200)
		batch(5).Want(429)
		batch(3).Want(200)
		record(s, bob, other).Want(429)
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{"default": 4, "usage": 10} })
}
