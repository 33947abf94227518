package blackbox_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

const adminTenants = "/api/v1/admin/tenants"

// newKey creates a platform key for a backend and returns its secret.
func newKey(s *apptest.Server) string {
	s.T.Helper()
	body := apptest.Object{"name": "Backend", "scopes": []string{"tenants.write", "tenants.read"}}
	return s.Call("POST", "/api/v1/admin/api-keys", s.Admin(), body).Want(201).Str("data.secret")
}

// The platform changes the external ID and the metadata of a tenant. The tenant can only read them.
func TestExternalIDAndMetadata(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		key := newKey(s)
		path := adminTenants + "/" + ada.Tenant
		change := func(body apptest.Object) apptest.Reply {
			t.Helper()
			return s.Call("PATCH", path, key, body)
		}
		s.Call("GET", path, key, nil).Want(200).WantAt("data.external_id", nil).WantAt("data.metadata", map[string]any{}).WantAt("data.owner.external_id", nil)
		change(apptest.Object{"external_id": "cus-1", "metadata": apptest.Object{"a": 1, "b": apptest.Object{"x": 1, "y": 2}, "<&>": "é"}}).Want(200).
			WantAt("data.external_id", "cus-1")
		// A change merges by top-level key.
		merged := map[string]any{"b": map[string]any{"z": float64(3)}, "<&>": "é", "c": false}
		change(apptest.Object{"metadata": apptest.Object{"a": nil, "b": apptest.Object{"z": 3}, "c": false, "unknown": nil}}).Want(200).WantAt("data.metadata", merged)
		change(apptest.Object{"name": "Other"}).Want(200).WantAt("data.metadata", merged).WantAt("data.external_id", "cus-1")
		s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200).WantAt("data.metadata", merged).WantAt("data.external_id", "cus-1")
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"external_id": "mine", "metadata": apptest.Object{"d": 1}}).Want(200).
			WantAt("tenant.metadata", merged).WantAt("tenant.external_id", "cus-1")

		// The external ID is unique and compared exactly.
		other := adminTenants + "/" + bob.Tenant
		s.Call("PATCH", other, key, apptest.Object{"external_id": "cus-1", "name": "Changed"}).WantInvalid("external_id")
		s.Call("PATCH", other, key, apptest.Object{"external_id": "CUS-1"}).Want(200)
		for what, body := range map[string]apptest.Object{
			"long": {"external_id": strings.Repeat("x", 256)}, "number": {"external_id": 1},
		} {
			change(body).As(what).WantInvalid("external_id")
		}
		for what, body := range map[string]apptest.Object{"text": {"metadata": "x"}, "list": {"metadata": []any{}}} {
			change(body).As(what).WantInvalid("metadata")
		}
		change(apptest.Object{"external_id": nil, "metadata": nil}).Want(200).WantAt("data.external_id", nil).WantAt("data.metadata", map[string]any{})
		s.Call("PATCH", other, key, apptest.Object{"external_id": "cus-1"}).Want(200)

		trail := s.AuditLog(map[string][]string{"filter[action]": {"tenant.updated"}}).Want(200)
		if trail.At("data.0.after.external_id") != "cus-1" || trail.At("data.0.api_key_id") == nil {
			t.Errorf("the audit trail: %s", trail.Text)
		}
	})
}

// After a change, the metadata has at most 16 KiB as compact JSON.
func TestSizeOfMetadata(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		key, path := newKey(s), adminTenants+"/"+ada.Tenant
		half := strings.Repeat("<", 8<<10-len(`{"a":"",`))
		s.Call("PATCH", path, key, apptest.Object{"metadata": apptest.Object{"a": half}}).Want(200)
		rest := strings.Repeat("é", (8<<10-len(`"b":""}`))/2) // two bytes each
		s.Call("PATCH", path, key, apptest.Object{"metadata": apptest.Object{"b": rest + "xx"}}).WantInvalid("metadata")
		full := s.Call("PATCH", path, key, apptest.Object{"metadata": apptest.Object{"b": rest}}).Want(200)
		s.Call("PATCH", path, key, apptest.Object{"metadata": apptest.Object{"c": true}}).WantInvalid("metadata")
		s.Call("GET", path, key, nil).Want(200).WantAt("data.metadata", full.At("data.metadata"))
		s.Call("PATCH", path, key, apptest.Object{"metadata": apptest.Object{"a": nil, "c": true}}).Want(200)
	})
}

// While a tenant is without an owner, the platform can choose one.
func TestAssignOwner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s)
		s.Register("ada@example.com", true)
		alone := s.RegisterAlone("Bob", "bob@example.com")
		path := adminTenants + "/" + s.Call("POST", adminTenants, key, apptest.Object{"name": "Engines"}).Want(201).Str("data.id")
		owner := func(email string) apptest.Object {
			return apptest.Object{"owner": apptest.Object{"email": email, "name": "Somebody", "external_id": "usr-1"}}
		}
		s.Call("PATCH", path, key, owner("ada@example.com")).WantRefused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
		s.Call("PATCH", path, key, owner("nobody")).WantInvalid("owner.email")
		s.Call("PATCH", path, key, apptest.Object{"owner": nil}).WantInvalid("owner")
		s.Call("GET", path, key, nil).Want(200).WantAt("data.owner", nil)
		s.Call("PATCH", path, key, owner("bob@example.com")).Want(200).WantAt("data.owner.name", "Bob").WantAt("data.owner.external_id", "usr-1").WantAt("data.member_count", float64(1))
		s.Call("GET", "/api/v1/tenant", alone, nil).Want(200).WantAt("data.user_role", "owner")
		for _, email := range []string{"bob@example.com", "cy@example.com"} {
			s.Call("PATCH", path, key, apptest.Object{"name": "Changed", "owner": apptest.Object{"email": email}}).WantInvalid("owner")
		}
		s.Call("GET", path, key, nil).Want(200).WantAt("data.name", "Engines")

		// If a tenant lacks an owner, a member can become the owner.
		endpoint := apptest.Object{"url": s.URL + "/sandbox/hooks/in/members", "events": []string{"member.joined", "member.role_changed"}}
		s.Call("POST", "/api/v1/admin/webhook-endpoints", s.Admin(), endpoint).Want(201)
		path = adminTenants + "/" + s.Call("POST", adminTenants, key, apptest.Object{"name": "Invited"}).Want(201).Str("data.id")
		s.Call("POST", path+"/invitations", key, apptest.Object{"email": "di@example.com", "role": "member"}).Want(201)
		di := s.RegisterAlone("Di", "di@example.com")
		s.Call("POST", "/api/v1/invitations/"+s.InvitationToken("di@example.com", 1)+"/accept", di, nil).Want(200)
		s.Call("PATCH", path, key, apptest.Object{"owner": apptest.Object{"email": "di@example.com"}}).Want(200).WantAt("data.owner.name", "Di")
		s.Call("GET", "/api/v1/tenant", di, nil).Want(200).WantAt("data.user_role", "owner")
		apptest.Eventually(t, "one event about joining and one about the new role", func() bool {
			text := s.Call("GET", "/sandbox/hooks/messages", "", nil).Want(200).Text
			return strings.Count(text, `"member.joined"`) == 1 && strings.Count(text, `"member.role_changed"`) == 1
		})

		// The invitation of the new owner counts as accepted and takes no second seat.
		path = adminTenants + "/" + s.Call("POST", adminTenants, key, apptest.Object{"name": "Owned"}).Want(201).Str("data.id")
		s.Call("POST", path+"/invitations", key, apptest.Object{"email": "eve@example.com", "role": "admin"}).Want(201)
		s.Call("PATCH", path, key, apptest.Object{"owner": apptest.Object{"email": "eve@example.com"}}).Want(200)
		s.Call("GET", path+"/invitations", key, nil).Want(200).WantAt("data.0.status", "accepted")
	})
}

// If several concurrent changes use the same external ID, one succeeds. If several owners are set
// concurrently for one tenant, one becomes the owner.
func TestConcurrentChangesByABackend(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s)
		const n = 5
		var paths [n]string
		for i := range paths {
			paths[i] = adminTenants + "/" + s.Call("POST", adminTenants, key, apptest.Object{"name": "Engines"}).Want(201).Str("data.id")
		}
		count := func(body func(i int) (path string, change apptest.Object)) (done int) {
			t.Helper()
			var statuses [n]int
			var all sync.WaitGroup
			for i := range n {
				path, change := body(i)
				r := s.NewRequest("PATCH", path, key, change)
				all.Go(func() { statuses[i] = s.Do(r).Status })
			}
			all.Wait()
			for _, status := range statuses {
				if status == 200 {
					done++
				} else if status != 422 {
					t.Errorf("%v", statuses)
				}
			}
			return done
		}
		if got := count(func(i int) (string, apptest.Object) { return paths[i], apptest.Object{"external_id": "cus-1"} }); got != 1 {
			t.Errorf("%d tenants got the external ID", got)
		}
		got := count(func(i int) (string, apptest.Object) {
			return paths[0], apptest.Object{"owner": apptest.Object{"email": "owner" + string(rune('a'+i)) + "@example.com"}}
		})
		if members := s.CountRows(`SELECT count(*) FROM memberships m WHERE m.tenant_id = $1`, strings.TrimPrefix(paths[0], adminTenants+"/")); got != 1 || members != 1 {
			t.Errorf("%d requests succeeded, %d members", got, members)
		}
		if users := s.CountRows(`SELECT count(*) FROM users WHERE email LIKE 'owner_@example.com'`); users != 1 {
			t.Errorf("%d accounts", users)
		}
	})
}

func TestFiltersOfTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		key := newKey(s)
		product := k.CreateProduct("shop")
		standard := k.CreatePricedPlan(product, "standard", map[string]int{"EUR": 0})
		k.CreatePricedPlan(product, "gift", map[string]int{"EUR": 0})
		ids := map[string]string{}
		for _, name := range []string{"b plain", "a gift", "c gone"} {
			body := apptest.Object{"name": name, "external_id": strings.ToUpper(name)}
			if name != "b plain" {
				body["plan_slug"], body["currency"] = "gift", "EUR"
			}
			ids[name] = s.Call("POST", adminTenants, key, body).Want(201).Str("data.id")
			s.Advance(time.Hour)
		}
		cancel := adminTenants + "/" + ids["c gone"] + "/subscriptions/"
		sub := s.Call("GET", strings.TrimSuffix(cancel, "/"), key, nil).Want(200).Str("data.0.id")
		s.Call("POST", cancel+sub+"/cancel", s.Admin(), apptest.Object{"immediately": true}).Want(200)
		list := func(query string) []string {
			t.Helper()
			var names []string
			for _, name := range s.Call("GET", adminTenants+"?"+query, key, nil).Want(200).Column("name") {
				if _, ours := ids[name.(string)]; ours {
					names = append(names, name.(string))
				}
			}
			return names
		}
		made := func(name string) string {
			return s.Call("GET", adminTenants+"/"+ids[name], key, nil).Want(200).Str("data.created_at")
		}
		check := func(query string, want ...string) {
			t.Helper()
			if got := list(query); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		check("", "c gone", "a gift", "b plain")
		check("sort=created_at", "b plain", "a gift", "c gone")
		check("sort=name", "a gift", "b plain", "c gone")
		check("filter[external_id]=A%20GIFT", "a gift")
		check("filter[external_id]=a%20gift")
		check("filter[plan]=gift", "a gift")
		check("filter[plan]=standard")
		check("filter[plan]=nowhere")
		check("filter[status]=active", "a gift")
		check("filter[status]=none", "c gone", "b plain")
		check("filter[status]=canceled", "c gone")
		check("filter[status]=trialing")
		check("filter[created_after]="+made("a gift"), "c gone", "a gift")
		check("filter[created_before]="+made("a gift"), "a gift", "b plain")
		check("filter[created_after]="+made("a gift")+"&filter[created_before]="+made("a gift")+"&search=GIFT", "a gift")
		s.Call("GET", adminTenants+"?filter[status]=gone", key, nil).WantInvalid("filter.status")
		s.Call("GET", adminTenants+"?filter[created_after]=x", key, nil).WantInvalid("filter.created_after")
		s.Call("GET", adminTenants+"?filter[name]=x", key, nil).WantRefused(400, "")
		s.Call("GET", adminTenants+"?sort=slug", key, nil).WantRefused(400, "")
		s.Call("GET", adminTenants+"?filter[plan]=gift&per_page=1", key, nil).Want(200).WantAt("meta.total", float64(1))

		// The filter for the default plan also includes tenants without a subscription.
		s.CatalogAdmin().AdminCall("PATCH", "/plans/"+standard, apptest.Object{"is_default": true}).Want(200)
		check("filter[plan]=standard", "c gone", "b plain")
		check("filter[plan]=gift", "a gift")
		check("filter[plan]=standard&filter[status]=none&sort=name", "b plain", "c gone")
	})
}

// Webhooks about a tenant contain the fields of the operator's backend.
func TestWebhooksCarryTheBackendsFields(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s)
		endpoint := apptest.Object{"url": s.URL + "/sandbox/hooks/in/backend", "events": []string{"tenant.created", "tenant.updated", "member.joined"}}
		s.Call("POST", "/api/v1/admin/webhook-endpoints", s.Admin(), endpoint).Want(201)
		made := s.Call("POST", adminTenants, key, apptest.Object{"name": "Engines", "external_id": "cus-1", "metadata": apptest.Object{"a": 1}}).Want(201)
		s.Call("PATCH", adminTenants+"/"+made.Str("data.id"), key, apptest.Object{
			"external_id": "cus-2", "owner": apptest.Object{"email": "ada@example.com"},
		}).Want(200)
		want := []string{
			`"type":"tenant.created"`, `"external_id":"cus-1"`, `"metadata":{"a":1}`, `"type":"tenant.updated"`, `"external_id":"cus-2"`, `"type":"member.joined"`,
		}
		apptest.Eventually(t, "the events", func() bool {
			text := strings.NewReplacer(`\"`, `"`, `": `, `":`).Replace(s.Call("GET", "/sandbox/hooks/messages", "", nil).Want(200).Text)
			return !slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(text, part) })
		})
	})
}
