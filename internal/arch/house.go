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

// The ceilings, in lines with comments and blank ones. Generated code has none.
const (
	maxFile     = 500 // tests included
	maxFunction = 60  // product code
	maxExported = 40  // package-level names of product code
)

// exportedCeilings are the packages that export more names than maxExported. Their ceilings only
// go down.
var exportedCeilings = map[string]int{
	"internal/psp":                 54,
	"internal/rest":                43,
	"internal/usage":               48,
	"sandbox/stripe/customers":     55,
	"sandbox/stripe/kernel":        56,
	"sandbox/stripe/subscriptions": 56,
}

// tools has programs for developers, which count neither as product code nor as tests. The other
// ceilings apply to them.
const tools = "tools/"

// House is how large the project is.
type House struct {
	Packages  []Size // the largest first
	Files     []Size
	Functions []Size
	Product   int // lines of product code
	Tests     int // lines of tests
}

// Size is a package, a file or a function with its size.
type Size struct {
	Name     string // a folder, a file, or file:function
	Lines    int    // of product code; of a file all
	Tests    int    // lines of tests of a package
	Exported int    // package-level names of a package; a block of constants counts as one
}

// Measure counts lines of hand-written code.
func Measure(sources []Source) House {
	var h House
	packages := map[string]Size{}
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
		h.Files = append(h.Files, Size{Name: s.Path, Lines: s.Lines()})
	}
	for _, p := range packages {
		h.Packages = append(h.Packages, p)
	}
	for _, list := range [][]Size{h.Packages, h.Files, h.Functions} {
		slices.SortFunc(list, func(a, b Size) int {
			return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Name, b.Name))
		})
	}
	return h
}

func functions(s Source) []Size {
	var all []Size
	for _, d := range s.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines := s.Set.Position(f.End()).Line - s.Set.Position(f.Pos()).Line + 1
			all = append(all, Size{Name: s.Path + ":" + f.Name.Name, Lines: lines})
		}
	}
	return all
}

// exported counts the exported package-level names of a file. A block of constants is one
// vocabulary and counts as one name.
func exported(s Source) int {
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

// Ratio returns lines of tests per line of product code.
func (h House) Ratio() float64 { return float64(h.Tests) / float64(max(h.Product, 1)) }

// Violations lists the files and functions that are above their ceilings.
func (h House) Violations() []string {
	var broken []string
	for _, c := range []struct {
		list    []Size
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

// Print writes a table of all packages, and the largest file and function.
func (h House) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s %8s %8s  %s\n", "product", "tests", "exported", "package")
	for _, p := range h.Packages {
		fmt.Fprintf(&b, "%8d %8d %8d  %s\n", p.Lines, p.Tests, p.Exported, p.Name)
	}
	fmt.Fprintf(&b, "%8d %8d           in all: %.2f lines of tests for a line of product code\n\n", h.Product, h.Tests, h.Ratio())
	fmt.Fprintf(&b, "largest file      %4d  %s\n", h.Files[0].Lines, h.Files[0].Name)
	fmt.Fprintf(&b, "largest function  %4d  %s\n", h.Functions[0].Lines, h.Functions[0].Name)
	_, err := io.WriteString(w, b.String())
	return err
}
