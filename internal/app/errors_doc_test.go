package app_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// codeDoc is the description of an error code.
type codeDoc struct{ code, meaning, what string }

// codeDocs reads the descriptions of the error codes from the source.
func codeDocs(t *testing.T) []codeDoc {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../fault/codes.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var docs []codeDoc
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		d := codeDoc{code: strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)}
		text := strings.Join(strings.Fields(spec.Doc.Text()), " ")
		d.meaning, d.what, ok = strings.Cut(text, " Do: ")
		if !ok || d.meaning == "" || d.what == "" {
			t.Errorf("%s: document the meaning and, after Do:, what clients should do", d.code)
		}
		docs = append(docs, d)
		return true
	})
	slices.SortFunc(docs, func(a, b codeDoc) int { return strings.Compare(strings.ToLower(a.code), strings.ToLower(b.code)) })
	return docs
}

// statusesOf returns for each code the statuses and the number of operations that return it.
func statusesOf(doc *openapi3.T) map[string][]string {
	all := map[string]map[string]bool{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				content := response.Value.Content["application/json"]
				if content == nil || status < "400" {
					continue
				}
				for _, code := range codesOf(content.Schema) {
					if all[code] == nil {
						all[code] = map[string]bool{}
					}
					all[code][status] = true
				}
			}
		}
	}
	sorted := map[string][]string{}
	for code, statuses := range all {
		for status := range statuses {
			sorted[code] = append(sorted[code], status)
		}
		slices.Sort(sorted[code])
	}
	return sorted
}

// codesOf returns the codes in the schema of an error response.
func codesOf(s *openapi3.SchemaRef) []string {
	var codes []string
	for _, one := range s.Value.AnyOf {
		codes = append(codes, codesOf(one)...)
	}
	if code := s.Value.Properties["code"]; code != nil {
		for _, value := range code.Value.Enum {
			codes = append(codes, value.(string))
		}
	}
	return codes
}

// docs/errors.md matches the list of codes and the API reference. With TENANTRY_UPDATE set, the
// test writes the page.
func TestErrorsPage(t *testing.T) {
	t.Parallel()
	const file = "../../docs/errors.md"
	var page strings.Builder
	page.WriteString(`# Errors

This page is generated from ` + "`internal/fault/codes.go`" + ` and the API reference. Run ` + "`make generate`" + ` to update it.

An error has a ` + "`message`" + ` in the language of ` + "`Accept-Language`" + ` and often a ` + "`code`" + `. Codes are case-sensitive, not
translated, and keep their meaning. The [API reference](../api/openapi.yaml) lists the errors of each operation.
[HTTP](rules/http.md#errors) describes the rules for all errors.

## Statuses

| Status | Meaning | What to do |
|---|---|---|
| 400 | The request is malformed or not allowed in this state | Check ` + "`code`" + `. Without a code, fix the request. |
| 401 | The credential is missing or invalid | Refresh the token or log in again. |
| 403 | The caller is not allowed to do this | Check ` + "`code`" + `. Without a code, a user with the permission has to do it. |
| 404 | The object does not exist or belongs to another tenant | Reload the list. |
| 405 | The path does not support this method | Use a method from ` + "`Allow`" + `. |
| 408 | The request body did not arrive in time | Retry. |
| 409 | The request conflicts with the current state | Check ` + "`code`" + `. Without a code, the usage event is already recorded; do not retry. |
| 410 | The object has expired or was already used | Check ` + "`code`" + `. |
| 413, 415 | The request body is too large, or its content type is not supported | Fix the request. |
| 419 | The CSRF token is missing or invalid (cookie mode) | Call ` + "`GET /csrf-cookie`" + `, then retry once with the new token. |
| 422 | Fields are invalid (` + "`errors`" + `), or the request violates a rule (` + "`code`" + `) | Show the messages next to the fields. |
| 429 | Too many requests, or a quota is exceeded (` + "`code`" + `) | Retry after the number of seconds in ` + "`Retry-After`" + `. |
| 500 | Unexpected error | Report ` + "`request_id`" + `. |
| 502 | The payment provider failed or is unreachable | Retry later with the same values. |
| 503 | The service is busy or the database is unavailable | Retry after the number of seconds in ` + "`Retry-After`" + `. |

## Codes

| Code | Status | Meaning | What to do |
|---|---|---|---|
`)
	statuses := statusesOf(theReference(t))
	for _, d := range codeDocs(t) {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", d.code, strings.Join(statuses[d.code], ", "), d.meaning, d.what)
	}
	if os.Getenv("TENANTRY_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page.String() {
		t.Errorf("%s is not current: run `make generate`", file)
	}
}
