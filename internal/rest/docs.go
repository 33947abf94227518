package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mountDocs serves the OpenAPI document. The page for people is made by guides.
func (a *API) mountDocs() {
	a.get("/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		text, err := a.Document()
		if err != nil {
			a.WriteError(w, r, err)
			return
		}
		serveStatic(w, r, "application/json", text)
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

// serveStatic answers with content that only changes with the program. Clients may
// keep it, but ask each time whether it is still right.
func serveStatic(w http.ResponseWriter, r *http.Request, contentType string, content []byte) {
	sum := sha256.Sum256(content)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Type", contentType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
