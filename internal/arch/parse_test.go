package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// source is a parsed Go file of the project.
type source struct {
	Path string // from the root, with slashes
	Text []byte
	File *ast.File
	Set  *token.FileSet
}

// parseAll parses every Go file below root. It returns the first error.
func parseAll(root string) ([]source, error) {
	var all []source
	err := walk(root, ".go", func(name string, text []byte) error {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		all = append(all, source{Path: name, Text: text, File: file, Set: set})
		return err
	})
	return all, err
}

// walk calls f with the path and text of every file below root that has the extension.
func walk(root, extension string, f func(name string, text []byte) error) error {
	files := os.DirFS(root)
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "dist" || slices.Contains([]string{".git", "node_modules", "data"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != extension:
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return f(name, text)
	})
}

// Package returns the folder of the file, relative to the root.
func (s source) Package() string { return path.Dir(s.Path) }

// Lines returns the number of lines of the file.
func (s source) Lines() int { return bytes.Count(s.Text, []byte("\n")) }

// Generated reports whether the file is generated.
func (s source) Generated() bool { return ast.IsGenerated(s.File) }

// Test reports whether the file is a test or belongs to a test kit.
func (s source) Test() bool {
	return strings.HasSuffix(s.Path, "_test.go") || strings.HasPrefix(s.Path, "internal/testkit/") ||
		s.Package() == "tenantrytest"
}
