package arch

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
	"testing"
)

// views contains the types of the public JSON: the structs with JSON fields in views*.go and
// http*.go files, and the types of their fields.
type views struct {
	structs map[string]view // by package and name
	seen    map[string]bool
	broken  []string
}

// view is a struct and the file that declares it.
type view struct {
	*ast.StructType
	source source
}

func newViews(all []source) *views {
	v := &views{structs: map[string]view{}, seen: map[string]bool{}}
	for _, s := range all {
		if s.Test() || s.Generated() {
			continue
		}
		for _, d := range s.File.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range decl.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					if found, ok := t.Type.(*ast.StructType); ok {
						v.structs[s.Package()+"."+t.Name.Name] = view{found, s}
					}
				}
			}
		}
	}
	return v
}

// checkDomains returns the fields of domains' views whose type is from package psp or a package
// below it.
func (v *views) checkDomains() []string {
	for name, found := range v.structs {
		file := path.Base(found.source.Path)
		folder, inside := strings.CutPrefix(found.source.Package(), "internal/")
		top, _, _ := strings.Cut(folder, "/")
		_, isDomain := domains[top]
		isView := strings.HasPrefix(file, "views") || strings.HasPrefix(file, "http")
		if inside && isDomain && isView {
			v.check(name)
		}
	}
	return v.broken
}

// check visits the JSON fields of a struct, recursively.
func (v *views) check(name string) {
	found, ok := v.structs[name]
	if !ok || v.seen[name] {
		return
	}
	v.seen[name] = true
	for _, field := range found.Fields.List {
		if field.Tag == nil && len(field.Names) > 0 || field.Tag != nil && !strings.Contains(field.Tag.Value, `json:"`) {
			continue
		}
		ast.Inspect(field.Type, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				used, ok := n.X.(*ast.Ident)
				if !ok {
					return false
				}
				if folder := imported(found.source, used.Name); folder == "internal/psp" || strings.HasPrefix(folder, "internal/psp/") {
					v.broken = append(v.broken, found.source.Set.Position(n.Pos()).String()+": "+name+" has a "+used.Name+"."+n.Sel.Name)
				} else {
					v.check(folder + "." + n.Sel.Name)
				}
				return false
			case *ast.Ident:
				v.check(found.source.Package() + "." + n.Name)
			}
			return true
		})
	}
}

// imported returns the folder of the package of this module that a file imports under a name, or
// "".
func imported(s source, name string) string {
	for _, spec := range s.File.Imports {
		text, _ := strconv.Unquote(spec.Path.Value)
		folder, ours := strings.CutPrefix(text, module)
		if ours && (spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(folder) == name) {
			return folder
		}
	}
	return ""
}

// The public JSON only uses types of the domains, so a change of the provider's types does not
// change it.
func TestViewsHaveNoTypeOfTheProvider(t *testing.T) {
	t.Parallel()
	v := newViews(sources(t))
	for _, broken := range v.checkDomains() {
		t.Error(broken)
	}
	if len(v.seen) < 100 {
		t.Errorf("only %d views were found", len(v.seen))
	}
}

func TestViewsOfTheProviderAreFound(t *testing.T) {
	t.Parallel()
	const imports = "package team\n\nimport \"github.com/tenantry/tenantry/internal/psp/subscriptions\"\nimport \"github.com/tenantry/tenantry/internal/psp\"\n\n"
	for name, c := range map[string]struct {
		files map[string]string
		found int
	}{
		"a field":              {map[string]string{"internal/team/http.go": imports + "type A struct {\n\tB *psp.C `json:\"b\"`\n}\n"}, 1},
		"a list":               {map[string]string{"internal/team/part/views.go": imports + "type A struct {\n\tB []subscriptions.C `json:\"b\"`\n}\n"}, 1},
		"an embedded type":     {map[string]string{"internal/team/views.go": imports + "type A struct {\n\tpsp.C\n}\n"}, 1},
		"of a field's type":    {map[string]string{"internal/team/http.go": "package team\n\ntype A struct {\n\tField B `json:\"b\"`\n}\n", "internal/team/b.go": imports + "type B struct {\n\tC psp.C `json:\"c\"`\n}\n"}, 1},
		"a field without JSON": {map[string]string{"internal/team/http.go": imports + "type A struct {\n\tB *psp.C\n}\n"}, 0},
		"a row of a table":     {map[string]string{"internal/team/store.go": imports + "type A struct {\n\tB *psp.C `json:\"b\"`\n}\n"}, 0},
		"outside of a domain":  {map[string]string{"internal/psp/inbox/http.go": imports + "type A struct {\n\tB *psp.C `json:\"b\"`\n}\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := parseAll(project(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			if broken := newViews(all).checkDomains(); len(broken) != c.found {
				t.Errorf("found %q", broken)
			}
		})
	}
}
