package arch

import (
	"go/ast"
	"regexp"
	"testing"
)

var walked = regexp.MustCompile("`([a-z0-9_/]+\\.go):(\\w+)`")

// TestWalksAreTrue checks that the functions in CONTRIBUTING.md are in the files that it names.
func TestWalksAreTrue(t *testing.T) {
	t.Parallel()
	there := map[string]bool{} // file:function
	for _, s := range sources(t) {
		for _, d := range s.File.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				there[s.Path+":"+f.Name.Name] = true
			}
		}
	}
	steps := walked.FindAllStringSubmatch(documents(t)["CONTRIBUTING.md"], -1)
	if len(steps) < 20 {
		t.Errorf("found only %d steps of walks", len(steps))
	}
	for _, step := range steps {
		if name := step[1] + ":" + step[2]; !there[name] {
			t.Errorf("CONTRIBUTING.md: %s does not exist", name)
		}
	}
}
