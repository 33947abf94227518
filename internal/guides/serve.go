package guides

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

// policy is the Content-Security-Policy of the guides. It allows only their own files.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Mount registers the site at /docs with mount.
func (s *Site) Mount(mount func(path string, h http.Handler)) {
	mount("/docs", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "docs/") // relative, because the service may be below a path prefix
		w.WriteHeader(http.StatusMovedPermanently)
	}))
	mount("/docs/", http.HandlerFunc(s.serve))
}

// elsewhere matches the suffixes of page addresses on other hosts of the guides, such as a
// repository host or a static file server.
var elsewhere = regexp.MustCompile(`(/README)?\.(md|html)$|/$`)

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "This is a page.", http.StatusMethodNotAllowed)
		return
	}
	files, err := s.build()
	if err != nil { // a test ensures that the build succeeds
		http.Error(w, "The guides cannot be shown.", http.StatusInternalServerError)
		return
	}
	_, name, _ := strings.Cut(r.URL.Path, "/docs/")
	f, there := files[name]
	if !there {
		// Redirect from the addresses that other hosts of the guides use.
		if other := elsewhere.ReplaceAllString(name, ""); other != name && (files[other].content != nil || files[other].render != nil) {
			w.Header().Set("Location", strings.Repeat("../", strings.Count(name, "/"))+"./"+other)
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		if section, found := s.sectionOf(name); found {
			w.Header().Set("Location", strings.Repeat("../", strings.Count(name, "/"))+section)
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		unknown := s.unknownGuide
		if strings.HasPrefix(name, "api/") {
			unknown = s.unknownOperation
		}
		if f, err = unknown(name); err != nil { // a test renders the page
			http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
			return
		}
	}
	if f.render != nil {
		content, err := f.render()
		if err != nil { // a test renders all pages
			http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
			return
		}
		f.content, f.packed = content, compressContent(content)
	}
	s.answer(w, r, name, f)
}

func (s *Site) answer(w http.ResponseWriter, r *http.Request, name string, f file) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept-Encoding")
	content := f.content
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		content = f.packed
		h.Set("Content-Encoding", "gzip")
	}
	if f.status != 0 {
		w.WriteHeader(f.status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(content)
		}
		return
	}
	sum := sha256.Sum256(content)
	h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(content))
}
