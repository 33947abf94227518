package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"io"
	"slices"
	"strings"
)

// The ceilings, in lines with comments and blank ones. Generated code has none.
const (
	maxFile     = 500 // tests included
	maxFunction = 60  // product code
)

// tools has programs for developers, which count neither as product code nor as tests. The other
// ceilings apply to them.
const tools = "tools/"

// House is how large the project is.
type House struct {
	Packages  []Sized // the largest first
	Files     []Sized
	Functions []Sized
	Product   int // lines of product code
	Tests     int // lines of tests
}

// Sized is something with a name and its lines.
type Sized struct {
	Name  string // a folder, a file, or file:function
	Lines int    // of product code; of a file all
	Tests int    // of a package
}

// Measure counts lines of hand-written code.
func Measure(sources []Source) House {
	var h House
	packages := map[string]Sized{}
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
			if !strings.HasPrefix(s.Package(), tools) {
				h.Product += s.Lines()
			}
			h.Functions = append(h.Functions, functions(s)...)
		}
		packages[p.Name] = p
		h.Files = append(h.Files, Sized{Name: s.Path, Lines: s.Lines()})
	}
	for _, p := range packages {
		h.Packages = append(h.Packages, p)
	}
	for _, list := range [][]Sized{h.Packages, h.Files, h.Functions} {
		slices.SortFunc(list, func(a, b Sized) int {
			return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Name, b.Name))
		})
	}
	return h
}

func functions(s Source) []Sized {
	var all []Sized
	for _, d := range s.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			lines := s.Set.Position(f.End()).Line - s.Set.Position(f.Pos()).Line + 1
			all = append(all, Sized{Name: s.Path + ":" + f.Name.Name, Lines: lines})
		}
	}
	return all
}

// Ratio returns lines of tests per line of product code.
func (h House) Ratio() float64 { return float64(h.Tests) / float64(max(h.Product, 1)) }

// Broken lists the files and functions that are above their ceilings.
func (h House) Broken() []string {
	var broken []string
	for _, c := range []struct {
		list    []Sized
		ceiling int
	}{{h.Files, maxFile}, {h.Functions, maxFunction}} {
		for _, s := range c.list {
			if s.Lines > c.ceiling {
				broken = append(broken, fmt.Sprintf("%s has %d lines, more than %d: split it by subject", s.Name, s.Lines, c.ceiling))
			}
		}
	}
	return broken
}

// Print writes a table of all packages, and the largest file and function.
func (h House) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s %8s  %s\n", "product", "tests", "package")
	for _, p := range h.Packages {
		fmt.Fprintf(&b, "%8d %8d  %s\n", p.Lines, p.Tests, p.Name)
	}
	fmt.Fprintf(&b, "%8d %8d  in all: %.2f lines of tests for a line of product code\n\n", h.Product, h.Tests, h.Ratio())
	fmt.Fprintf(&b, "largest file      %4d  %s\n", h.Files[0].Lines, h.Files[0].Name)
	fmt.Fprintf(&b, "largest function  %4d  %s\n", h.Functions[0].Lines, h.Functions[0].Name)
	_, err := io.WriteString(w, b.String())
	return err
}
