// Package elements serves the web components that other people's pages load from the service. The
// page of the sandbox that shows them is in package sandbox.
package elements

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Path is where the components are. Its number changes when a page that uses them has to.
const Path = "/elements/v1/"

// For how long a browser keeps a file: one that is asked for by its version for ever, else for an
// hour, after which it still shows the old one while it asks for a newer.
const (
	forEver = "public, max-age=31536000, immutable"
	anHour  = "public, max-age=3600, stale-while-revalidate=604800"
)

// kinds are the types of the files that are served, by their names.
var kinds = map[string]string{"*.js": "text/javascript; charset=utf-8", "*.md": "text/plain; charset=utf-8"}

// file is a component, with its compressed copy where there is one.
type file struct {
	kind        string
	plain, gzip []byte
	version     string
}

// Handler serves the built components in files to pages of every origin: they are public, and what
// they read is protected by the API. It is mounted at Path. The files are read at the first
// request: most processes are never asked for them.
func Handler(files fs.FS) http.Handler {
	components := sync.OnceValues(func() (map[string]file, error) { return readFiles(files) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This is a file.", http.StatusMethodNotAllowed)
			return
		}
		all, err := components()
		if err != nil {
			panic(err) // they are part of the program
		}
		one, there := all[strings.TrimPrefix(r.URL.Path, Path)]
		if !there {
			http.NotFound(w, r)
			return
		}
		one.serve(w, r)
	})
}

func readFiles(files fs.FS) (map[string]file, error) {
	all := map[string]file{}
	for pattern, kind := range kinds {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			plain, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, err
			}
			gzip, err := fs.ReadFile(files, name+".gz")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			sum := sha256.Sum256(plain)
			all[name] = file{kind: kind, plain: plain, gzip: gzip, version: hex.EncodeToString(sum[:6])}
		}
	}
	return all, nil
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Del("Access-Control-Allow-Credentials")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", anHour)
	if r.URL.Query().Get("v") == f.version {
		h.Set("Cache-Control", forEver)
	}
	content, tag := f.plain, f.version
	if f.gzip != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		content, tag = f.gzip, f.version+"-gzip"
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether a client takes the compressed copy.
func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(weight, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
