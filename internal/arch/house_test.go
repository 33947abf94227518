// Package arch checks the rules of the project's architecture with tests: which packages can import
// each other, where a library can be used, how large packages, files and functions can be, and that
// the documentation matches the code.
package arch

import "testing"

// With -v, the test prints the size of all packages.
func TestHouse(t *testing.T) {
	t.Parallel()
	h := measureHouse(sources(t))
	if err := h.print(t.Output()); err != nil {
		t.Fatal(err)
	}
	for _, what := range h.violations() {
		t.Error(what)
	}
}
