package guides

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"

	"github.com/swaggest/swgui/v5/static"
)

// referencePolicy is the Content-Security-Policy of the API reference. It allows only its own
// files. Swagger UI needs style attributes and data URLs for images.
const referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// addReference adds the page that shows /openapi.json. It loads nothing from other hosts.
func addReference(files map[string]file) error {
	for name, from := range map[string]string{"api": "assets/reference/api.html", "api/init.js": "assets/reference/init.js"} {
		content, err := fs.ReadFile(assets, from)
		if err != nil {
			return err
		}
		files[name] = file{kind: kinds[".html"], content: content}
		if name != "api" {
			files[name] = file{kind: kinds[".js"], content: content}
		}
	}
	for name, ending := range map[string]string{"swagger-ui-bundle.js": ".js", "swagger-ui.css": ".css"} {
		packed, err := fs.ReadFile(static.FS, name+".gz")
		if err != nil {
			return err
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		files["api/"+name] = file{kind: kinds[ending], content: content, packed: packed}
	}
	icon, err := fs.ReadFile(static.FS, "favicon-32x32.png")
	files["api/favicon-32x32.png"] = file{kind: kinds[".png"], content: icon}
	return err
}
