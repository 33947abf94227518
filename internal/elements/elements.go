// Package elements serves the web components that pages of other sites load from the service.
// Package sandbox serves the page that demonstrates them.
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

// Path is the path of the components. Its version changes with incompatible changes.
const Path = "/elements/v1/"

// The cache lifetimes of files. A file requested with its version is cached forever. Any other file
// is cached for an hour, after which a browser can use it while it revalidates.
const (
	cacheForever = "public, max-age=31536000, immutable"
	cacheOneHour = "public, max-age=3600, stale-while-revalidate=604800"
)

// kinds maps file name patterns to content types. Other files are not served.
var kinds = map[string]string{"*.js": "text/javascript; charset=utf-8", "*.md": "text/plain; charset=utf-8"}

// file is a component, with its compressed copy if there is one.
type file struct {
	kind        string
	plain, gzip []byte
	version     string
}

// Handler serves the built components in files to pages of all origins. The components are public,
// and the API protects the data that they read. Mount the handler at Path. It reads the files at
// the first request, because most processes never serve them.
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
			panic(err) // cannot happen: the files are embedded
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
	h.Set("Cache-Control", cacheOneHour)
	if r.URL.Query().Get("v") == f.version {
		h.Set("Cache-Control", cacheForever)
	}
	content, tag := f.plain, f.version
	if f.gzip != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		content, tag = f.gzip, f.version+"-gzip"
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether the client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(weight, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
