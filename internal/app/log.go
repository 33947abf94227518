package app

import "runtime/debug"

// version is that of a release, which its build sets (scripts/release).
var version string

// Version returns the version of a release, else the one that Go recorded, "dev" without one.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// revision returns the commit that the build recorded, "unknown" without one.
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
