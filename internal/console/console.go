// Package console serves the web console: one page whose script shows all others, and the files
// that it loads. The console is a client of the API like any other: it logs in with a cookie, and
// every rule is the API's.
package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/frontend"
)

// Paths are where the console's pages are. One that ends with a slash has pages below it; what
// is there is decided by the console's script (web/src/app/router.tsx).
var Paths = []string{
	"/", "/sign-in", "/register", "/forgot-password", "/reset-password", "/verify-email", "/invitations/",
	"/pricing", "/onboarding", "/onboarding/", "/plan", "/invoices", "/invoices/", "/team", "/team/",
	"/developers", "/developers/", "/activity", "/settings", "/profile", "/platform", "/platform/",
	"/billing", "/webhooks", components,
}

// components is the page of all pieces of the console, for who works on it. It is served with the
// sandbox only.
const components = "/components"

// Config is what the console needs.
type Config struct {
	Files     fs.FS              // of the built console
	Addresses frontend.Addresses // of the frontend's pages
	Own       bool               // whether the console is the frontend
	PublicURL string             // of the service, without a slash at its end
	Brand     brand.Brand
	Sandbox   bool // whether the service runs with its sandbox, whose bar the console shows
}

// Console serves the pages and files. Build one with New.
type Console struct {
	config Config
	page   []byte
	policy string
	etags  map[string]string // of the files, by name
}

// New returns the console. It fails when the files are not a built console.
func New(c Config) (*Console, error) {
	index, err := fs.ReadFile(c.Files, "index.html")
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(c.PublicURL)
	if err != nil {
		return nil, err
	}
	page, err := fillIndex(index, strings.TrimRight(base.Path, "/")+"/", c)
	if err != nil {
		return nil, err
	}
	s := &Console{config: c, page: page, policy: policy(c.Brand.Logo.Address(c.PublicURL)), etags: map[string]string{}}
	err = fs.WalkDir(c.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if s.etags[name] = `"` + path.Base(name) + `"`; strings.HasPrefix(name, assets) {
			return nil // its name has a hash of its content
		}
		content, err := fs.ReadFile(c.Files, name)
		sum := sha256.Sum256(content)
		s.etags[name] = `"` + hex.EncodeToString(sum[:12]) + `"`
		return err
	})
	return s, err
}

// fillIndex puts into the page what differs between services: below which path it is, the product's
// name, its accent, and whether there is a sandbox.
func fillIndex(index []byte, base string, c Config) ([]byte, error) {
	const head, title = "<head>", "<title>Tenantry</title>"
	if !bytes.Contains(index, []byte(head)) || !bytes.Contains(index, []byte(title)) {
		return nil, errors.New("console: the built page is not the expected one")
	}
	first := head + "\n    <base href=\"" + html.EscapeString(base) + "\" />"
	if c.Brand.Accent != "" {
		first += "\n    <meta name=\"accent\" content=\"" + html.EscapeString(c.Brand.Accent) + "\" />"
	}
	if c.Sandbox {
		first += "\n    <meta name=\"sandbox\" content=\"on\" />"
	}
	page := bytes.Replace(index, []byte(head), []byte(first), 1)
	return bytes.Replace(page, []byte(title), []byte("<title>"+html.EscapeString(c.Brand.App())+"</title>"), 1), nil
}

// policy returns the content security policy of the console: its own files, the API and the logo,
// nothing else. No script or style stands in the page.
func policy(logo string) string {
	images := "'self' data: blob:"
	if u, err := url.Parse(logo); err == nil && u.Host != "" {
		images += " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src " + images + "; connect-src 'self'; " +
		"base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
}

// Mount serves the console with mount. Where it is the frontend, addresses that the settings give
// to pages of its lead to them.
func (s *Console) Mount(mount func(path string, h http.Handler)) {
	for _, at := range Paths {
		if at != components || s.config.Sandbox {
			mount(at, allowGetOnly(s.show))
		}
	}
	entries, err := fs.ReadDir(s.config.Files, ".")
	if err != nil {
		panic(err) // New has read them
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			mount("/"+e.Name()+"/", allowGetOnly(s.file))
		case e.Name() != "index.html" && !isCompressed(e.Name()):
			mount("/"+e.Name(), allowGetOnly(s.file))
		}
	}
	if s.config.Own {
		for page := range s.config.Addresses.Paths {
			s.redirectPage(mount, page)
		}
	}
}

// redirectPage leads from the address that the settings give to a page to the console's.
func (s *Console) redirectPage(mount func(path string, h http.Handler), page frontend.Page) {
	from, to := s.config.Addresses.Path(page), frontend.Addresses{}.Path(page)
	if page == frontend.OAuthCallback || from == to {
		return // account/oauth serves the page that ends a delegated login
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+from, func(w http.ResponseWriter, r *http.Request) {
		target := strings.TrimRight(s.config.PublicURL, "/") + strings.Replace(to, "{token}", url.PathEscape(r.PathValue("token")), 1)
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, target, http.StatusFound) //nolint:gosec // It begins with the service's own URL.
	})
	at, _, _ := strings.Cut(from, "{")
	mount(at, mux)
}

// allowGetOnly answers what is not a GET or HEAD with 405.
func allowGetOnly(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This is a page.", http.StatusMethodNotAllowed)
			return
		}
		h(w, r)
	})
}

func (s *Console) show(w http.ResponseWriter, r *http.Request) {
	s.setHeaders(w.Header())
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.page))
}

// ServeNotFound answers 404 with the console's page, whose script says that there is no such page.
func (s *Console) ServeNotFound(w http.ResponseWriter, _ *http.Request) {
	s.setHeaders(w.Header())
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(s.page) // the client may be gone
}

func (s *Console) setHeaders(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Referrer-Policy", "same-origin") // the path or the query may have a token
	h.Set("Cache-Control", "no-cache")
}

// kinds are the types of the files by their ending; a system's table may lack some.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".png": "image/png",
	".md": "text/plain; charset=utf-8",
}

// assets is the folder of the files whose names change with their content.
const assets = "assets/"

func isCompressed(name string) bool {
	return strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz")
}

// file serves a file, compressed where the client takes that. Names below assets change with their
// content, so they may be kept for ever.
func (s *Console) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	kind, known := kinds[path.Ext(name)]
	if _, there := s.etags[name]; !there || !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, assets) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Add("Vary", "Accept-Encoding")
	for _, by := range []struct{ encoding, ending string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if _, there := s.etags[name+by.ending]; there && acceptsEncoding(r, by.encoding) {
			h.Set("Content-Encoding", by.encoding)
			name += by.ending
			break
		}
	}
	h.Set("ETag", s.etags[name])
	content, err := fs.ReadFile(s.config.Files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsEncoding reports whether a client takes an encoding.
func acceptsEncoding(r *http.Request, encoding string) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.TrimSpace(name) == encoding && strings.ReplaceAll(weight, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
