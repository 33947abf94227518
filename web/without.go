//go:build no_ui

// Package web contains the built console. This build omits the console.
package web

import (
	"embed"
	"io/fs"
)

// Included reports whether the program contains the console.
const Included = false

// Files returns an empty file system.
func Files() fs.FS { return embed.FS{} }
