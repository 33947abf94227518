package distribution_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// reader collects the SQL texts of a package.
type reader struct {
	constants map[string]ast.Expr
	texts     map[string][]string // by function or constant
}

// text returns the text of an expression. Every part that is not a string constant is replaced by
// its name in «».
func (r reader) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return r.text(e.X) + r.text(e.Y)
		}
	case *ast.ParenExpr:
		return r.text(e.X)
	case *ast.Ident:
		if constant := r.constants[e.Name]; constant != nil {
			return r.text(constant)
		}
		return "«" + e.Name + "»"
	case *ast.CallExpr:
		return "«" + r.text(e.Fun) + "»"
	case *ast.SelectorExpr:
		return "«" + e.Sel.Name + "»"
	}
	return "«»"
}

// collect adds the statements below a node. A page.Select counts as one statement, joined from its
// fields.
func (r reader) collect(name string, node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			parts := map[string]string{}
			for _, e := range n.Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok {
					if key, ok := field.Key.(*ast.Ident); ok {
						parts[key.Name] = r.text(field.Value)
					}
				}
			}
			if parts["From"] != "" {
				r.texts[name] = append(r.texts[name], "SELECT FROM "+parts["From"]+" "+parts["Join"]+" WHERE "+parts["Where"])
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD {
				r.texts[name] = append(r.texts[name], r.text(n))
				return false
			}
		case *ast.BasicLit:
			r.texts[name] = append(r.texts[name], r.text(n))
		case *ast.Ident:
			if r.constants[n.Name] != nil {
				r.texts[name] = append(r.texts[name], r.text(n))
			}
		}
		return true
	})
}

// handwritten returns the statements, or parts of statements, that are written in Go instead of
// queries.sql, by package and function.
func handwritten(t *testing.T) (all []query) {
	t.Helper()
	packages := map[string]reader{}
	var files []*ast.File
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		folder := filepath.ToSlash(path)
		if err == nil && d.IsDir() && (strings.HasSuffix(folder, "/testkit") || strings.HasSuffix(folder, "/sqldb") || strings.HasSuffix(folder, "sql")) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		files = append(files, file)
		r, known := packages[file.Name.Name]
		if !known {
			r = reader{map[string]ast.Expr{}, map[string][]string{}}
			packages[file.Name.Name] = r
		}
		for _, decl := range file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
				for _, spec := range group.Specs {
					if value, ok := spec.(*ast.ValueSpec); ok && len(value.Values) == len(value.Names) {
						for i, name := range value.Names {
							r.constants[name.Name] = value.Values[i]
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		r := packages[file.Name.Name]
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok {
				r.collect(function.Name.Name, function)
			} else if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.VAR {
				for _, spec := range group.Specs {
					if value, ok := spec.(*ast.ValueSpec); ok {
						r.collect(value.Names[0].Name, value)
					}
				}
			}
		}
	}
	for name, r := range packages {
		for function, list := range r.texts {
			for _, text := range list {
				all = append(all, query{name + "." + function, text})
			}
		}
	}
	return all
}
