//go:build race

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program runs the tests with a regular build of the program as `tenantry`. These tests start the
// program more than a hundred times and mostly send sequential requests, so the race detector would
// cost much and find little. Tests with concurrent requests start the program as [watched], which
// has the race detector.
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
