package console

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// ElementsPath is the path of the components. Its version changes with incompatible changes.
const ElementsPath = "/elements/v1/"

// The cache lifetimes of files. A file requested with its version is cached forever. Any other file
// is cached for an hour, after which a browser can use it while it revalidates.
const (
	cacheForever = "public, max-age=31536000, immutable"
	cacheOneHour = "public, max-age=3600, stale-while-revalidate=604800"
)

// elementKinds maps file name patterns to content types. Other files are not served.
var elementKinds = map[string]string{"*.js": "text/javascript; charset=utf-8", "*.md": "text/plain; charset=utf-8"}

// ServeElements serves the built web components in files to pages of all origins. The components
// are public, and the API protects the data that they read. Mount the handler at ElementsPath. It
// computes the versions at the first request, because most processes never serve the files.
func ServeElements(files fs.FS) http.Handler {
	versions := sync.OnceValues(func() (map[string]string, error) { return readVersions(files) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This is a file.", http.StatusMethodNotAllowed)
			return
		}
		all, err := versions()
		if err != nil {
			panic(err) // cannot happen: the files are embedded
		}
		name := strings.TrimPrefix(r.URL.Path, ElementsPath)
		version, there := all[name]
		if !there {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", elementKinds["*"+path.Ext(name)])
		h.Set("Access-Control-Allow-Origin", "*")
		h.Del("Access-Control-Allow-Credentials")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Cache-Control", cacheOneHour)
		if r.URL.Query().Get("v") == version {
			h.Set("Cache-Control", cacheForever)
		}
		servePacked(w, r, files, name, version)
	})
}

// readVersions returns the versions of the files, which are hashes of the files as they are stored.
func readVersions(files fs.FS) (map[string]string, error) {
	all := map[string]string{}
	for pattern := range elementKinds {
		for _, suffix := range []string{"", ".gz"} {
			names, err := fs.Glob(files, pattern+suffix)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				content, err := fs.ReadFile(files, name)
				if err != nil {
					return nil, err
				}
				sum := sha256.Sum256(content)
				all[strings.TrimSuffix(name, suffix)] = hex.EncodeToString(sum[:6])
			}
		}
	}
	return all, nil
}
