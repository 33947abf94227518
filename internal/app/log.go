package app

import (
	"runtime/debug"
	"strings"
)

// version is the version of a release. Its build sets it (scripts/release).
var version string

// Version returns the version of a release, such as 0.1.0. For other builds it returns the version
// that Go recorded, or "dev".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "dev"
}

// revision returns the commit that the build recorded, or "unknown".
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return "unknown"
}
