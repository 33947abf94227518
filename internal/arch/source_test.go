package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/fault"
)

// parsed parses the project once for all tests.
var parsed = sync.OnceValues(func() ([]source, error) { return parseAll("../..") })

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestErrorCodesAreListedOnce checks that only fault/codes.go contains the error codes as literals,
// and that each code is used.
func TestErrorCodesAreListedOnce(t *testing.T) {
	t.Parallel()
	const list = "internal/fault/codes.go"
	codes := map[string]string{} // value → name
	used := map[string]bool{}
	all := sources(t)
	for _, s := range all {
		if s.Path != list {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				codes[strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)] = spec.Names[0].Name
			}
			return true
		})
	}
	if len(codes) == 0 {
		t.Fatalf("no codes in %s", list)
	}
	// Values of the provider and names of mails are not codes. The client has its own constants.
	other := func(path string) bool {
		return strings.HasPrefix(path, "client/") || strings.HasPrefix(path, "sandbox/") || strings.HasPrefix(path, "internal/mail/letters/")
	}
	for _, s := range all {
		if s.Path == list || strings.HasSuffix(s.Path, "_test.go") || other(s.Path) {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if name, ok := codes[strings.Trim(n.Value, `"`)]; ok && n.Kind == token.STRING {
					t.Errorf("%s: write fault.%s for %s", s.Set.Position(n.Pos()), name, n.Value)
				}
			case *ast.SelectorExpr:
				used[n.Sel.Name] = true
			case *ast.CallExpr:
				if is(n.Fun, "fault", "Code") {
					t.Errorf("%s: error code defined outside of %s", s.Set.Position(n.Pos()), list)
				}
				if is(n.Fun, "fault", "Coded") && !fromFault(n.Args[1]) {
					t.Errorf("%s: fault.Coded needs a constant of %s", s.Set.Position(n.Pos()), list)
				}
			}
			return true
		})
	}
	for value, name := range codes {
		if !used[name] {
			t.Errorf("%s: %s (%s) is never returned", list, name, value)
		}
	}
}

// TestTimeIsReadFromTheClock checks that only the clock packages call time.Now. The linter checks
// this too. The client is exempt, because other programs import it.
func TestTimeIsReadFromTheClock(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if slices.ContainsFunc([]string{"internal/clock/", "sandbox/clock/", "client/", "tenantrytest/"}, func(p string) bool { return strings.HasPrefix(s.Path, p) }) {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && is(e, "time", "Now") {
				t.Errorf("%s: use internal/clock for the time", s.Set.Position(e.Pos()))
			}
			return true
		})
	}
}

func is(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == pkg
}

func fromFault(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && is(s, "fault", s.Sel.Name)
}

// The list of all codes is complete.
func TestCodesAreAllListed(t *testing.T) {
	t.Parallel()
	count := 0
	for _, s := range sources(t) {
		if s.Path != "internal/fault/codes.go" {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				count++
				code := fault.Code(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
				if !slices.Contains(fault.Codes(), code) {
					t.Errorf("fault.Codes lacks %s", code)
				}
			}
			return true
		})
	}
	if count != len(fault.Codes()) {
		t.Errorf("%d codes, %d listed", count, len(fault.Codes()))
	}
}
