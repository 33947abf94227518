package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"slices"
	"strings"
)

// The limits, in lines including comments and blank lines. Generated code is exempt.
const (
	maxFile     = 500 // tests included
	maxFunction = 60  // product code
	maxExported = 40  // package-level names of product code
)

// exportedCeilings are the limits of packages that export more names than maxExported. They can
// only be lowered.
var exportedCeilings = map[string]int{
	"internal/psp":          53,
	"internal/usage":        48,
	"sandbox/stripe/kernel": 47,
}

// tools contains programs for developers. They count neither as product code nor as tests, but the
// other limits apply to them.
const tools = "tools/"

// house is the size of the project.
type house struct {
	Packages  []size // largest first
	Files     []size
	Functions []size
	Product   int // lines of product code
	Tests     int // lines of tests
}

// size is the size of a package, file or function.
type size struct {
	Name     string // folder, file, or file:function
	Lines    int    // of product code, or all lines of a file
	Tests    int    // lines of a package's tests
	Exported int    // package-level names of a package; a block of constants counts as one name
}

// measureHouse counts the lines of handwritten code.
func measureHouse(sources []source) house {
	var h house
	packages := map[string]size{}
	for _, s := range sources {
		if s.Generated() {
			continue
		}
		p := packages[s.Package()]
		p.Name = s.Package()
		if s.Test() {
			p.Tests += s.Lines()
			h.Tests += s.Lines()
		} else {
			p.Lines += s.Lines()
			p.Exported += exported(s)
			if !strings.HasPrefix(s.Package(), tools) {
				h.Product += s.Lines()
			}
			h.Functions = append(h.Functions, functions(s)...)
		}
		packages[p.Name] = p
		h.Files = append(h.Files, size{Name: s.Path, Lines: s.Lines()})
	}
	for _, p := range packages {
		h.Packages = append(h.Packages, p)
	}
	for _, list := range [][]size{h.Packages, h.Files, h.Functions} {
		slices.SortFunc(list, func(a, b size) int {
			return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Name, b.Name))
		})
	}
	return h
}

func functions(s source) []size {
	var all []size
	for _, d := range s.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines := s.Set.Position(f.End()).Line - s.Set.Position(f.Pos()).Line + 1
			all = append(all, size{Name: s.Path + ":" + f.Name.Name, Lines: lines})
		}
	}
	return all
}

// exported counts the exported package-level names of a file. A block of constants counts as one
// name.
func exported(s source) int {
	n := 0
	for _, d := range s.File.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			names := 0
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names += countExported(spec.Name)
				case *ast.ValueSpec:
					names += countExported(spec.Names...)
				}
			}
			if d.Tok == token.CONST {
				names = min(names, 1)
			}
			n += names
		}
	}
	return n
}

func countExported(names ...*ast.Ident) int {
	n := 0
	for _, name := range names {
		if name.IsExported() {
			n++
		}
	}
	return n
}

// ratio returns the number of lines of tests per line of product code.
func (h house) ratio() float64 { return float64(h.Tests) / float64(max(h.Product, 1)) }

// violations returns the packages, files and functions that exceed their limits.
func (h house) violations() []string {
	var broken []string
	for _, c := range []struct {
		list    []size
		ceiling int
	}{{h.Files, maxFile}, {h.Functions, maxFunction}} {
		for _, s := range c.list {
			if s.Lines > c.ceiling {
				broken = append(broken, fmt.Sprintf("%s has %d lines, more than %d: split it by subject", s.Name, s.Lines, c.ceiling))
			}
		}
	}
	for _, p := range h.Packages {
		ceiling := max(maxExported, exportedCeilings[p.Name])
		if p.Exported > ceiling && !strings.HasPrefix(p.Name, "client") {
			broken = append(broken, fmt.Sprintf("%s exports %d names, more than %d: unexport or split by subject", p.Name, p.Exported, ceiling))
		}
	}
	return broken
}

// print writes a table of all packages, and the largest file and function.
func (h house) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s %8s %8s  %s\n", "product", "tests", "exported", "package")
	for _, p := range h.Packages {
		fmt.Fprintf(&b, "%8d %8d %8d  %s\n", p.Lines, p.Tests, p.Exported, p.Name)
	}
	fmt.Fprintf(&b, "%8d %8d           in all: %.2f lines of tests for a line of product code\n\n", h.Product, h.Tests, h.ratio())
	fmt.Fprintf(&b, "largest file      %4d  %s\n", h.Files[0].Lines, h.Files[0].Name)
	fmt.Fprintf(&b, "largest function  %4d  %s\n", h.Functions[0].Lines, h.Functions[0].Name)
	_, err := io.WriteString(w, b.String())
	return err
}
