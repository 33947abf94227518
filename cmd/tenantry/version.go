package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tenantry/tenantry/internal/app"
)

type versionCmd struct{}

// Run shows the version, the commit and the Go version of the build.
func (versionCmd) Run(p *process) error {
	_, err := fmt.Fprintf(p.out, "tenantry %s\ncommit %s\n%s %s/%s\n",
		app.Version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// commit returns the git revision that the binary was built from.
func commit() string {
	revision, modified := "unknown", ""
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return revision
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			modified = " (modified)"
		}
	}
	return revision + modified
}
