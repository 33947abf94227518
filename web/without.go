//go:build no_ui

// Package web has the built console. This program is built without it.
package web

import (
	"embed"
	"io/fs"
)

// Included reports whether the console is in this program.
const Included = false

// Files returns nothing.
func Files() fs.FS { return embed.FS{} }
