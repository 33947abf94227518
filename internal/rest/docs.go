package rest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/swaggest/swgui/v5/static"
)

//go:embed docs
var docsFiles embed.FS

// docsPolicy is the content security policy of the reference: its own files and
// nothing from elsewhere. Swagger UI sets style attributes and draws with data
// URLs.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mountDocs serves the OpenAPI document and a reference page made of it, which
// loads nothing from another host.
func (a *API) mountDocs() {
	a.get("/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		text, err := a.Document()
		if err != nil {
			a.WriteError(w, r, err)
			return
		}
		serveStatic(w, r, "application/json", text)
	})
	a.get("/docs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", docsPolicy)
		a.serveFile(w, r, docsFiles, "docs/index.html", "text/html; charset=utf-8")
	})
	for name, contentType := range map[string]string{
		"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"swagger-ui.css":       "text/css; charset=utf-8",
	} {
		a.get("/docs/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("Vary", "Accept-Encoding")
			if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				w.Header().Set("Content-Encoding", "gzip")
				a.serveFile(w, r, static.FS, name+".gz", contentType)
				return
			}
			a.serveFile(w, r, gunzipped{static.FS}, name, contentType)
		})
	}
	a.get("/docs/init.js", func(w http.ResponseWriter, r *http.Request) {
		a.serveFile(w, r, docsFiles, "docs/init.js", "text/javascript; charset=utf-8")
	})
	a.get("/docs/favicon-32x32.png", func(w http.ResponseWriter, r *http.Request) {
		a.serveFile(w, r, static.FS, "favicon-32x32.png", "image/png")
	})
}

func (a *API) get(path string, h http.HandlerFunc) {
	a.router.Get(path, h)
	a.router.Head(path, h)
}

// Document returns the OpenAPI document as JSON, the same bytes for the same
// routes and configuration.
func (a *API) Document() ([]byte, error) { return a.document() }

// encodeDocument encodes the document when it is needed for the first time.
func (a *API) encodeDocument() ([]byte, error) {
	text, err := json.Marshal(a.OpenAPI(), json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(text)
	err = value.Indent(jsontext.WithIndent("  "))
	return append(value, '\n'), err
}

func (a *API) serveFile(w http.ResponseWriter, r *http.Request, files fs.FS, name, contentType string) {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		a.WriteError(w, r, err)
		return
	}
	serveStatic(w, r, contentType, content)
}

// serveStatic answers with content that only changes with the program. Clients may
// keep it, but ask each time whether it is still right.
func serveStatic(w http.ResponseWriter, r *http.Request, contentType string, content []byte) {
	sum := sha256.Sum256(content)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", contentType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// gunzipped reads the file name from name.gz, for the rare client that accepts no
// gzip.
type gunzipped struct{ embed.FS }

func (g gunzipped) ReadFile(name string) ([]byte, error) {
	packed, err := g.FS.ReadFile(name + ".gz")
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
