package rest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
)

func TestGuards(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	own, other := "/api/v1/tenants/"+ownTenant.String(), "/api/v1/tenants/"+otherTenant.String()
	tests := map[string]struct {
		path, token string
		want        int
		code        string
	}{
		"user":                            {"/api/v1/me", "nobody", 204, ""},
		"nobody":                          {"/api/v1/me", "", 401, ""},
		"unknown token":                   {"/api/v1/me", "stolen", 401, ""},
		"tenant of one's own":             {"/api/v1/tenant", "fresh", 204, ""},
		"without a tenant":                {"/api/v1/tenant", "nobody", 400, "TENANT_CONTEXT_REQUIRED"},
		"member":                          {own + "/team", "member", 204, ""},
		"a tenant in upper case":          {"/api/v1/tenants/0190A0B0-0000-7000-8000-000000000001/team", "member", 204, ""},
		"not onboarded":                   {own + "/team", "fresh", 403, "ONBOARDING_INCOMPLETE"},
		"another's tenant":                {other + "/team", "owner", 403, ""},
		"a tenant that does not exist":    {"/api/v1/tenants/0190a0b0-0000-7000-8000-00000000ffff/team", "owner", 403, ""},
		"a tenant of the wrong form":      {"/api/v1/tenants/1/team", "owner", 403, ""},
		"a tenant in the path, none else": {own + "/team", "nobody", 403, ""},
		"platform admin without a tenant": {own + "/team", "admin", 403, ""},
		"permission":                      {own + "/billing", "owner", 204, ""},
		"permission missing":              {own + "/billing", "member", 403, ""},
		"admin":                           {"/api/v1/admin/products", "admin", 204, ""},
		"admin without the permission":    {"/api/v1/admin/products", "clerk", 403, ""},
		"owner as admin":                  {"/api/v1/admin/products", "owner", 403, ""},
		"permission without the flag":     {"/api/v1/admin/products", "fraud", 403, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{t: t, url: s.url}
			var headers []string
			if tt.token != "" {
				headers = []string{"Authorization: Bearer " + tt.token}
			}
			got := s.get(tt.path, headers...)
			if tt.want == http.StatusNoContent {
				if got.Status != tt.want || got.Body != "" {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				return
			}
			if code := got.refused(tt.want).Code; code != tt.code {
				t.Errorf("code %q", code)
			}
			if challenge := got.Header.Get("WWW-Authenticate"); (challenge == "Bearer") != (tt.want == 401) {
				t.Errorf("WWW-Authenticate %q", challenge)
			}
		})
	}
}

func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for header, want := range map[string]int{
		"Bearer owner":      204,
		"bearer owner":      204,
		"BEARER   owner":    204,
		"":                  401,
		"owner":             401,
		"Bearer":            401,
		"Bearer ":           401,
		"Bearer  \t ":       401,
		"Bearerowner":       401,
		"Basic owner":       401,
		"Bearer owner x":    401,
		"Bearer own\u00e9r": 401,
		"Bearer broken":     500,
	} {
		if got := s.get("/api/v1/me", "Authorization: "+header); got.Status != want {
			t.Errorf("%q: %d, want %d", header, got.Status, want)
		}
	}
}

// Of several errors, the first of 401, 429, guards, 404 and 422 is returned.
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, routes(), func(c *rest.Config) { c.Limiter = limited(map[string]int{limit.Default: 1}) })
	patch := func(id, token string) int {
		return s.do("PATCH", "/api/v1/gadgets/"+id, `{"name":5}`, "Authorization: Bearer "+token).Status
	}
	if got := patch("404", "stolen"); got != 401 {
		t.Errorf("%d, want 401 first", got)
	}
	if got := patch("404", "owner"); got != 404 {
		t.Errorf("%d, want 404 before 422", got)
	}
	if got := patch("404", "owner"); got != 429 {
		t.Errorf("%d, want 429 before 404", got)
	}
	if got := patch("5", "member"); got != 422 {
		t.Errorf("%d, want 422 at last", got)
	}
	if got := s.do("DELETE", "/api/v1/gadgets/%00", "", "Authorization: Bearer owner").Status; got != 403 {
		t.Errorf("%d, want 403 before 404", got)
	}
	if got := s.do("DELETE", "/api/v1/gadgets/%00", "", "Authorization: Bearer admin").Status; got != 404 {
		t.Errorf("%d, want 404", got)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := start(t, routes(), func(c *rest.Config) {
		c.Limiter = limited(map[string]int{limit.Default: 2, limit.Catalog: 1})
	})
	for _, want := range []struct {
		token     string
		status    int
		remaining string
	}{{"owner", 204, "1"}, {"owner", 204, "0"}, {"owner", 429, "0"}, {"member", 204, "1"}, {"stolen", 401, ""}} {
		got := s.get("/api/v1/me", "Authorization: Bearer "+want.token)
		if got.Status != want.status || got.Header.Get("X-RateLimit-Remaining") != want.remaining {
			t.Errorf("%+v: %d %v", want, got.Status, got.Header)
		}
		if limit := got.Header.Get("X-RateLimit-Limit"); want.remaining != "" && limit != "2" {
			t.Errorf("X-RateLimit-Limit %q", limit)
		}
		if seconds, _ := strconv.Atoi(got.Header.Get("Retry-After")); (seconds >= 1) != (want.status == 429) {
			t.Errorf("%d with Retry-After %d", want.status, seconds)
		}
		if want.status == 429 {
			got.refused(429)
		}
	}
	// A token does not change the rate limit key on a public route.
	if got := s.get("/api/v1/gadgets", "Authorization: Bearer owner"); got.Status != 200 {
		t.Fatal(got.Status)
	}
	if got := s.get("/api/v1/gadgets", "Authorization: Bearer member"); got.Status != 429 {
		t.Errorf("the second request of the address: %d", got.Status)
	}
	if got := s.get("/api/v1/show"); got.Header.Get("X-RateLimit-Limit") != "" {
		t.Error("unlimited route sent X-RateLimit-Limit")
	}
}

// Login is limited by address and normalized email, and by address alone.
func TestLoginLimit(t *testing.T) {
	t.Parallel()
	s := start(t, routes(), func(c *rest.Config) {
		c.Limiter = limited(map[string]int{limit.Login: 2, limit.LoginAddress: 7})
	})
	attempt := func(email string) answer {
		return s.do("POST", "/api/v1/login", `{"name":"x","email":"`+email+`","password":"x"}`)
	}
	for i, want := range []struct {
		email     string
		status    int
		remaining string
	}{
		{"ann@bücher.example", 204, "1"},
		{" ANN@xn--bcher-kva.example ", 204, "0"},
		{"Ann@BÜCHER.example", 429, "0"},
		{"bob@bücher.example", 204, "1"},
		{"no address", 422, "1"},
	} {
		got := attempt(want.email)
		if got.Status != want.status || got.Header.Get("X-RateLimit-Limit") != "2" || got.Header.Get("X-RateLimit-Remaining") != want.remaining {
			t.Errorf("%d %s: %d %v", i, want.email, got.Status, got.Header)
		}
	}
	// An unreadable body counts for the address and returns its limit.
	got := s.do("POST", "/api/v1/login", `{`)
	if got.Status != 400 || got.Header.Get("X-RateLimit-Limit") != "7" || got.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
	if got := attempt("cid@x.example"); got.Status != 204 {
		t.Errorf("%d", got.Status)
	}
	if got := attempt("dan@x.example"); got.Status != 429 {
		t.Errorf("the address's eighth attempt: %d", got.Status)
	}
}

// An invalid route panics at startup, and an invalid body when the document is built.
func TestNewPanics(t *testing.T) {
	t.Parallel()
	good := routes()[5]
	change := func(f func(*rest.Route)) []rest.Route {
		r := good
		f(&r)
		return []rest.Route{r}
	}
	twin := good
	twin.Path = "/api/v1/{me}"
	for want, table := range map[string][]rest.Route{
		`GET /api/v1/me: unknown scope ""`:                    change(func(r *rest.Route) { r.Scope = "" }),
		`unknown scope "users"`:                               change(func(r *rest.Route) { r.Scope = "users" }),
		`unknown rate-limit group "none"`:                     change(func(r *rest.Route) { r.Rate = "none" }),
		"no handler":                                          change(func(r *rest.Route) { r.Handler = nil }),
		`no caller can have permission "x" in scope "public"`: change(func(r *rest.Route) { r.Scope, r.Permission = rest.Public, "x" }),
		"GET /api/v1/me: there is another route like it":      {good, good},
		"GET /api/v1/{me}: there is another route like it":    {good, twin},
		"unknown format emial": change(func(r *rest.Route) {
			r.Handler = handleBody[struct {
				Name string `json:"name" format:"emial"`
			}]()
		}),
		"a rule that is not enforced": change(func(r *rest.Route) {
			r.Handler = handleBody[struct {
				Count int `json:"count" multipleOf:"5"`
			}]()
		}),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if reason := fmt.Sprint(recover()); !strings.Contains(reason, want) {
					t.Errorf("panic %q", reason)
				}
			}()
			rest.New(config(t, new(syncBuffer)), table)
		})
	}
}
