package app_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenantry/tenantry/internal/app/handbook"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// theReference returns the API reference of a service.
func theReference(t *testing.T) *openapi3.T {
	t.Helper()
	text := apptest.Start(t, sqldb.SQLite).Call("GET", "/openapi.json", "", nil).Want(200).Text
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
	return doc
}

// Every operation has a name, a group and a text, and every text belongs to an operation.
func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	doc := theReference(t)
	tags := map[string]bool{}
	for _, tag := range doc.Tags {
		tags[tag.Name] = tag.Description != ""
	}
	name := regexp.MustCompile(`^[a-z][a-zA-Z]+$`)
	names := map[string]string{}
	var routes []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			route := method + " " + path
			routes = append(routes, route)
			if text, _, _ := strings.Cut(op.Description, "**Access:**"); len(text) < 15 || op.Summary == "" {
				t.Errorf("%s lacks a description: add it to internal/app/handbook/operations", route)
			}
			if !name.MatchString(op.OperationID) || names[op.OperationID] != "" {
				t.Errorf("%s is called %q, like %s", route, op.OperationID, names[op.OperationID])
			}
			names[op.OperationID] = route
			if len(op.Tags) != 1 || !tags[op.Tags[0]] {
				t.Errorf("%s is in the groups %q", route, op.Tags)
			}
			public := op.Extensions["x-scope"] == "public" || op.Extensions["x-scope"] == nil
			if op.Security == nil || (len(*op.Security) == 0) != public {
				t.Errorf("%s: security %v", route, op.Security)
			}
			if !public && !strings.Contains(op.Description, "**Access:**") {
				t.Errorf("%s does not document its callers", route)
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" && p.Value.In != "path" {
					t.Errorf("%s does not say what %s is", route, p.Value.Name)
				}
			}
		}
	}
	for route := range handbook.Read().Entries {
		if !slices.Contains(routes, route) {
			t.Errorf("%s is described and does not exist", route)
		}
	}
}

// The responses of a few operations equal a list written by hand. They follow from the route
// (guards, groups, bodies) and from the errors of its domain.
func TestRefusalsInTheReference(t *testing.T) {
	t.Parallel()
	doc := theReference(t)
	for route, want := range map[string]string{
		"POST /api/v1/auth/login": "200, 400, 401 INVALID_CREDENTIALS, 403 LoginMethodDisabledError MFARequiredError, 408, 413, 415, 419, 422 ValidationError, 429, 500 InternalError, 503 storage_full",
		"GET /api/v1/auth/me":     "200, 400, 401, 403 IMPERSONATION_EXPIRED insufficient_scope, 422 ValidationError, 429, 500 InternalError, 503 storage_full",
		"GET /api/v1/tenant": "200, 400 TENANT_CONTEXT_REQUIRED, 401, 403 IMPERSONATION_EXPIRED MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope, 422 ValidationError, " +
			"429, 500 InternalError, 503 storage_full",
		"GET /api/v1/catalog/plans": "200, 304, 400, 422 ValidationError, 429, 500 InternalError, 503 storage_full",
		"POST /api/v1/tenant/{tenantId}/usage": "201, 400, 401, 403 IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope, 404, 408, 409, 413, 415, 419, " +
			"422 ValidationError, 429 QuotaExceededError, 500 InternalError, 503 storage_full",
		"POST /api/v1/tenant/{tenantId}/invoices/{invoiceId}/pay": "200, 400, 401, 403 IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY MFA_ENROLLMENT_REQUIRED ONBOARDING_INCOMPLETE SSO_REQUIRED insufficient_scope, 404, " +
			"409 invoice_not_payable, 419, 422 PaymentFailedError ValidationError, 429, 500 InternalError, 502 psp_error, 503 storage_full",
		"GET /api/v1/avatars/{hash}": "200, 304, 400, 404, 422 ValidationError, 429, 500 InternalError, 503 storage_full",
		"POST /api/v1/user/avatar": "200, 400, 401, 403 IMPERSONATION_EXPIRED IMPERSONATION_READ_ONLY insufficient_scope, 413, 415, 419, 422 ValidationError, 429, 500 InternalError, " +
			"503 storage_full",
		"GET /readyz": "200, 503",
	} {
		method, path, _ := strings.Cut(route, " ")
		var got []string
		for status, response := range doc.Paths.Value(path).GetOperation(method).Responses.Map() {
			words := []string{}
			if content := response.Value.Content["application/json"]; content != nil && status >= "400" {
				words = refusalWords(content.Schema)
			}
			slices.Sort(words)
			got = append(got, strings.Join(append([]string{status}, words...), " "))
		}
		slices.Sort(got)
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s:\n got %s\nwant %s", route, all, want)
		}
	}
}

// refusalWords returns the codes of an error response, and the names of schemas with more fields.
func refusalWords(s *openapi3.SchemaRef) []string {
	var words []string
	if forms, ok := s.Value.Extensions["x-forms"].([]any); ok {
		for _, form := range forms {
			if form != "Error" {
				words = append(words, form.(string))
			}
		}
		return words
	}
	if code := s.Value.Properties["code"]; s.Ref != "" && (code == nil || len(s.Value.Properties) > 2) {
		if name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); name != "Error" {
			words = append(words, name)
		}
		return words
	}
	for _, one := range s.Value.AnyOf {
		words = append(words, refusalWords(one)...)
	}
	if code := s.Value.Properties["code"]; code != nil {
		for _, value := range code.Value.Enum {
			words = append(words, value.(string))
		}
	}
	return words
}

// The reference lists all error codes.
func TestCodesInTheReference(t *testing.T) {
	t.Parallel()
	doc := theReference(t)
	var got []fault.Code
	for _, value := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		got = append(got, fault.Code(value.(string)))
	}
	if !slices.Equal(got, fault.Codes()) {
		t.Errorf("%v", got)
	}
	used := map[string]bool{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, response := range op.Responses.Map() {
				if content := response.Value.Content["application/json"]; content != nil {
					if code := content.Schema.Value.Properties["code"]; code != nil {
						for _, value := range code.Value.Enum {
							used[value.(string)] = true
						}
					}
					for _, word := range refusalWords(content.Schema) {
						used[word] = true
						if named := doc.Components.Schemas[word]; named != nil && named.Value.Properties["code"] != nil {
							used[named.Value.Properties["code"].Value.Enum[0].(string)] = true
						}
					}
				}
			}
		}
	}
	for _, code := range got {
		if !used[string(code)] {
			t.Errorf("no operation returns %s", code)
		}
	}
}

// Every field of every body has a description with its unit, and every description is used. The
// description of a field mentions null only if the field can be null, and always if a response
// field can be null.
func TestEveryFieldIsDescribed(t *testing.T) {
	t.Parallel()
	schemas := apptest.Start(t, sqldb.SQLite).Call("GET", "/openapi.json", "", nil).Want(200).At("components.schemas").(apptest.Object)
	texts := map[string]bool{}
	for name, s := range schemas {
		properties, _ := s.(apptest.Object)["properties"].(apptest.Object)
		for key, p := range properties {
			text, _ := p.(apptest.Object)["description"].(string)
			if text == "" {
				t.Errorf("%s.%s is not documented: add a doc tag, or a line in internal/app/handbook/fields.txt", name, key)
			}
			texts[key], texts[name+"."+key] = true, true
			switch says := strings.Contains(strings.ToLower(text), "null"); {
			case says && isNeverNull(p.(apptest.Object)):
				t.Errorf("%s.%s is never null, but its description is %q", name, key, text)
			case !says && isNullable(p.(apptest.Object)) && !isInput(name):
				t.Errorf("%s.%s can be null, but its description is %q", name, key, text)
			}
		}
	}
	for field := range handbook.Read().Book().Fields {
		if !texts[field] {
			t.Errorf("unknown field %s", field)
		}
	}
}

// isNullable reports whether a schema allows null.
func isNullable(s apptest.Object) bool {
	types, _ := s["type"].([]any)
	variants, _ := s["anyOf"].([]any)
	return slices.Contains(types, any("null")) ||
		slices.ContainsFunc(variants, func(v any) bool { return v.(apptest.Object)["type"] == "null" })
}

// isNeverNull reports whether a schema has a single scalar type. Objects, arrays and references can
// contain or refer to a schema that allows null.
func isNeverNull(s apptest.Object) bool {
	switch s["type"] {
	case "string", "integer", "number", "boolean":
		return true
	}
	return false
}

// isInput reports whether a schema occurs in request bodies only.
func isInput(schema string) bool {
	return strings.HasSuffix(schema, "Request") || strings.HasSuffix(schema, "Input") || strings.HasSuffix(schema, "Fields")
}

// An enum that occurs twice has a name.
func TestSetsOfValuesHaveNames(t *testing.T) {
	t.Parallel()
	doc := apptest.Start(t, sqldb.SQLite).Call("GET", "/openapi.json", "", nil).Want(200).Body
	places := map[string][]string{}
	var walk func(node any, place string)
	walk = func(node any, place string) {
		switch node := node.(type) {
		case apptest.Object:
			if values, ok := node["enum"].([]any); ok && len(values) > 1 && !strings.HasSuffix(place, ".code") && !strings.HasSuffix(place, ".items") {
				places[fmt.Sprint(values)] = append(places[fmt.Sprint(values)], place)
			}
			for key, child := range node {
				walk(child, place+"."+key)
			}
		case []any:
			for _, child := range node {
				walk(child, place+"[]")
			}
		}
	}
	walk(doc, "")
	for values, list := range places {
		if len(list) > 2 { // two routes can share one handler
			t.Errorf("%s occurs in %q: name it in internal/app/handbook/enums.go", values, list)
		}
	}
}

// Every object has a name, so generated code has no anonymous types, and the names are words.
func TestObjectsHaveNames(t *testing.T) {
	t.Parallel()
	doc := apptest.Start(t, sqldb.SQLite).Call("GET", "/openapi.json", "", nil).Want(200)
	var walk func(node any, place string)
	walk = func(node any, place string) {
		switch node := node.(type) {
		case apptest.Object:
			if _, ok := node["properties"].(apptest.Object); ok && !strings.Contains(place, "multipart/form-data") {
				t.Errorf("%s is an object without a name", place)
			}
			for key, child := range node {
				if key != "example" {
					walk(child, place+"."+key)
				}
			}
		case []any:
			for _, child := range node {
				walk(child, place+"[]")
			}
		}
	}
	walk(doc.At("paths"), "paths")
	walk(doc.At("components.responses"), "responses")
	word := regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	for name, schema := range doc.At("components.schemas").(apptest.Object) {
		if !word.MatchString(name) || strings.Contains(name, "Struct") || len(name) > 70 {
			t.Errorf("the schema %s is not named by words, or by too many: see internal/app/handbook/words.go", name)
		}
		for key, child := range schema.(apptest.Object) {
			if key != "properties" {
				walk(child, name+"."+key)
				continue
			}
			for property, p := range child.(apptest.Object) {
				walk(p, name+"."+property)
			}
		}
	}
}
