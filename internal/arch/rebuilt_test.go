package arch

import (
	"strings"
	"testing"
)

// TestNothingIsCompiledTwice checks that tests of the whole service are not in folders with
// internal tests. A test file in the package itself creates another variant of the package, and Go
// then recompiles all packages between it and the imports of its external tests. With the race
// detector this takes half a minute per domain.
func TestNothingIsCompiledTwice(t *testing.T) {
	t.Parallel()
	all := map[string]pkg{}
	for _, p := range packages(t) {
		all[p.ImportPath] = p
	}
	for _, p := range all {
		if len(p.TestGoFiles) == 0 {
			continue
		}
		again := map[string]bool{}
		reaches := map[string]bool{}
		for _, i := range p.XTestImports {
			compiledAgain(all, i, p.ImportPath, reaches, again)
		}
		if path, _ := place(p.ImportPath); len(again) > 5 { // test helpers, which compile fast
			t.Errorf("%s has tests inside, and its external tests compile %d packages again: put those into %s/blackbox", path, len(again), path)
		}
	}
}

// compiledAgain reports whether the package from depends on target. It collects from, and the
// packages between from and target, in again.
func compiledAgain(all map[string]pkg, from, target string, seen, again map[string]bool) bool {
	if from == target {
		return true
	}
	if known, ok := seen[from]; ok || !strings.HasPrefix(from, module) {
		return known
	}
	seen[from] = false
	found := false
	for _, i := range all[from].Imports {
		found = compiledAgain(all, i, target, seen, again) || found
	}
	seen[from] = found
	if found {
		again[from] = true
	}
	return found
}

// TestBlackboxFoldersContainOnlyTests checks that folders for black-box tests contain nothing else,
// so that only the tests are compiled.
func TestBlackboxFoldersContainOnlyTests(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range packages(t) {
		if !strings.Contains(p.ImportPath+"/", "/blackbox/") {
			continue
		}
		found++
		if len(p.GoFiles)+len(p.TestGoFiles) > 0 || len(p.XTestImports) == 0 {
			t.Errorf("%s has files that are not external tests", p.ImportPath)
		}
	}
	if found < 10 {
		t.Errorf("only %d folders of black-box tests", found)
	}
}
