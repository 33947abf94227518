package arch

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
	"testing"
)

// TestSQLStaysInStores checks that only store*.go files run generated queries and handle missing
// rows. Other files call methods of the store, which return types and errors of the domain.
func TestSQLStaysInStores(t *testing.T) {
	t.Parallel()
	generated := map[string]bool{} // import paths
	for _, s := range sources(t) {
		if s.Generated() && strings.HasSuffix(s.Package(), "sql") {
			generated[module+s.Package()] = true
		}
	}
	if len(generated) < 5 {
		t.Fatalf("found only %d generated query packages", len(generated))
	}
	for _, s := range sources(t) {
		if s.Test() || s.Generated() || s.Package() == "internal/sqldb" || strings.HasPrefix(path.Base(s.Path), "store") {
			continue
		}
		for _, spec := range s.File.Imports {
			if imported, _ := strconv.Unquote(spec.Path.Value); generated[imported] {
				t.Errorf("%s: generated queries are called in store*.go only", s.Set.Position(spec.Pos()))
			}
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && is(e, "sqldb", "ErrNoRows") {
				t.Errorf("%s: a store must return its domain's error, not sqldb.ErrNoRows", s.Set.Position(e.Pos()))
			}
			return true
		})
	}
}
