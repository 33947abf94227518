package blackbox_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func find(s *apptest.Server, token, path, q string) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", path+"?q="+url.QueryEscape(q), token, nil).As("search " + q)
}

// titles returns the titles of a group.
func titles(a apptest.Reply, group string) []string {
	list, ok := a.Want(200).At("data." + group).([]any)
	if !ok {
		a.T.Fatalf("no group %s: %s", group, a.Text)
	}
	out := []string{}
	for _, one := range list {
		out = append(out, one.(object)["title"].(string))
	}
	return out
}

const across = "/api/v1/admin/search"

// Tenants are found by their ID, name, slug, external ID, members' emails and verified domains,
// ignoring case and accents. An exact match is first.
func TestSearchAcrossTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada, eve := s.Register("ada@first.example", true), s.Register("eve@second.example", true)
		s.Call("PATCH", "/api/v1/admin/tenants/"+ada.Tenant, admin, object{"name": "Ünter-Wäsche GmbH", "external_id": "crm_77"}).Want(200)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"slug": "waesche"}).Want(200)
		s.Call("PATCH", "/api/v1/tenant", eve.Token, object{"name": "Waesche Crm", "slug": "crm"}).Want(200)
		apptest.Exec(t, s.DB(), `INSERT INTO tenant_domains (id, tenant_id, domain, status, token, role_id, created_at, updated_at)
			SELECT $1, $2, 'proved.example', 'verified', 'x', r.id, r.created_at, r.created_at FROM roles r WHERE r.name = 'member' AND r.tenant_id IS NULL`, apptest.NoSuchID, ada.Tenant)
		apptest.Exec(t, s.DB(), `INSERT INTO search_words (kind, id, tenant_id, word, is_whole) VALUES ('domain', $1, $2, 'proved.example', true), ('domain', $1, $2, 'proved', false)`, apptest.NoSuchID, ada.Tenant)
		for _, q := range []string{"unter", "WASCHE gmbh", "gmbh un", "waesch gmbh", "crm_77", "crm 77", ada.Tenant, ada.Tenant[:23], "ada@first.example", "ada@fir", "first ada", "proved", "unter - gmbh", "& wäsche – GmbH &"} {
			if got := titles(find(s, admin, across, q), "tenants"); !slices.Contains(got, "Ünter-Wäsche GmbH") {
				t.Errorf("%q finds %v", q, got)
			}
			if got := list(s, admin, "tenants", "filter[search]", q).Want(200).Column("id"); !slices.Contains(got, any(ada.Tenant)) {
				t.Errorf("the list finds %v for %q", got, q)
			}
		}
		for _, q := range []string{"nter", "gmbh acme", "--", "- &", "gmbh & acme", "77_crm first nothing"} {
			if got := titles(find(s, admin, across, q), "tenants"); len(got) != 0 {
				t.Errorf("%q finds %v", q, got)
			}
			list(s, admin, "tenants", "filter[search]", q).Want(200).WantAt("data", []any{})
		}
		if diff := cmp.Diff([]string{"Waesche Crm", "Ünter-Wäsche GmbH"}, titles(find(s, admin, across, "crm"), "tenants")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"Ünter-Wäsche GmbH", "Waesche Crm"}, titles(find(s, admin, across, "waesche"), "tenants")); diff != "" {
			t.Error(diff)
		}
		a := find(s, admin, across, "crm_77")
		a.WantAt("data.tenants.0", object{"id": ada.Tenant, "title": "Ünter-Wäsche GmbH", "subtitle": "waesche", "url": "/platform/tenants/" + ada.Tenant, "status": nil})
		for _, group := range []string{"users", "plans", "meters", "invoices", "api_keys"} {
			a.WantAt("data."+group, []any{})
		}
		a = find(s, admin, across, "eve@second.example")
		if a.Str("data.users.0.subtitle") != "eve@second.example" || a.Str("data.users.0.url") != "/platform/tenants/"+eve.Tenant+"/people" {
			t.Errorf("user: %s", a.Text)
		}
		for _, q := range []string{"", " a ", strings.Repeat("x", 101)} {
			find(s, admin, across, q).WantInvalid("q")
		}

		// Every change updates the words.
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"name": "Renamed"}).Want(200)
		if got := titles(find(s, admin, across, "gmbh"), "tenants"); len(got) != 0 {
			t.Errorf("the old name finds %v", got)
		}
	})
}

// A search also finds meters, invoices, API keys and plans. A restricted admin finds only permitted
// groups.
func TestSearchGroups(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		admin := k.Token
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		s.AwaitNotifications()
		number := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).Str("data.0.number")
		id := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).Str("data.0.id")
		key := s.Call("POST", ada.Path("/api-keys"), ada.Token, object{"name": "Nightly export", "scopes": []any{"usage.read"}})
		key.Want(201)
		meter := s.Call("POST", "/api/v1/admin/meters", admin, object{"code": "zebra-calls", "name": "Zebra calls", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "soft"})
		meter.Want(201)
		if got := titles(find(s, admin, across, "zebra-calls"), "meters"); !slices.Equal(got, []string{"Zebra calls"}) {
			t.Errorf("meters: %v", got)
		}
		a := find(s, admin, across, number)
		a.WantAt("data.invoices.0", object{"id": id, "title": number, "subtitle": "Ada's Organization", "url": "/platform/tenants/" + ada.Tenant + "/invoices/" + id, "status": "paid"})
		if got := titles(find(s, admin, across, id), "invoices"); !slices.Equal(got, []string{number}) {
			t.Errorf("by ID: %v", got)
		}
		if got := titles(find(s, admin, across, "export night"), "api_keys"); !slices.Equal(got, []string{"Nightly export"}) {
			t.Errorf("keys: %v", got)
		}
		if got := titles(find(s, admin, across, "starter"), "plans"); len(got) == 0 || got[0] != "Starter" {
			t.Errorf("plans: %v", got)
		}
		own := ada.Path("/search")
		find(s, ada.Token, own, number).WantAt("data.invoices.0.url", "/invoices/"+id)
		if got := titles(find(s, ada.Token, own, "nightly"), "api_keys"); len(got) != 1 {
			t.Errorf("own keys: %v", got)
		}
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		if got := titles(find(s, bob, own, "example"), "members"); !slices.Equal(got, []string{"Ada", "Bob"}) {
			t.Errorf("members: %v", got)
		}
		if find(s, bob, own, "nightly").Want(200).At("data.api_keys") != nil {
			t.Error("a member without permission finds keys")
		}

		// Another tenant finds none of these objects.
		eve := s.Register("eve@example.com", true)
		s.Call("PATCH", "/api/v1/user", eve.Token, object{"name": "Eve"}).Want(200)
		for _, q := range []string{number, id, "nightly", "ada@example.com"} {
			a := find(s, eve.Token, eve.Path("/search"), q)
			for _, group := range []string{"members", "invoices", "api_keys"} {
				a.WantAt("data."+group, []any{})
			}
		}

		apptest.Exec(t, s.DB(), `UPDATE users SET platform_permissions = '["tenants.view"]' WHERE is_platform_admin`)
		a = find(s, admin, across, "starter").Want(200)
		for _, group := range []string{"plans", "meters", "api_keys"} {
			if _, isThere := a.At("data").(object)[group]; isThere {
				t.Errorf("%s without permission: %s", group, a.Text)
			}
		}
	})
}

// International domains are stored in punycode, and found in both forms, with and without accents.
func TestSearchByInternationalDomains(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@müller.test", true)
		list(s, admin, "users", "filter[email]", "ada@xn--mller-kva.test").Want(200).WantAt("data.0.id", float64(s.UserID(ada.Token)))
		s.Register("ada@muell.test", true)
		for _, q := range []string{"ada@müller.test", "Ada@MÜLLER.test", "ada@muller.test", "ada@mül", "müller", "ada@xn--mller-kva.test"} {
			for group, title := range map[string]string{"tenants": "Ada's Organization", "users": "Ada"} {
				if got := titles(find(s, admin, across, q), group); !slices.Equal(got, []string{title}) {
					t.Errorf("%q finds %s %v", q, group, got)
				}
			}
			if got := titles(find(s, ada.Token, ada.Path("/search"), q), "members"); !slices.Equal(got, []string{"Ada"}) {
				t.Errorf("%q finds members %v", q, got)
			}
			for path, want := range map[string]any{"tenants": ada.Tenant, "users": float64(s.UserID(ada.Token))} {
				wantColumn(t, list(s, admin, path, "filter[search]", q), "id", want)
			}
			members := s.Call("GET", ada.Path("/team/members?search="+url.QueryEscape(q)), ada.Token, nil).As("members " + q).Want(200)
			if len(members.At("data").([]any)) != 1 {
				t.Errorf("%q: %s", q, members.Text)
			}
		}
	})
}

// A key of a deleted tenant is rejected, and shown as inactive until the tenant is restored.
func TestSearchKeysOfDeletedTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		key := s.Call("POST", ada.Path("/api-keys"), ada.Token, object{"name": "Nightly export", "scopes": []any{"usage.read"}}).Want(201)
		wantStatus := func(status string) {
			t.Helper()
			find(s, admin, across, key.Str("data.prefix")).Want(200).WantAt("data.api_keys.0.id", key.Str("data.id")).WantAt("data.api_keys.0.status", status)
		}
		wantStatus("active")
		s.Call("DELETE", ada.Path(""), ada.Token, object{"current_password": "correct horse"}).Want(204)
		s.Call("GET", ada.Path("/usage/quotas"), key.Str("data.secret"), nil).Want(401)
		wantStatus("inactive")
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/restore", admin, nil).Want(200)
		wantStatus("active")
	})
}

// The last activity of a tenant is the last activity of a member. An admin who impersonates a
// member does not count.
func TestLastActivity(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200)
		path := "/api/v1/admin/tenants/" + ada.Tenant
		apptest.Eventually(t, "the activity", func() bool {
			return s.Call("GET", path, admin, nil).Want(200).At("data.last_activity_at") != nil
		})
		first := list(s, admin, "tenants", "sort", "-last_activity_at").Want(200)
		if first.At("data.0.id") != ada.Tenant {
			t.Errorf("first: %s", first.Text)
		}
	})
}

// A query can have any number of words, and an object must have each of them.
func TestSearchForManyWords(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@first.example", true)
		const name = "qa wb ec rd te yf ug ih oj pk al sm dn fo gp hq jr ks lt zu xv cw vx by nz"
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"name": name}).Want(200)
		s.Call("PATCH", "/api/v1/user", ada.Token, object{"name": name}).Want(200)
		s.Call("POST", ada.Path("/api-keys"), ada.Token, object{"name": name, "scopes": []any{"usage.read"}}).Want(201)
		for q, want := range map[string][]any{name: {"found"}, strings.ReplaceAll(name, " ", "-"): {"found"}, name + " no": nil, "no " + name: nil} {
			for list, group := range map[string]string{"tenants": "tenants", "users": "users"} {
				got := s.Call("GET", "/api/v1/admin/"+list+"?filter[search]="+url.QueryEscape(q), admin, nil).Want(200).Column("name")
				if len(got) != len(want) || len(titles(find(s, admin, across, q), group)) != len(want) {
					t.Errorf("%s for %q: %v", list, q, got)
				}
			}
			a := find(s, ada.Token, ada.Path("/search"), q)
			if len(titles(a, "members")) != len(want) || len(titles(a, "api_keys")) != len(want) {
				t.Errorf("members and keys for %q: %s", q, a.Text)
			}
		}
	})
}
