package rest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenantry/tenantry/internal/rest"
)

func document(t *testing.T, s *server) *openapi3.T {
	t.Helper()
	got := s.get("/openapi.json")
	if got.Status != http.StatusOK || got.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v", got.Status, got.Header)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(got.Body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIIsValid(t *testing.T) {
	t.Parallel()
	doc := document(t, start(t, routes()))
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.2.3" || doc.Servers[0].URL != "https://api.example.com" {
		t.Errorf("%s %v %v", doc.OpenAPI, doc.Info, doc.Servers)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
}

func TestOpenAPIHasEveryRoute(t *testing.T) {
	t.Parallel()
	doc := document(t, start(t, routes()))
	count := 0
	for _, item := range doc.Paths.Map() {
		count += len(item.Operations())
	}
	if count != len(routes()) {
		t.Errorf("%d operations for %d routes", count, len(routes()))
	}
	for _, r := range routes() {
		op := doc.Paths.Value(r.Path).GetOperation(r.Method)
		if op == nil {
			t.Errorf("%s %s is missing", r.Method, r.Path)
			continue
		}
		checkOperation(t, r, op)
	}
}

func checkOperation(t *testing.T, r rest.Route, op *openapi3.Operation) {
	t.Helper()
	name := r.Method + " " + r.Path
	for extension, want := range map[string]string{
		"x-scope": string(r.Scope), "x-permission": r.Permission, "x-rate-limit": r.Rate,
	} {
		if got, _ := op.Extensions[extension].(string); got != want {
			t.Errorf("%s: %s %q, want %q", name, extension, got, want)
		}
	}
	guards, _ := op.Extensions["x-guards"].([]any)
	var want []any
	for _, g := range r.Guards() {
		want = append(want, string(g))
	}
	diff(t, want, guards)
	if secured := len(*op.Security) > 0; secured != (r.Scope != rest.Public) {
		t.Errorf("%s: security %v", name, op.Security)
	}
	for part := range strings.SplitSeq(r.Path, "/") {
		if param, ok := strings.CutPrefix(part, "{"); ok && op.Parameters.GetByInAndName("path", strings.TrimSuffix(param, "}")) == nil {
			t.Errorf("%s: parameter %s is missing", name, part)
		}
	}
	refusals := []string{"500", "503"}
	add := func(when bool, statuses ...string) {
		if when {
			refusals = append(refusals, statuses...)
		}
	}
	hook := strings.HasSuffix(r.Path, "hook") || strings.HasSuffix(r.Path, "half")
	add(!hook, "400", "422")
	add(r.Scope != rest.Public, "401", "403")
	add(r.Rate != "", "429")
	add(strings.Contains(strings.ReplaceAll(r.Path, "{tenantId}", ""), "{") || r.Scope == rest.Billing, "404")
	add(op.RequestBody != nil && !hook, "413", "415")
	add(op.RequestBody != nil && !hook && op.RequestBody.Value.Content["application/json"] != nil, "408")
	add(r.Method != http.MethodGet, "419")
	slices.Sort(refusals)
	var got []string
	for status, response := range op.Responses.Map() {
		if code, _ := strconv.Atoi(status); code < 400 {
			continue
		}
		got = append(got, status)
		if response.Value.Content["application/json"].Schema == nil || response.Value.Headers["X-Request-Id"] == nil {
			t.Errorf("%s: %s is %+v", name, status, response.Value)
		}
	}
	slices.Sort(got)
	diff(t, refusals, got)
}

func TestOpenAPIStatuses(t *testing.T) {
	t.Parallel()
	doc := document(t, start(t, routes()))
	for route, want := range map[string]string{
		"POST /api/v1/gadgets": "201", "GET /api/v1/gadgets": "200", "PATCH /api/v1/gadgets/{id}": "200",
		"DELETE /api/v1/gadgets/{id}": "204", "POST /api/v1/hook": "200",
	} {
		method, path, _ := strings.Cut(route, " ")
		responses := doc.Paths.Value(path).GetOperation(method).Responses
		for _, status := range []string{"200", "201", "204", "default"} {
			if (responses.Value(status) != nil) != (status == want) {
				t.Errorf("%s: %s, want only %s", route, status, want)
			}
		}
		if content := responses.Value(want).Value.Content; (len(content) == 0) != (want == "204") {
			t.Errorf("%s: content %v", route, content)
		}
	}
}

// The documented rules of a field match its validation.
func TestOpenAPISchemas(t *testing.T) {
	t.Parallel()
	doc := document(t, start(t, routes()))
	schema := func(name, field string) *openapi3.Schema {
		t.Helper()
		s := doc.Components.Schemas[name]
		if s == nil || s.Value.Properties[field] == nil {
			t.Fatalf("no %s.%s in %v", name, field, doc.Components.Schemas)
		}
		return s.Value.Properties[field].Value
	}
	for field, want := range map[string][]string{
		"text": {"string"}, "never": {"null", "string"}, "at": {"string"}, "meta": {"null", "object"}, "list": {"array"},
	} {
		types := schema("Fields", field).Type.Slice()
		slices.Sort(types)
		diff(t, want, types)
	}
	if maker := schema("Fields", "maker"); len(maker.AnyOf) != 2 || maker.AnyOf[0].Ref != "#/components/schemas/Maker" || !maker.AnyOf[1].Value.Type.Is("null") {
		t.Errorf("a nullable object: %+v", maker)
	}
	for field, nullable := range map[string]bool{"list": false, "gaps": true} {
		if items := schema("Fields", field).Items.Value; items.Type.Includes("null") != nullable {
			t.Errorf("the items of %s: %v", field, items.Type)
		}
	}
	for field, nullable := range map[string]bool{"active": false, "note": true, "metadata": true, "email": false} {
		if types := schema("Gadget", field).Type; types.Includes("null") != nullable {
			t.Errorf("%s: %v", field, types)
		}
	}
	if ref := schema("Gadget", "ref"); ref.Format != "uuid" {
		t.Errorf("a UUID: %+v", ref)
	}
	if titles := schema("Gadget", "titles"); titles.AdditionalProperties.Schema.Value.MaxLength == nil || titles.MaxLength != nil {
		t.Errorf("a map: %+v", titles)
	}
	var names []string
	for name := range doc.Components.Schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	diff(t, []string{
		"BadRequestOrTenantContextRequiredError", "Error", "Fields", "FieldsAnswer", "ForbiddenOrImpersonationExpiredOrImpersonationReadOnlyOrMfaEnrollmentRequiredOrInsufficientScopeError",
		"ForbiddenOrImpersonationExpiredOrMfaEnrollmentRequiredOrInsufficientScopeError",
		"ForbiddenOrImpersonationExpiredOrMfaEnrollmentRequiredOrOnboardingIncompleteOrSsoRequiredOrInsufficientScopeError",
		"ForbiddenOrImpersonationExpiredOrMfaEnrollmentRequiredOrSsoRequiredOrInsufficientScopeError", "Found", "Gadget",
		"ImpersonationExpiredOrImpersonationReadOnlyOrInsufficientScopeError", "ImpersonationExpiredOrInsufficientScopeError", "InternalError",
		"InternalOrUnreadableRefusal", "InvalidOrUnreadableRefusal", "Maker",
		"Note", "PatchGadgetsIdRequest", "Patched", "PatchedAnswer", "PostLoginRequest", "Price", "StringList", "UnavailableOrStorageFullError", "Unencodable", "ValidationError",
	}, names)
	diff(t, []string{"name"}, doc.Components.Schemas["Gadget"].Value.Required)
	diff(t, []string{"name", "website"}, doc.Components.Schemas["Maker"].Value.Required)
}

func TestOpenAPIIsStable(t *testing.T) {
	t.Parallel()
	a, b := start(t, routes()), start(t, routes())
	first, second := a.get("/openapi.json"), b.get("/openapi.json")
	if first.Body != second.Body || first.Header.Get("ETag") != second.Header.Get("ETag") {
		t.Error("document differs between two starts")
	}
	etag := first.Header.Get("ETag")
	if got := a.get("/openapi.json", "If-None-Match: "+etag); got.Status != http.StatusNotModified || got.Body != "" {
		t.Errorf("%d for %s", got.Status, etag)
	}
	if cache := first.Header.Get("Cache-Control"); cache != "no-cache" {
		t.Errorf("Cache-Control %q", cache)
	}
	if text, err := a.api.Document(); err != nil || strings.TrimSuffix(string(text), "\n") != first.Body {
		t.Error("Document differs from the served document", err)
	}
	if got := a.do("HEAD", "/openapi.json", ""); got.Status != http.StatusOK {
		t.Errorf("HEAD: %d", got.Status)
	}
}

// The document is compressed if the client accepts it. The compressed document has its own ETag.
func TestOpenAPIIsCompressed(t *testing.T) {
	t.Parallel()
	a := start(t, routes())
	bare := a.get("/openapi.json", "Accept-Encoding: identity")
	if bare.Header.Get("Content-Encoding") != "" || !slices.Contains(bare.Header.Values("Vary"), "Accept-Encoding") {
		t.Errorf("uncompressed: %v", bare.Header)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	packed, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Body.Close()
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.ContentLength <= 0 || packed.ContentLength > int64(len(bare.Body)/3) {
		t.Errorf("compressed: %d of %d bytes, %v", packed.ContentLength, len(bare.Body), packed.Header)
	}
	reader, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(reader); err != nil || strings.TrimSuffix(string(text), "\n") != bare.Body {
		t.Errorf("the compressed document differs: %v", err)
	}
	tag := packed.Header.Get("ETag")
	if tag == "" || tag == bare.Header.Get("ETag") {
		t.Errorf("the ETags are %q and %q", bare.Header.Get("ETag"), tag)
	}
	if got := a.get("/openapi.json", "Accept-Encoding: gzip", "If-None-Match: "+tag); got.Status != http.StatusNotModified {
		t.Errorf("%d for %s", got.Status, tag)
	}
}
