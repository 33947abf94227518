package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxUpward is the number of upward interfaces. It can only be lowered.
const maxUpward = 17

// declaration is a package-level interface, or a type with its methods.
type declaration struct {
	pkg, name string
	methods   map[string]bool // by name and number of parameters and results
}

// An interface is upward if it has exactly one implementer in the product code and the package of
// the implementer imports the package of the interface. Calls of its methods then go from a lower
// package to a higher one. The test looks at package-level interfaces in internal/ that embed no
// other interface. A type implements an interface if it declares all of its methods, with as many
// parameters and results. Methods that a type gets by embedding do not count.
func TestUpwardInterfaces(t *testing.T) {
	t.Parallel()
	interfaces, types, imports := declarations(sources(t))
	if len(interfaces) < 50 || len(types) < 200 {
		t.Fatalf("found only %d interfaces and %d types with methods", len(interfaces), len(types))
	}
	upward := upwardInterfaces(interfaces, types, imports)
	if len(upward) > maxUpward {
		t.Errorf("%d interfaces have their only implementer in a higher package, more than %d:\n%s", len(upward), maxUpward, strings.Join(upward, "\n"))
	}
}

func TestUpwardInterfacesAreRecognized(t *testing.T) {
	t.Parallel()
	reads := map[string]bool{"Read/1/2": true}
	lower := declaration{"internal/low", "Reader", reads}
	for _, c := range []struct {
		name   string
		types  []declaration
		upward int
	}{
		{"one implementer above", []declaration{{"internal/high", "Service", map[string]bool{"Read/1/2": true, "Write/1/1": true}}}, 1},
		{"one implementer in a sibling package", []declaration{{"internal/other", "Service", reads}}, 0},
		{"a second implementer", []declaration{{"internal/high", "Service", reads}, {"internal/other", "Service", reads}}, 0},
		{"other parameters", []declaration{{"internal/high", "Service", map[string]bool{"Read/2/2": true}}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			imports := map[string]map[string]bool{"internal/high": {"internal/low": true}}
			if got := upwardInterfaces([]declaration{lower}, c.types, imports); len(got) != c.upward {
				t.Errorf("got %q, want %d", got, c.upward)
			}
		})
	}
}

func upwardInterfaces(interfaces, types []declaration, imports map[string]map[string]bool) []string {
	var upward []string
	for _, i := range interfaces {
		var implementers []declaration
		for _, d := range types {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(i.methods)), func(m string) bool { return !d.methods[m] }) {
				implementers = append(implementers, d)
			}
		}
		if len(implementers) == 1 && imports[implementers[0].pkg][i.pkg] {
			upward = append(upward, fmt.Sprintf("%s.%s by %s.%s", i.pkg, i.name, implementers[0].pkg, implementers[0].name))
		}
	}
	return upward
}

// declarations returns the interfaces and the types with methods of internal/, and the packages that
// each package imports.
func declarations(all []source) (interfaces, types []declaration, imports map[string]map[string]bool) {
	methods, imports := map[[2]string]map[string]bool{}, map[string]map[string]bool{}
	for _, s := range all {
		if s.Test() || s.Generated() || !strings.HasPrefix(s.Path, "internal/") {
			continue
		}
		if imports[s.Package()] == nil {
			imports[s.Package()] = map[string]bool{}
		}
		for _, spec := range s.File.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			imports[s.Package()][strings.TrimPrefix(imported, module)] = true
		}
		for _, d := range s.File.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					key := [2]string{s.Package(), receiver(d.Recv.List[0].Type)}
					if methods[key] == nil {
						methods[key] = map[string]bool{}
					}
					methods[key][signature(d.Name, d.Type)] = true
				}
			case *ast.GenDecl:
				interfaces = append(interfaces, interfacesOf(s.Package(), d)...)
			}
		}
	}
	for key, m := range methods {
		types = append(types, declaration{key[0], key[1], m})
	}
	return interfaces, types, imports
}

func interfacesOf(pkg string, d *ast.GenDecl) []declaration {
	var found []declaration
	for _, spec := range d.Specs {
		named, _ := spec.(*ast.TypeSpec)
		if named == nil {
			continue
		}
		if i, ok := named.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > 0 {
			methods := map[string]bool{}
			for _, m := range i.Methods.List {
				if f, ok := m.Type.(*ast.FuncType); ok {
					methods[signature(m.Names[0], f)] = true
				}
			}
			if len(methods) == len(i.Methods.List) {
				found = append(found, declaration{pkg, named.Name.Name, methods})
			}
		}
	}
	return found
}

// receiver returns the name of the type of a method's receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// signature returns the name of a method with the number of its parameters and results.
func signature(name *ast.Ident, f *ast.FuncType) string {
	return fmt.Sprintf("%s/%d/%d", name.Name, f.Params.NumFields(), f.Results.NumFields())
}
