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
			t.Errorf("%s: say what it means and, after Do:, what a client does", d.code)
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

Made from ` + "`internal/fault/codes.go`" + ` and the reference by ` + "`make generate`" + `; not written by hand.

An error has a ` + "`message`" + ` for people, in the language of ` + "`Accept-Language`" + `, and often a ` + "`code`" + ` for programs, which
is case-sensitive, never translated, and never changes its meaning. What each operation can answer is in the
[reference](../api/openapi.yaml); what all have in common is in [HTTP](rules/http.md#errors).

## Statuses

| Status | Meaning | What to do |
|---|---|---|
| 400 | The request cannot be read, or is not possible for this caller | Look at ` + "`code`" + `; else mend the program |
| 401 | No valid credential | Refresh the token or log in again |
| 403 | Not allowed | Look at ` + "`code`" + `; else somebody with the permission has to do it |
| 404 | There is no such thing, or it is another tenant's | Read the list again |
| 405 | The path has other methods, named in ` + "`Allow`" + ` | Mend the program |
| 408 | The body did not arrive in time | Send the request again |
| 409 | Conflicts with what is there | Look at ` + "`code`" + `; without one the same usage event was recorded before, which is fine |
| 410 | It is over | Look at ` + "`code`" + ` |
| 413, 415 | The body is too large, or of another content type | Mend the program |
| 419 | The CSRF token is missing or wrong, in cookie mode | ` + "`GET /csrf-cookie`" + `, then repeat the request once with the new token |
| 422 | Fields are invalid (` + "`errors`" + `), or a rule refuses (` + "`code`" + `) | Show the messages beside the fields |
| 429 | Too many requests, or a quota (` + "`code`" + `) | Wait for the seconds in ` + "`Retry-After`" + ` |
| 500 | An accident | Report ` + "`request_id`" + ` |
| 502 | The payment provider failed | Repeat later with the same values |
| 503 | Busy, or the database is away | Repeat after the seconds in ` + "`Retry-After`" + ` |

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
