//go:build !no_ui

// Package web contains the built console: its page, scripts, styles and fonts. Scripts and styles are
// compressed.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist/index.html dist/*.js dist/*.svg dist/licenses.md
//go:embed dist/assets/*.br dist/assets/*.gz dist/assets/*.woff2
var dist embed.FS

// Included reports whether the program contains the console.
const Included = true

// Files returns the built console. It contains scripts and styles in assets only compressed, each as
// name.br and name.gz.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}
