package blackbox_test

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestUpdateTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		all := map[string]any{
			"name": "Babbage & Co", "slug": "Babbage_and-Co", "settings": map[string]any{"theme": map[string]any{"dark": true}},
			"legal_name": "Babbage Ltd", "address": "1 Dorset Street", "city": "Roma", "postal_code": "00100", "country": "IT",
			"vat_number": "IT12345678901", "billing_email": "bills@example.com",
		}
		a := s.Call("PATCH", "/api/v1/tenant", ada.Token, all).Want(200)
		if a.At("message") != "tenant.updated" || len(a.Body) != 2 {
			t.Errorf("answer: %s", a.Text)
		}
		shown := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200)
		for key, want := range all {
			if diff := cmp.Diff(want, a.At("tenant."+key)); diff != "" {
				t.Errorf("answer: %s: %s", key, diff)
			}
			if diff := cmp.Diff(want, shown.At("data."+key)); diff != "" {
				t.Errorf("stored: %s: %s", key, diff)
			}
		}
		if a.Str("tenant.updated_at") == a.Str("tenant.created_at") {
			t.Error("updated_at did not change")
		}

		// Absent fields are unchanged. Null clears nullable fields, and so does an empty string.
		s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{}).Want(200)
		a = s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{
			"settings": nil, "legal_name": nil, "address": nil, "city": "", "postal_code": nil, "country": nil, "vat_number": nil, "billing_email": nil,
		}).Want(200)
		for key := range all {
			want := map[string]any{"name": "Babbage & Co", "slug": "Babbage_and-Co"}[key]
			if got := a.At("tenant." + key); got != want {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		if a.At("tenant.has_billing_details") != false {
			t.Errorf("billing details: %s", a.Text)
		}
	})
}

func TestUpdateTenantRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		taken := s.Call("GET", "/api/v1/tenant", eve.Token, nil).Want(200).Str("data.slug")
		long := func(n int) string { return strings.Repeat("x", n) }
		for name, tt := range map[string]struct {
			field string
			value any
		}{
			"name null": {"name", nil}, "name empty": {"name", " "}, "name long": {"name", long(256)}, "name a number": {"name", 5},
			"slug null": {"slug", nil}, "slug empty": {"slug", ""}, "slug long": {"slug", long(256)}, "slug space": {"slug", "a b"},
			"slug dot": {"slug", "a.b"}, "slug accent": {"slug", "é"}, "slug newline": {"slug", "a\nb"}, "slug taken": {"slug", taken},
			"settings text": {"settings", "x"}, "settings list": {"settings", []any{}}, "settings number": {"settings", 1},
			"legal_name long": {"legal_name", long(256)}, "address long": {"address", long(501)}, "city long": {"city", long(256)},
			"postal_code long": {"postal_code", long(21)}, "vat_number long": {"vat_number", long(51)},
			"country long": {"country", "DEU"}, "country lower": {"country", "de"}, "country digits": {"country", "D1"}, "country none": {"country", "ZZ"},
			"billing_email": {"billing_email", "nobody"}, "billing_email long": {"billing_email", long(250) + "@example.com"},
		} {
			a := s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{tt.field: tt.value})
			errs, _ := a.At("errors").(map[string]any)
			if a.Status != 422 || errs[tt.field] == nil || len(errs) != 1 {
				t.Errorf("%s: %d %s", name, a.Status, a.Text)
			}
		}
		// Values of the maximum length are accepted, and so is the tenant's own slug. VAT numbers
		// of other countries can have any format.
		s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{"country": "US"}).Want(200)
		for field, n := range map[string]int{"name": 255, "slug": 255, "legal_name": 255, "address": 500, "city": 255, "postal_code": 20, "vat_number": 50} {
			s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{field: long(n)}).Want(200)
		}
		s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{"slug": long(255)}).Want(200)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, `{`).Want(400)
	})
}

// If two tenants take the same slug concurrently, only one gets it.
func TestSlugRace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		owners := []apptest.Owner{s.Register("ada@example.com", true), s.Register("eve@example.com", true)}
		for round := range 20 {
			statuses := make([]int, len(owners))
			var wg sync.WaitGroup
			for i, o := range owners {
				wg.Go(func() {
					statuses[i] = s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"slug": "slug-" + strconv.Itoa(round)}).Status
				})
			}
			wg.Wait()
			slices.Sort(statuses)
			if !slices.Equal(statuses, []int{200, 422}) {
				t.Fatalf("statuses %v", statuses)
			}
		}
	})
}

func TestAdminTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Admin()
		ada, eve := s.Register("ada@example.com", true), s.Register("eve@example.com", false)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, map[string]any{"name": "Ünter 100%_Wäsche"}).Want(200)
		s.BuyPlan(ada, "starter")
		s.Run(t, "a list is searched, sorted and divided into pages", func(t *testing.T, s *apptest.Server) { adminTenantList(t, s, token) })
		s.Run(t, "a tenant has its subscription, owner and roles", func(t *testing.T, s *apptest.Server) { adminTenantResource(t, s, token, ada, eve) })
		s.Run(t, "an admin changes the same fields as the tenant, except the slug", func(t *testing.T, s *apptest.Server) { adminChangesTenant(t, s, token, eve) })
		s.Run(t, "a search returns tenants with their roles", func(t *testing.T, s *apptest.Server) { adminTenantSearch(t, s, token, eve) })
	})
}

func adminTenantList(t *testing.T, s *apptest.Server, token string) {
	names := func(query string) []any {
		t.Helper()
		list, _ := s.Call("GET", "/api/v1/admin/tenants"+query, token, nil).Want(200).At("data").([]any)
		names := []any{}
		for _, e := range list {
			names = append(names, e.(map[string]any)["name"])
		}
		return names
	}
	for query, want := range map[string][]any{
		"":                        {"Ada's Organization", "Ünter 100%_Wäsche", "Acme"}, // Eve's account is also named Ada
		"?search=ORGANI":          {"Ada's Organization"},
		"?search=ÜNTER":           {"Ünter 100%_Wäsche"},
		"?search=%25_w":           {"Ünter 100%_Wäsche"},
		"?search=%25":             {"Ünter 100%_Wäsche"},
		"?search=nobody":          {},
		"?search=":                {"Ada's Organization", "Ünter 100%_Wäsche", "Acme"},
		"?per_page=1":             {"Ada's Organization"},
		"?per_page=1&page=3":      {"Acme"},
		"?per_page=100&search=ac": {"Acme"},
		"?sort=name":              {"Acme", "Ada's Organization", "Ünter 100%_Wäsche"},
		"?sort=-name&per_page=2":  {"Ünter 100%_Wäsche", "Ada's Organization"},
	} {
		if diff := cmp.Diff(want, names(query)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	for query, status := range map[string]int{
		"?per_page=0": 422, "?per_page=101": 422, "?page=0": 422, "?filter[name]=x": 400, "?sort=slug": 400,
		"?search=" + strings.Repeat("x", 256): 422,
	} {
		if a := s.Call("GET", "/api/v1/admin/tenants"+query, token, nil); a.Status != status {
			t.Errorf("%s: %d %s", query, a.Status, a.Text)
		}
	}
	page := s.Call("GET", "/api/v1/admin/tenants?per_page=1&search=a", token, nil).Want(200)
	if page.At("meta.total") != 2.0 || !strings.Contains(page.Str("links.next"), "/api/v1/admin/tenants?page=2&per_page=1&search=a") {
		t.Errorf("page: %s", page.Text)
	}
}

func adminTenantResource(t *testing.T, s *apptest.Server, token string, ada, eve apptest.Owner) {
	roles := []string{"admin", "member", "owner"}
	shown := s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, token, nil).Want(200).At("data").(map[string]any)
	for _, r := range shown["roles"].([]any) {
		role := r.(map[string]any)
		if role["name"] != roles[0] || role["id"] == nil || len(role) != 2 {
			t.Errorf("role %v, want %v", role, roles[0])
		}
		roles = roles[1:]
	}
	want := map[string]any{
		"id": ada.Tenant, "name": "Ünter 100%_Wäsche", "slug": shown["slug"], "external_id": nil, "metadata": map[string]any{}, "legal_name": "Analytical Engines Ltd",
		"address": "12 St James Square", "city": "London", "postal_code": "SW1Y 4JH", "country": "GB", "vat_number": nil, "vat_status": "none", "vat_name": nil,
		"billing_email": "billing@example.com", "owner": map[string]any{"id": float64(s.UserID(ada.Token)), "name": "Ada", "email": "ada@example.com", "external_id": nil},
		"member_count": 1.0, "subscription_status": "active", "plan_name": "Starter", "onboarding_completed_at": shown["onboarding_completed_at"],
		"created_at": shown["created_at"], "roles": shown["roles"],
		"mrr": map[string]any{"amount_cents": 1900.0, "currency": "EUR"}, "mrr_base": nil, "trial_ends_at": nil, "open_amount": []any{}, "last_activity_at": shown["last_activity_at"],
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("the resource: %s", diff)
	}
	fresh := s.Call("GET", "/api/v1/admin/tenants/"+eve.Tenant, token, nil).Want(200)
	for _, key := range []string{"subscription_status", "plan_name", "onboarding_completed_at", "legal_name"} {
		if v, there := fresh.At("data").(map[string]any)[key]; v != nil || !there {
			t.Errorf("%s of a fresh tenant is %v", key, v)
		}
	}
	for _, id := range []string{"01990000-0000-7000-8000-000000000000", "x", "1"} {
		s.Call("GET", "/api/v1/admin/tenants/"+id, token, nil).Want(404)
		s.Call("PATCH", "/api/v1/admin/tenants/"+id, token, map[string]any{"name": 5}).Want(404)
	}
}

func adminChangesTenant(t *testing.T, s *apptest.Server, token string, eve apptest.Owner) {
	fresh := s.Call("GET", "/api/v1/admin/tenants/"+eve.Tenant, token, nil).Want(200)
	changed := s.Call("PATCH", "/api/v1/admin/tenants/"+eve.Tenant, token, map[string]any{
		"name": "Eve", "slug": "eve", "settings": map[string]any{"a": 1}, "country": "IT", "city": nil,
	}).Want(200)
	if changed.At("data.name") != "Eve" || changed.At("data.slug") != fresh.At("data.slug") || changed.At("data.country") != "IT" {
		t.Errorf("changed: %s", changed.Text)
	}
	s.Call("PATCH", "/api/v1/admin/tenants/"+eve.Tenant, token, map[string]any{"country": "it"}).Want(422)
	last := s.AuditLog(url.Values{"filter[tenant]": {eve.Tenant}})
	if last.At("data.0.action") != "tenant.updated" || last.At("data.0.actor_id") != float64(s.UserID(token)) {
		t.Errorf("trail: %s", last.Text)
	}
}

func adminTenantSearch(t *testing.T, s *apptest.Server, token string, eve apptest.Owner) {
	found := s.Call("GET", "/api/v1/admin/tenants/search-with-roles?search=EVE", token, nil).Want(200)
	one, _ := found.At("data.0").(map[string]any)
	if len(found.At("data").([]any)) != 1 || one["id"] != eve.Tenant || one["name"] != "Eve" || len(one["roles"].([]any)) != 3 || len(one) != 3 {
		t.Errorf("search-with-roles: %s", found.Text)
	}
	s.Call("GET", "/api/v1/admin/tenants/search-with-roles", token, nil).Want(422)
	s.Call("GET", "/api/v1/admin/tenants/search-with-roles?search=", token, nil).Want(422)
}

// Names are stored and searched in one normal form, however their accents are encoded.
func TestNamesAreNFC(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Admin()
		o := s.Register("ada@example.com", true)
		for _, name := range []string{"Caf\u00e9 \u00c5ngstr\u00f6m", "Cafe\u0301 A\u030angstro\u0308m"} {
			s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"name": name, "settings": map[string]any{"motto": name}}).Want(200)
			mine := s.Call("GET", "/api/v1/tenant", o.Token, nil).Want(200)
			if got, motto := mine.Str("data.name"), mine.Str("data.settings.motto"); got != "Caf\u00e9 \u00c5ngstr\u00f6m" || motto != got {
				t.Errorf("%+q is stored as %+q and %+q", name, got, motto)
			}
			for _, search := range []string{"caf\u00e9", "CAFE\u0301", "A\u030angstr\u00f6m"} {
				found := s.Call("GET", "/api/v1/admin/tenants?search="+url.QueryEscape(search), token, nil).Want(200)
				if found.At("meta.total") != 1.0 {
					t.Errorf("%+q, searched by %+q: %s", name, search, found.Text)
				}
			}
		}
	})
}

// The admin list by name is sorted in the reader's language, on every page.
func TestTenantsByName(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		for i, name := range []string{"Zoe", "\u00c9mile", "Nzinga", "emil", "\u00d1and\u00fa", "Ada", "\u00c5ngstr\u00f6m", "Odell"} {
			o := s.Register("owner"+strconv.Itoa(i)+"@example.com", true)
			s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"name": name}).Want(200)
		}
		list := func(locale, query string) (names []any) {
			for _, page := range []string{"1", "2", "3"} {
				r := s.NewRequest("GET", "/api/v1/admin/tenants?per_page=3&page="+page+"&sort="+query, admin, nil)
				r.Header.Set("Accept-Language", locale)
				names = append(names, s.Do(r).Want(200).Column("name")...)
			}
			return names
		}
		want := []any{"Acme", "Ada", "\u00c5ngstr\u00f6m", "emil", "\u00c9mile", "\u00d1and\u00fa", "Nzinga", "Odell", "Zoe"}
		for _, locale := range []string{"en", "fr", "it"} {
			if diff := cmp.Diff(want, list(locale, "name")); diff != "" {
				t.Errorf("%s: %s", locale, diff)
			}
		}
		want[5], want[6] = want[6], want[5] // in Spanish \u00f1 follows n
		if diff := cmp.Diff(want, list("es", "name")); diff != "" {
			t.Errorf("es: %s", diff)
		}
		slices.Reverse(want)
		if diff := cmp.Diff(want, list("es", "-name")); diff != "" {
			t.Errorf("es, descending: %s", diff)
		}
	})
}
