//go:build race

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program runs the tests with an ordinary build of the program as `tenantry`. Under the race
// detector most of the time would go to programs of which a test asks one thing after the
// other. Those that are driven from many sides at once are started as [watched], which has the
// detector (docs/adr/0021).
type program struct{ *testing.M }

// Run implements testscript.TestingM.
func (p program) Run() int {
	dir, err := os.MkdirTemp("", "tenantry-program-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir)
	//nolint:noctx // there is no test yet whose context it could have
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "tenantry"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		return failed(fmt.Errorf("%w\n%s", err, out))
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return failed(err)
	}
	return p.M.Run()
}

func failed(err error) int {
	_, _ = fmt.Fprintln(os.Stderr, err)
	return 1
}
