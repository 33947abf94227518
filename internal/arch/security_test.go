package arch

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]*)`")

// TestGuardsExist checks that each row of docs/security.md names an existing guard: tests of an
// internal package, or a target of the Makefile.
func TestGuardsExist(t *testing.T) {
	t.Parallel()
	guards := map[string]bool{}
	for line := range strings.Lines(read(t, "../../Makefile")) {
		if target, _, ok := strings.Cut(line, ": ##"); ok {
			guards["make "+target] = true
		}
	}
	for _, s := range sources(t) {
		for _, d := range s.File.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.Test() && f.Recv == nil {
				domain := strings.TrimSuffix(strings.TrimPrefix(s.Package(), "internal/"), "/blackbox")
				guards[domain+" "+f.Name.Name] = true
			}
		}
	}
	rows := 0
	_, table, _ := strings.Cut(read(t, "../../docs/security.md"), "\n## Threats and protections\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") || strings.Contains(cells[3], " Test ") {
			continue
		}
		rows++
		named, in := 0, ""
		for _, match := range quoted.FindAllStringSubmatch(cells[3], -1) {
			switch word := match[1]; {
			case guards[word], guards[in+" "+word]:
				named++
			case strings.HasPrefix(word, "Test"), strings.HasPrefix(word, "Fuzz"), strings.HasPrefix(word, "make "):
				t.Errorf("unknown guard %s %s for %s", in, word, cells[1])
			default:
				in = word
			}
		}
		if named == 0 {
			t.Errorf("no test for the threat: %s", cells[1])
		}
	}
	if rows < 35 {
		t.Errorf("found only %d rows", rows)
	}
}

// TestFuzzTargetsAreLight checks that packages with fuzz targets have no tests that start the whole
// service, because scripts/fuzz would compile the service for them. It also checks that the names
// of the fuzz programs are unique.
func TestFuzzTargetsAreLight(t *testing.T) {
	t.Parallel()
	targets, starts, programs := map[string]int{}, map[string]bool{}, map[string]string{}
	for _, s := range sources(t) {
		if !s.Test() {
			continue
		}
		for _, d := range s.File.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
				targets[s.Package()]++
			}
		}
		for _, i := range s.File.Imports {
			starts[s.Package()] = starts[s.Package()] || strings.HasSuffix(i.Path.Value, `/internal/testkit/apptest"`)
		}
	}
	for folder := range targets {
		if starts[folder] {
			t.Errorf("%s has fuzz targets, and tests that start the whole service", folder)
		}
		if other, ok := programs[path.Base(folder)]; ok {
			t.Errorf("%s and %s would be one program", folder, other)
		}
		programs[path.Base(folder)] = folder
	}
	if len(targets) < 10 {
		t.Errorf("found targets only in %d packages", len(targets))
	}
}
