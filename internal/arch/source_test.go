package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxLines is the length that no file exceeds.
const maxLines = 500

// source is one parsed file of the project.
type source struct {
	path string // from the root
	text []byte
	file *ast.File
	set  *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "data") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{strings.TrimPrefix(filepath.ToSlash(path), "../../"), text, file, set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s source) generated() bool { return ast.IsGenerated(s.file) }

func TestFilesAreSmall(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if lines := bytes.Count(s.text, []byte("\n")); lines > maxLines && !s.generated() {
			t.Errorf("%s has %d lines: split it by subject", s.path, lines)
		}
	}
}

// TestErrorCodesAreListedOnce holds that a code that clients rely on is written
// in fault/codes.go and nowhere else, and that what is listed there is used.
func TestErrorCodesAreListedOnce(t *testing.T) {
	t.Parallel()
	const list = "internal/fault/codes.go"
	codes := map[string]string{} // value → name
	used := map[string]bool{}
	all := sources(t)
	for _, s := range all {
		if s.path != list {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				codes[strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)] = spec.Names[0].Name
			}
			return true
		})
	}
	if len(codes) == 0 {
		t.Fatalf("no codes in %s", list)
	}
	for _, s := range all {
		if s.path == list || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if name, ok := codes[strings.Trim(n.Value, `"`)]; ok && n.Kind == token.STRING {
					t.Errorf("%s: write fault.%s for %s", s.set.Position(n.Pos()), name, n.Value)
				}
			case *ast.SelectorExpr:
				used[n.Sel.Name] = true
			case *ast.CallExpr:
				if is(n.Fun, "fault", "Code") {
					t.Errorf("%s: a code is made outside of %s", s.set.Position(n.Pos()), list)
				}
				if is(n.Fun, "fault", "Coded") && !fromFault(n.Args[1]) {
					t.Errorf("%s: fault.Coded takes a constant of %s", s.set.Position(n.Pos()), list)
				}
			}
			return true
		})
	}
	for value, name := range codes {
		if !used[name] {
			t.Errorf("%s: %s (%s) is answered by nobody", list, name, value)
		}
	}
}

// TestTimeComesFromTheClock holds what the linter forbids as well, without it.
func TestTimeComesFromTheClock(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if strings.HasPrefix(s.path, "internal/clock/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if e, ok := n.(*ast.SelectorExpr); ok && is(e, "time", "Now") {
				t.Errorf("%s: time comes from internal/clock", s.set.Position(e.Pos()))
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
