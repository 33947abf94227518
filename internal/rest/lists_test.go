package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
)

// The reference documents the parameters of lists, and shared parameters only once.
func TestListsInTheReference(t *testing.T) {
	t.Parallel()
	empty := func(context.Context, *struct{}) (*rest.NoBody, error) { return &rest.NoBody{}, nil }
	route := func(path string, spec page.Spec) rest.Route {
		return rest.Route{Method: http.MethodGet, Path: path, Scope: rest.Admin, Handler: rest.Handle(empty, rest.Lists(spec))}
	}
	doc := document(t, start(t, []rest.Route{
		route("/api/v1/admin/things", page.Spec{
			Filters: map[string]page.Filter{
				"name": {Kind: page.PartialMatch}, "owner_id": {Kind: page.UUID}, "active": {Kind: page.Bool}, "count": {Kind: page.Integer},
				"kind": {Kind: page.Enum, Values: []string{"a", "b"}}, "created_after": {Kind: page.DateFrom}, "created_before": {Kind: page.DateTo},
			},
			Params: map[string]page.Filter{"search": {Kind: page.PartialMatch}},
			Sorts:  map[string]string{"name": "n", "age": "a"}, DefaultSort: "-age", Includes: []string{"owner", "owner.tenant"},
		}),
		route("/api/v1/admin/others", page.Spec{Filters: map[string]page.Filter{"created_after": {Kind: page.DateFrom}}}),
	}))
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
	list := func(path string) map[string]*openapi3.ParameterRef {
		params := map[string]*openapi3.ParameterRef{}
		for _, p := range doc.Paths.Value(path).Get.Parameters {
			params[p.Value.Name] = p
		}
		return params
	}
	things := list("/api/v1/admin/things")
	if len(things) != 12 {
		t.Errorf("%d parameters: %v", len(things), things)
	}
	for name, ref := range map[string]string{
		"page": "#/components/parameters/page", "per_page": "#/components/parameters/per_page",
		"filter[created_after]": "#/components/parameters/filter_created_after", "filter[name]": "",
	} {
		if p := things[name]; p == nil || p.Ref != ref {
			t.Errorf("%s: %+v", name, p)
		}
	}
	diff(t, []any{"age", "-age", "name", "-name"}, things["sort"].Value.Schema.Value.Items.Value.Enum)
	diff(t, []any{"owner", "owner.tenant"}, things["include"].Value.Schema.Value.Items.Value.Enum)
	diff(t, []any{"a", "b"}, things["filter[kind]"].Value.Schema.Value.Enum)
	if things["filter[owner_id]"].Value.Schema.Value.Format != "uuid" || !things["filter[active]"].Value.Schema.Value.Type.Is("boolean") ||
		!things["filter[count]"].Value.Schema.Value.Type.Is("integer") || things["search"] == nil {
		t.Errorf("filters: %v", things)
	}
	if others := list("/api/v1/admin/others"); len(others) != 3 || others["sort"] != nil || others["include"] != nil {
		t.Errorf("others: %v", others)
	}
	for _, status := range []string{"400", "422"} {
		if doc.Paths.Value("/api/v1/admin/things").Get.Responses.Value(status) == nil {
			t.Errorf("no %s", status)
		}
	}
}
