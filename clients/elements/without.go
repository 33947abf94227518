//go:build no_ui

// Package elements contains the built web components. This build omits them.
package elements

import (
	"embed"
	"io/fs"
)

// Included reports whether the components are part of this program.
const Included = false

// Files returns an empty file system.
func Files() fs.FS { return embed.FS{} }
