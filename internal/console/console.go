// Package console serves the web console: one page, whose script renders all other pages, and its
// assets. The console is an ordinary client of the API. It logs in with a cookie, and the API
// enforces all rules. The package also serves the web components for pages of other sites.
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

// Paths are the paths of the console's pages. A path with a trailing slash includes all paths below
// it, which the console's script routes (web/src/app/router.tsx).
var Paths = []string{
	"/", "/sign-in", "/register", "/forgot-password", "/reset-password", "/verify-email", "/invitations/",
	"/pricing", "/onboarding", "/onboarding/", "/plan", "/plan/", "/invoices", "/invoices/", "/team", "/team/",
	"/developers", "/developers/", "/activity", "/settings", "/settings/", "/profile", "/profile/", "/platform", "/platform/",
	"/billing", "/webhooks", components,
}

// components is a page with all UI components, for developers of the console. It is only served
// with the sandbox.
const components = "/components"

// Config configures the console.
type Config struct {
	Files     fs.FS              // the built console
	Addresses frontend.Addresses // of the frontend's pages
	Own       bool               // the console is the frontend
	PublicURL string             // of the service, without a trailing slash
	Brand     brand.Brand
	Sandbox   bool // the service runs with its sandbox, and the console shows the sandbox bar
	Practice  bool // a sandbox replaces only the payment provider, and the console says so
}

// Console serves the pages and assets. Create one with New.
type Console struct {
	config Config
	page   []byte
	policy string
	other  map[string]string // versions of the files outside of assets, by name
}

// New returns a Console. It returns an error if the files are not a built console.
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
	s := &Console{config: c, page: page, policy: policy(c.Brand.Logo.Address(c.PublicURL)), other: map[string]string{}}
	entries, err := fs.ReadDir(c.Files, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		content, err := fs.ReadFile(c.Files, e.Name())
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		s.other[e.Name()] = hex.EncodeToString(sum[:12])
	}
	return s, nil
}

// fillIndex inserts the properties of this service into the page: base path, product name, accent,
// and whether a sandbox replaces all dependencies or only the payment provider.
func fillIndex(index []byte, base string, c Config) ([]byte, error) {
	const head, title = "<head>", "<title>Tenantry</title>"
	if !bytes.Contains(index, []byte(head)) || !bytes.Contains(index, []byte(title)) {
		return nil, errors.New("console: unexpected content of the built page")
	}
	first := head + "\n    <base href=\"" + html.EscapeString(base) + "\" />"
	if c.Brand.Accent != "" {
		first += "\n    <meta name=\"accent\" content=\"" + html.EscapeString(c.Brand.Accent) + "\" />"
	}
	if c.Sandbox {
		first += "\n    <meta name=\"sandbox\" content=\"on\" />"
	}
	if c.Practice {
		first += "\n    <meta name=\"practice\" content=\"on\" />"
	}
	page := bytes.Replace(index, []byte(head), []byte(first), 1)
	return bytes.Replace(page, []byte(title), []byte("<title>"+html.EscapeString(c.Brand.App())+"</title>"), 1), nil
}

// policy returns the Content-Security-Policy of the console. It allows only its own files, the API
// and the logo. The page does not use inline scripts or styles.
func policy(logo string) string {
	images := "'self' data: blob:"
	if u, err := url.Parse(logo); err == nil && u.Host != "" {
		images += " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src " + images + "; connect-src 'self'; " +
		"base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
}

// Mount registers the console with mount. If the console is the frontend, it also redirects the
// configured addresses of pages to the console's addresses.
func (s *Console) Mount(mount func(path string, h http.Handler)) {
	for _, at := range Paths {
		if at != components || s.config.Sandbox {
			mount(at, allowGetOnly(s.show))
		}
	}
	entries, err := fs.ReadDir(s.config.Files, ".")
	if err != nil {
		panic(err) // cannot happen: New has read them
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

// redirectPage redirects the configured address of a page to the corresponding page of the console.
func (s *Console) redirectPage(mount func(path string, h http.Handler), page frontend.Page) {
	from, to := s.config.Addresses.Path(page), frontend.Addresses{}.Path(page)
	if page == frontend.OAuthCallback || from == to {
		return // account/oauth serves the callback page of delegated login
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

// allowGetOnly responds with 405 to requests other than GET and HEAD.
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

// ServeNotFound responds with status 404 and the page, whose script shows an error.
func (s *Console) ServeNotFound(w http.ResponseWriter, _ *http.Request) {
	s.setHeaders(w.Header())
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(s.page) // the client may have disconnected
}

func (s *Console) setHeaders(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Referrer-Policy", "same-origin") // the path or the query may contain a token
	h.Set("Cache-Control", "no-cache")
}

// kinds maps file extensions to content types, because the system's table may be incomplete.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".png": "image/png",
	".md": "text/plain; charset=utf-8",
}

// assets is the directory of files whose names contain a hash of their content.
const assets = "assets/"

func isCompressed(name string) bool {
	return strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz")
}

// file serves a file, compressed if the client accepts it. Files in assets can be cached forever,
// because their names change with their content.
func (s *Console) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	kind, known := kinds[path.Ext(name)]
	if !known || !hasFile(s.config.Files, name) {
		http.NotFound(w, r)
		return
	}
	version, lifetime := s.other[name], "no-cache"
	if strings.HasPrefix(name, assets) {
		version, lifetime = path.Base(name), "public, max-age=31536000, immutable" // the name contains a hash
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", lifetime)
	servePacked(w, r, s.config.Files, name, version)
}
