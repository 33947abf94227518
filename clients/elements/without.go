//go:build no_ui

// Package elements has the built web components. This program is built without them.
package elements

import (
	"embed"
	"io/fs"
)

// Included reports whether the components are in this program.
const Included = false

// Files returns nothing.
func Files() fs.FS { return embed.FS{} }
