package console_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/console"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/web"
)

const index = "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>Tenantry</title>\n</head>\n<body></body>\n</html>\n"

// built is a minimal built console.
var built = fstest.MapFS{
	"index.html":             {Data: []byte(index)},
	"index.html.br":          {Data: []byte("?")},
	"start.js":               {Data: []byte("// theme")},
	"assets/app-abc.js.br":   {Data: []byte("brotli")},
	"assets/app-abc.js.gz":   {Data: compress("plain")},
	"assets/font-abc.woff2":  {Data: []byte("font")},
	"assets/unknown-abc.exe": {Data: []byte("?")},
}

func compress(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer accepts everything
	_ = w.Close()
	return b.Bytes()
}

func serve(t *testing.T, c console.Config) http.Handler {
	t.Helper()
	pages, err := console.New(c)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	pages.Mount(func(path string, h http.Handler) {
		if path == "/" {
			path = "/{$}"
		}
		mux.Handle(path, h)
	})
	return mux
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The page contains the base path, the product name and whether there is a sandbox, all escaped.
// Its policy allows only its own files and the logo, and no inline scripts or styles.
func TestPage(t *testing.T) {
	t.Parallel()
	h := serve(t, console.Config{
		Files: built, PublicURL: "https://example.com/billing", Sandbox: true,
		Brand: brand.Brand{Name: "Engines <& Sons>", Accent: "#123456"},
	})
	for _, path := range []string{"/", "/sign-in", "/invitations/abc", "/platform/tenants/1", "/team/roles", "/settings/sign-in", "/profile/security"} {
		w := get(h, path)
		for _, want := range []string{
			`<base href="/billing/" />`, `<meta name="accent" content="#123456" />`, `<meta name="sandbox" content="on" />`,
			`<title>Engines &lt;&amp; Sons&gt;</title>`,
		} {
			if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d, %s is not in %s", path, w.Code, want, w.Body)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "style-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", path, policy)
		}
		if w.Header().Get("Cache-Control") != "no-cache" || w.Header().Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	if w := get(serve(t, console.Config{Files: built}), "/"); strings.Contains(w.Body.String(), "sandbox") || !strings.Contains(w.Body.String(), `<base href="/" />`) {
		t.Error(w.Body)
	}
	if w := get(serve(t, console.Config{Files: built, Practice: true}), "/"); !strings.Contains(w.Body.String(), `<meta name="practice" content="on" />`) || strings.Contains(w.Body.String(), "sandbox") {
		t.Error(w.Body)
	}
	for path, want := range map[string]int{"/nothing": 404, "/assets/nothing.js": 404, "/assets/unknown-abc.exe": 404, "/index.html": 404, "/start.js.br": 404} {
		if w := get(h, path); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/sign-in", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Error(w.Code, w.Header())
	}
	for name, files := range map[string]fstest.MapFS{"no page": {}, "another page": {"index.html": {Data: []byte("<html>")}}} {
		if _, err := console.New(console.Config{Files: files}); err == nil {
			t.Errorf("%s is accepted as a console", name)
		}
	}
}

// A file is compressed as the client accepts it, and cached forever if its name contains a hash. A
// client that accepts no compression can also request a part of the content, or only its length.
func TestFiles(t *testing.T) {
	t.Parallel()
	h := serve(t, console.Config{Files: built})
	packed := string(compress("plain"))
	tags := map[string]string{}
	for accept, want := range map[string][2]string{
		"br, gzip": {"br", "brotli"}, "gzip;q=0.5": {"gzip", packed}, "br;q=0, gzip": {"gzip", packed}, "": {"", "plain"}, "identity": {"", "plain"},
	} {
		w := get(h, "/assets/app-abc.js", "Accept-Encoding", accept)
		if got := [2]string{w.Header().Get("Content-Encoding"), w.Body.String()}; got != want {
			t.Errorf("%q: %v, want %v", accept, got, want)
		}
		if w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || w.Header().Get("Vary") != "Accept-Encoding" ||
			w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%q: %v", accept, w.Header())
		}
		if again := get(h, "/assets/app-abc.js", "Accept-Encoding", accept, "If-None-Match", w.Header().Get("ETag")); again.Code != 304 {
			t.Errorf("%q: status = %d for an unchanged file, want 304", accept, again.Code)
		}
		tags[w.Header().Get("ETag")] = want[0]
	}
	if len(tags) != 3 {
		t.Errorf("the encodings do not differ in their ETags: %v", tags)
	}
	if w := get(h, "/assets/app-abc.js", "Range", "bytes=1-2"); w.Code != 206 || w.Body.String() != "la" {
		t.Errorf("%d %q for a part", w.Code, w.Body)
	}
	head := httptest.NewRecorder()
	h.ServeHTTP(head, httptest.NewRequest(http.MethodHead, "/assets/app-abc.js", nil))
	if head.Code != 200 || head.Header().Get("Content-Length") != "5" || head.Body.Len() > 0 {
		t.Errorf("HEAD: %d %v %q", head.Code, head.Header(), head.Body)
	}
	if w := get(h, "/start.js"); w.Header().Get("Cache-Control") != "no-cache" || w.Header().Get("ETag") == "" {
		t.Error(w.Header())
	}
}

// If the console is the frontend, configured addresses redirect to its pages.
func TestOtherAddresses(t *testing.T) {
	t.Parallel()
	c := console.Config{
		Files: built, PublicURL: "https://example.com", Own: true,
		Addresses: frontend.Addresses{URL: "https://example.com", Paths: frontend.Paths{frontend.Invitation: "/join/{token}", frontend.VerifyEmail: "/confirm"}},
	}
	h := serve(t, c)
	for path, want := range map[string]string{
		"/join/a%2Fb":      "https://example.com/invitations/a%2Fb",
		"/confirm?token=x": "https://example.com/verify-email?token=x",
	} {
		if w := get(h, path); w.Code != 302 || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %s", path, w.Code, w.Header().Get("Location"))
		}
	}
	c.Own = false
	if w := get(serve(t, c), "/confirm"); w.Code != 404 {
		t.Error(w.Code)
	}
}

// The program contains the whole built console: each file is served, with its content if the client
// accepts no compression.
func TestBuilt(t *testing.T) {
	t.Parallel()
	if !web.Included {
		t.Skip("this program is built without the console")
	}
	h := serve(t, console.Config{Files: web.Files()})
	page := get(h, "/").Body.String()
	names := regexp.MustCompile(`(?:src|href)="\./([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(names) < 4 {
		t.Fatal(page)
	}
	for _, name := range names {
		if w := get(h, "/"+name[1]); w.Code != 200 || w.Body.Len() == 0 {
			t.Errorf("%s: %d", name[1], w.Code)
		}
	}
	dist := os.DirFS("../../web/dist")
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "index.html" || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			return err
		}
		content, err := fs.ReadFile(dist, name)
		if w := get(h, "/"+name); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), content) {
			t.Errorf("%s: %d with %d bytes, want %d", name, w.Code, w.Body.Len(), len(content))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The page of components is only served with the sandbox.
func TestComponents(t *testing.T) {
	t.Parallel()
	for sandbox, want := range map[bool]int{true: http.StatusOK, false: http.StatusNotFound} {
		h := serve(t, console.Config{Files: built, PublicURL: "https://example.com", Sandbox: sandbox})
		if w := get(h, "/components"); w.Code != want {
			t.Errorf("with a sandbox %t: %d", sandbox, w.Code)
		}
	}
}

// Every path that the console's script routes is served.
func TestPathsMatchTheScript(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../web/src/app/router.tsx")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?:\bout|tenantPage|platformPage)\('([^']*)'|(?:platform, )?\bpath: '([^']*)'|\['(/[a-z/]+)', '`).FindAllStringSubmatch(string(script), -1)
	if len(found) < 20 {
		t.Fatalf("%d paths are in the script", len(found))
	}
	for _, one := range found {
		path := strings.Join(one[1:], "")
		if strings.HasPrefix(one[0], "platform") {
			path = "/platform" + path
		}
		first, _, below := strings.Cut(path[1:], "/")
		if below {
			first += "/"
		}
		if !slices.Contains(console.Paths, "/"+first) {
			t.Errorf("%s is a page of the script that the service does not serve", path)
		}
	}
}
