package client_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

const operationsFile = "operations.go"

// operations.go lists every operation. TENANTRY_UPDATE=1 writes it.
func TestOperationsAreDocumented(t *testing.T) {
	t.Parallel()
	parsed, err := parser.ParseFile(token.NewFileSet(), "api/api.gen.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	areas := map[string][]string{}
	for _, declaration := range parsed.Decls {
		method, ok := declaration.(*ast.FuncDecl)
		if !ok || method.Recv == nil || !method.Name.IsExported() || strings.HasSuffix(method.Name.Name, "All") {
			continue
		}
		if pointer, ok := method.Recv.List[0].Type.(*ast.StarExpr); !ok || fmt.Sprint(pointer.X) != "Client" {
			continue
		}
		// The comment has the form "Register is POST /api/v1/auth/register: Register an account …".
		request, summary, _ := strings.Cut(strings.Join(strings.Fields(method.Doc.Text()), " "), ": ")
		_, path, _ := strings.Cut(request, " /")
		area, _, _ := strings.Cut(strings.TrimPrefix(path, "api/v1/"), "/")
		areas[area] = append(areas[area], fmt.Sprintf("%s: %s\n", method.Name.Name, strings.TrimSuffix(summary, ".")))
	}
	if len(areas["auth"]) < 5 || len(areas["onboarding"]) < 3 {
		t.Fatalf("not the operations of the API: %v", areas)
	}
	var out bytes.Buffer
	out.WriteString("// Code generated from api/api.gen.go by TestOperationsAreDocumented. DO NOT EDIT.\n\n")
	out.WriteString("// # Operations\n//\n// Each is a method of [Client]. Show its arguments and its result with, for example,\n// go doc github.com/tenantry/tenantry/client/api Client.Register.\n")
	names := make([]string, 0, len(areas))
	for area := range areas {
		names = append(names, area)
	}
	slices.Sort(names)
	for _, area := range names {
		fmt.Fprintf(&out, "//\n// %s:\n//\n", area)
		slices.Sort(areas[area])
		for _, line := range areas[area] {
			out.WriteString("//   - " + line)
		}
	}
	out.WriteString("package client\n")
	want, err := format.Source(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("TENANTRY_UPDATE") != "" {
		if err := os.WriteFile(operationsFile, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(operationsFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: run make client (%v)", operationsFile, err)
	}
}
