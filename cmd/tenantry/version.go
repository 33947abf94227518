package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run shows what the binary was built from and with.
func (versionCmd) Run(p *process) error {
	version, commit := "(unknown)", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		settings := make(map[string]string, len(info.Settings))
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if revision := settings["vcs.revision"]; revision != "" {
			commit = revision
		}
		if settings["vcs.modified"] == "true" {
			commit += " (modified)"
		}
	}
	_, err := fmt.Fprintf(p.out, "tenantry %s\ncommit %s\n%s %s/%s\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
