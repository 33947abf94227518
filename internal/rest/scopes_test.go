package rest_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Every scope is tested with every kind of caller. The columns match the table in
// docs/rules/http.md#guards.
func TestScopes(t *testing.T) {
	t.Parallel()
	scopes := []struct {
		scope rest.Scope
		path  string
		perm  string
	}{
		{rest.Public, "/api/v1/a", ""},
		{rest.User, "/api/v1/b", ""},
		{rest.Member, "/api/v1/c", ""},
		{rest.Member, "/api/v1/d/{tenantId}", ""},
		{rest.Tenant, "/api/v1/e/{tenantId}", ""},
		{rest.Tenant, "/api/v1/f/{tenantId}", authz.BillingManage},
		{rest.Admin, "/api/v1/g", ""},
		{rest.Admin, "/api/v1/h", "products.view"},
		{rest.Impersonating, "/api/v1/i", ""},
		{rest.Billing, "/api/v1/j/{tenantId}", ""},
		{rest.Billing, "/api/v1/k/{tenantId}", authz.BillingManage},
	}
	var table []rest.Route
	for _, s := range scopes {
		table = append(table, rest.Route{
			Method: "GET", Path: s.path, Scope: s.scope, Permission: s.perm,
			Handler: rest.Handle(func(context.Context, *struct{}) (*rest.NoBody, error) { return nil, nil }),
		})
	}
	own := &authz.Membership{TenantID: ownTenant, OnboardingComplete: true, Permissions: authz.TenantPermissions()}
	known := map[string]*authz.Caller{
		"posing":      {UserID: 8, Tenant: own, Impersonator: &authz.Impersonator{}},
		"posingadmin": {UserID: 9, IsPlatformAdmin: true, PlatformPermissions: []string{"products.view"}, Impersonator: &authz.Impersonator{}},
	}
	maps.Copy(known, callers)
	s := start(t, table, func(c *rest.Config) {
		c.Authenticate = func(_ context.Context, token string) (*authz.Caller, error) {
			if caller := known[token]; caller != nil {
				own := *caller // A copy for each request.
				return &own, nil
			}
			return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
		}
	})
	//                 a    b    c    d    e    f    g    h    i    j    k
	want := map[string]string{
		"":            "204  401  401  401  401  401  401  401  401  401  401",
		"stolen":      "204  401  401  401  401  401  401  401  401  401  401",
		"nobody":      "204  204  400C 403  403  403  403  403  400  403  403",
		"fresh":       "204  204  204  204  403O 403O 403  403  400  204  204",
		"owner":       "204  204  204  204  204  204  403  403  400  204  204",
		"member":      "204  204  204  204  204  403  403  403  400  204  403",
		"admin":       "204  204  400C 403  403  403  204  204  400  204  204",
		"clerk":       "204  204  400C 403  403  403  204  403  400  204  403",
		"fraud":       "204  204  400C 403  403  403  403  403  400  403  403",
		"posing":      "204  204  204  204  204  204  403  403  204  204  204",
		"posingadmin": "204  204  400C 403  403  403  403  403  204  204  403",
	}
	codes := map[string]string{"C": "TENANT_CONTEXT_REQUIRED", "O": "ONBOARDING_INCOMPLETE", "": ""}
	for token, row := range want {
		var headers []string
		if token != "" {
			headers = []string{"Authorization: Bearer " + token}
		}
		for i, cell := range strings.Fields(row) {
			path := strings.ReplaceAll(scopes[i].path, "{tenantId}", ownTenant.String())
			if scopes[i].scope == rest.Public { // a public route ignores the token
				if got := s.get(path, headers...); got.Status != 204 {
					t.Errorf("%s as %q: %d", path, token, got.Status)
				}
				continue
			}
			got := s.get(path, headers...)
			if fmt.Sprint(got.Status) != cell[:3] {
				t.Errorf("%s %s as %q: %d %s, want %s", scopes[i].scope, path, token, got.Status, got.Body, cell)
				continue
			}
			if got.Status >= 400 {
				if code := got.refused(got.Status).Code; code != codes[cell[3:]] && got.Status != 400 || cell[3:] == "C" && code != codes["C"] {
					t.Errorf("%s as %q: code %q", path, token, code)
				}
			}
		}
	}
	// No token gives access to another tenant, but a platform admin can read the bills of every
	// tenant.
	for _, path := range []string{"/api/v1/d/", "/api/v1/e/", "/api/v1/f/", "/api/v1/j/", "/api/v1/k/"} {
		for _, tenant := range []string{otherTenant.String(), "0190a0b0-0000-7000-8000-00000000ffff", "x"} {
			if got := s.get(path+tenant, "Authorization: Bearer owner"); got.Status != 403 {
				t.Errorf("%s: %d", path+tenant, got.Status)
			}
		}
	}
	if got := s.get("/api/v1/j/"+otherTenant.String(), "Authorization: Bearer admin"); got.Status != 204 {
		t.Errorf("an admin's look at another tenant: %d", got.Status)
	}
}

// Every field rule has an error message in each locale, with its arguments.
func TestMessagesInEveryLocale(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	body := `{"name":"a","active":1,"count":0,"small":3e9,"amount":0,"ratio":"1","kind":"gas","level":3,"note":"` + strings.Repeat("x", 21) + `","motto":5,` +
		`"text":"\u0000","email":"x","country":"x","currency":"x","url":"x","at":"x","day":"x","ref":"x","code":"1","tags":[],"titles":[],` +
		`"prices":[{"cents":1.5},null],"maker":[],"metadata":` + nested(33) + `}`
	keys := map[string]string{
		"name": "min_length", "active": "boolean", "count": "minimum", "small": "maximum", "amount": "above", "ratio": "number", "kind": "enum",
		"level": "enum", "note": "max_length", "motto": "string", "text": "characters", "email": "email", "country": "country", "currency": "currency",
		"url": "url", "at": "datetime", "day": "date", "ref": "uuid", "code": "pattern", "tags": "min_items", "titles": "object",
		"prices.0.cents": "integer", "prices.0.currency": "required", "prices.1": "null", "maker": "object", "metadata": "depth",
	}
	figures := map[string]string{
		"name": "2", "count": "1", "small": "2147483647", "amount": "0", "kind": "solid, liquid", "level": "1, 2", "note": "20",
	}
	ungrouped := strings.NewReplacer("2,147,483,647", "2147483647", "2.147.483.647", "2147483647", "2\u202f147\u202f483\u202f647", "2147483647")
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]map[string]string{}
	for _, locale := range i18n.Locales() {
		got := s.post("/api/v1/gadgets", body, "Accept-Language: "+locale+"-XX, de;q=0.3").refused(http.StatusUnprocessableEntity)
		if keysOf, want := slices.Sorted(maps.Keys(got.Errors)), slices.Sorted(maps.Keys(keys)); !slices.Equal(keysOf, want) {
			t.Fatalf("%s: %v, want %v", locale, keysOf, want)
		}
		texts[locale] = map[string]string{}
		for field, list := range got.Errors {
			text := strings.Join(list, "|")
			texts[locale][field] = text
			if !messages.Has("validation."+keys[field]) || strings.ContainsAny(text, "{}") || !strings.Contains(ungrouped.Replace(text), figures[field]) {
				t.Errorf("%s: %s: %s", locale, field, text)
			}
		}
		if got.Message != texts[locale]["name"] {
			t.Errorf("%s: message %q is not the first field's", locale, got.Message)
		}
		for field, text := range texts[locale] {
			if locale != i18n.Default && text == texts[i18n.Default][field] {
				t.Errorf("%s in %s is English: %s", field, locale, text)
			}
		}
	}
	// Errors about the whole request are translated as well.
	for _, refuse := range []func(accept string) answer{
		func(accept string) answer { return s.post("/api/v1/gadgets", `{`, accept) },
		func(accept string) answer { return s.post("/api/v1/gadgets", `[]`, accept) },
		func(accept string) answer {
			return s.do("POST", "/api/v1/gadgets", "a=b", "Authorization: Bearer owner", "Content-Type: text/plain", accept)
		},
		func(accept string) answer { return s.get("/api/v1/gadgets?q=%zz", accept) },
		func(accept string) answer { return s.get("/api/v1/me", accept) },
		func(accept string) answer {
			return s.get("/api/v1/admin/products", "Authorization: Bearer owner", accept)
		},
		func(accept string) answer { return s.get("/api/v1/tenant", "Authorization: Bearer nobody", accept) },
		func(accept string) answer { return s.do("PUT", "/api/v1/me", "", accept) },
	} {
		seen := map[string]bool{}
		status := refuse("Accept-Language: en").Status
		for _, locale := range i18n.Locales() {
			seen[refuse("Accept-Language: "+locale).refused(status).Message] = true
		}
		if len(seen) != len(i18n.Locales()) {
			t.Errorf("messages of status %d = %v, want one per language", status, seen)
		}
	}
}

type plans struct {
	Name string `json:"name"`
}

// Public responses are cacheable, regardless of the caller and the token.
func TestCached(t *testing.T) {
	t.Parallel()
	stored := map[string]*rest.CachedAnswer[plans]{}
	for _, locale := range i18n.Locales() {
		answer, err := rest.NewCachedAnswer(plans{"in " + locale}, 60*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		stored[locale] = answer
	}
	list := func(ctx context.Context, _ *struct{}) (*rest.CachedAnswer[plans], error) {
		return stored[i18n.Locale(ctx)], nil
	}
	gone := func(context.Context, *struct{}) (*rest.CachedAnswer[plans], error) { return nil, shape.ErrNotFound }
	s := start(t, []rest.Route{
		{Method: "GET", Path: "/api/v1/plans", Scope: rest.Public, Handler: rest.Handle(list)},
		{Method: "GET", Path: "/api/v1/gone", Scope: rest.Public, Handler: rest.Handle(gone)},
	})
	english := s.get("/api/v1/plans")
	tag := english.Header.Get("ETag")
	if english.Body != `{"data":{"name":"in en"}}` || len(tag) < 10 || tag[0] != '"' {
		t.Fatalf("%s %s", english.Body, tag)
	}
	french := s.get("/api/v1/plans", "Accept-Language: fr")
	if french.Body != `{"data":{"name":"in fr"}}` || french.Header.Get("ETag") == tag {
		t.Errorf("%s %s", french.Body, french.Header.Get("ETag"))
	}
	for match, want := range map[string]int{
		"": 200, tag: 304, "W/" + tag: 304, "*": 304, `"x", ` + tag: 304, `"x"`: 200, strings.Trim(tag, `"`): 200, french.Header.Get("ETag"): 200,
	} {
		for _, token := range []string{"", "Bearer owner", "Bearer stolen"} {
			got := s.get("/api/v1/plans", "If-None-Match: "+match, "Authorization: "+token)
			if got.Status != want || (got.Body == "") != (want == 304) {
				t.Errorf("%s: %d %s, want %d", match, got.Status, got.Body, want)
			}
			if vary := strings.Join(got.Header.Values("Vary"), ", "); got.Header.Get("ETag") != tag ||
				got.Header.Get("Cache-Control") != "public, max-age=60" || vary != "Origin, Accept-Language" {
				t.Errorf("%s: %v", match, got.Header)
			}
		}
	}
	if got := s.get("/api/v1/gone", "If-None-Match: *"); got.Status != 404 || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("ETag") != "" {
		t.Errorf("%d %v", got.Status, got.Header)
	}
}

// brokenFile fails after its first bytes.
type brokenFile struct {
	io.Reader
	closed chan struct{}
}

func (f brokenFile) Close() error { close(f.closed); return nil }

func TestFileAnswers(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	files := map[string]func() *rest.Blob{
		"whole": func() *rest.Blob {
			return &rest.Blob{ContentType: "application/pdf", Data: []byte("data"), Disposition: rest.Attachment("a.pdf")}
		},
		"tagged": func() *rest.Blob {
			return &rest.Blob{ContentType: "image/png", Data: []byte("png"), ETag: "v1", CacheControl: "private, max-age=9"}
		},
		"stream": func() *rest.Blob {
			return &rest.Blob{ContentType: "text/csv", Stream: io.NopCloser(strings.NewReader("a,b")), Length: 3}
		},
		"unending": func() *rest.Blob {
			return &rest.Blob{ContentType: "text/csv", Stream: io.NopCloser(strings.NewReader("a,b")), Length: -1}
		},
		"broken": func() *rest.Blob {
			return &rest.Blob{ContentType: "text/csv", Stream: brokenFile{io.MultiReader(strings.NewReader("half"), failing{}), closed}, Length: -1}
		},
	}
	type input struct {
		Name string `path:"name"`
	}
	read := func(_ context.Context, in *input) (*rest.Blob, error) {
		if files[in.Name] == nil {
			return nil, shape.ErrNotFound
		}
		return files[in.Name](), nil
	}
	s := start(t, []rest.Route{{Method: "GET", Path: "/api/v1/files/{name}", Scope: rest.Public, Handler: rest.File(read, "text/csv", "image/png")}})
	for name, want := range map[string]struct{ body, kind, length, cache, disposition, tag string }{
		"whole":    {"data", "application/pdf", "4", "no-store", `attachment; filename="a.pdf"`, ""},
		"tagged":   {"png", "image/png", "3", "private, max-age=9", "", `"v1"`},
		"stream":   {"a,b", "text/csv", "3", "no-store", "", ""},
		"unending": {"a,b", "text/csv", "3", "no-store", "", ""},
	} {
		got := s.get("/api/v1/files/"+name, `If-None-Match: "v0"`)
		h := got.Header
		if got.Status != 200 || got.Body != want.body || h.Get("Content-Type") != want.kind || h.Get("Content-Length") != want.length ||
			h.Get("Cache-Control") != want.cache || h.Get("Content-Disposition") != want.disposition || h.Get("ETag") != want.tag {
			t.Errorf("%s: %d %q %v", name, got.Status, got.Body, h)
		}
		if head := s.do(http.MethodHead, "/api/v1/files/"+name, ""); head.Status != 200 || head.Body != "" || head.Header.Get("Content-Type") != want.kind {
			t.Errorf("HEAD %s: %d %q %v", name, head.Status, head.Body, head.Header)
		}
	}
	if got := s.get("/api/v1/files/tagged", `If-None-Match: "other", W/"v1"`); got.Status != 304 || got.Body != "" || got.Header.Get("ETag") != `"v1"` || got.Header.Get("Cache-Control") == "no-store" {
		t.Errorf("%d %q %v", got.Status, got.Body, got.Header)
	}
	s.get("/api/v1/files/nothing").refused(404)
	content := s.api.OpenAPI().Paths["/api/v1/files/{name}"]["get"].Responses["200"].Content
	if content["text/csv"] == nil || content["image/png"] == nil || content["application/json"] != nil {
		t.Errorf("documented: %v", content)
	}

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/files/broken", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil {
			t.Error("partial file looks complete")
		}
	}
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("the file is left open")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A route that is refused during impersonation is refused right after authentication, before the
// other guards. Other extra guards run last, in their order.
func TestOrderOfExtraGuards(t *testing.T) {
	t.Parallel()
	route := rest.Route{Scope: rest.Admin, Extra: []rest.Guard{rest.EmailVerified, rest.ImpersonationRefuse, rest.FactorPassed}}
	want := []rest.Guard{
		rest.AuthToken, rest.ImpersonationRefuse, rest.ImpersonationPrevent, rest.PlatformAdmin, rest.AdminFactor, rest.EmailVerified, rest.FactorPassed,
	}
	if got := route.Guards(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
