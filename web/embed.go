//go:build !no_ui

// Package web contains the built console: its pages, scripts, styles and fonts, with compressed
// copies.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Included reports whether the program contains the console.
const Included = true

// Files returns the built console.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}
