package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tenantry/tenantry/internal/app"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Output JSON: {version, commit, modified, date, go, os, arch}."`
}

// build describes a binary.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "unknown" if the build had no repository
	Modified bool   `json:"modified"`
	Date     string `json:"date"` // of the commit, RFC 3339; "" if unknown
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// Run shows the version, the commit and the Go version of the build.
func (c versionCmd) Run(p *process) error {
	b := readBuild()
	if c.JSON {
		return json.NewEncoder(p.out).Encode(b)
	}
	modified := ""
	if b.Modified {
		modified = " (modified)"
	}
	date := ""
	if b.Date != "" {
		date = " of " + b.Date
	}
	_, err := fmt.Fprintf(p.out, "tenantry %s\ncommit %s%s%s\n%s %s/%s\n", b.Version, b.Commit, modified, date, b.Go, b.OS, b.Arch)
	return err
}

func readBuild() build {
	b := build{Version: app.Version(), Commit: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		case "vcs.time":
			b.Date = setting.Value
		}
	}
	return b
}
