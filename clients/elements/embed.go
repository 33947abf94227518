//go:build !no_ui

// Package elements contains the built web components, compressed.
package elements

import (
	"embed"
	"io/fs"
)

//go:embed dist/*.gz dist/licenses.md
var dist embed.FS

// Included reports whether the components are part of this program.
const Included = true

// Files returns the built components, compressed with gzip, and their licenses.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}
