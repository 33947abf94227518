package console_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/tenantry/tenantry/clients/elements"
	"github.com/tenantry/tenantry/internal/console"
)

func ask(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Components can be loaded from all origins, are compressed if the client accepts it, and are
// cached forever only with their version.
func TestServeElements(t *testing.T) {
	t.Parallel()
	packed := string(compress("plain"))
	h := console.ServeElements(fstest.MapFS{
		"team.js.gz": {Data: compress("plain")}, "licenses.md": {Data: []byte("licences")}, "other.txt": {Data: []byte("?")},
	})
	for accept, want := range map[string][2]string{
		"br, gzip": {"gzip", packed}, "gzip;q=0.5": {"gzip", packed}, "gzip;q=0": {"", "plain"}, "": {"", "plain"},
	} {
		w := ask(h, "GET", "/elements/v1/team.js", "Accept-Encoding", accept, "Origin", "https://shop.example")
		if got := [2]string{w.Header().Get("Content-Encoding"), w.Body.String()}; got != want {
			t.Errorf("%q: %v, want %v", accept, got, want)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Cross-Origin-Resource-Policy") != "cross-origin" ||
			w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%q: %v", accept, w.Header())
		}
		if again := ask(h, "GET", "/elements/v1/team.js", "Accept-Encoding", accept, "If-None-Match", w.Header().Get("ETag")); again.Code != 304 {
			t.Errorf("%q: status = %d for an unchanged file, want 304", accept, again.Code)
		}
	}
	version := strings.Trim(ask(h, "GET", "/elements/v1/team.js").Header().Get("ETag"), `"`)
	for query, want := range map[string]string{"": "max-age=3600,", "?v=" + version: "immutable", "?v=older": "max-age=3600,"} {
		if got := ask(h, "GET", "/elements/v1/team.js"+query).Header().Get("Cache-Control"); !strings.Contains(got, want) {
			t.Errorf("%q: %s", query, got)
		}
	}
	for path, want := range map[string]int{"licenses.md": 200, "nothing.js": 404, "team.js.gz": 404, "other.txt": 404, "": 404, "../team.js": 404} {
		if w := ask(h, "GET", "/elements/v1/"+path); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := ask(h, "POST", "/elements/v1/team.js"); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Error(w.Code, w.Header())
	}
}

// Each built component defines its element, matches its compressed copy, and is smaller than 22 KB
// compressed.
func TestBuiltElements(t *testing.T) {
	t.Parallel()
	if !elements.Included {
		t.Skip("this program is built without the components")
	}
	h := console.ServeElements(elements.Files())
	all := ask(h, "GET", "/elements/v1/elements.js").Body.String()
	for _, name := range []string{"pricing", "team", "billing", "usage", "account"} {
		plain := ask(h, "GET", "/elements/v1/"+name+".js").Body.Bytes()
		packed := ask(h, "GET", "/elements/v1/"+name+".js", "Accept-Encoding", "gzip").Body
		if packed.Len() == 0 || packed.Len() >= 22_000 {
			t.Errorf("%s has %d bytes", name, packed.Len())
		}
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(name, err)
		}
		if content, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(content, plain) {
			t.Errorf("%s differs from its compressed copy: %v", name, err)
		}
		if tag := `"tenantry-` + name + `"`; !bytes.Contains(plain, []byte(tag)) || !strings.Contains(all, tag) {
			t.Errorf("%s is not defined", tag)
		}
		// A strict Content-Security-Policy would block these.
		if found := regexp.MustCompile(`\beval\(|new Function\(| style="`).Find(plain); found != nil {
			t.Errorf("%s has %s", name, found)
		}
		if found := regexp.MustCompile(`https?://[\w./-]+`).FindAll(plain, -1); len(found) > 0 {
			t.Errorf("%s contains URLs of other hosts: %s", name, found)
		}
	}
}

// counting is a file system that counts opened files.
type counting struct {
	fs.FS
	opened atomic.Int64
}

func (c *counting) Open(name string) (fs.File, error) {
	c.opened.Add(1)
	return c.FS.Open(name)
}

// The files are not read before the first request. Concurrent first requests work.
func TestFilesAreReadLate(t *testing.T) {
	t.Parallel()
	files := &counting{FS: fstest.MapFS{"team.js.gz": {Data: compress("one")}}}
	h := console.ServeElements(files)
	if n := files.opened.Load(); n > 0 {
		t.Errorf("%d files were read before the first request", n)
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if got := ask(h, "GET", console.ElementsPath+"team.js"); got.Code != 200 || got.Body.String() != "one" {
				t.Errorf("%d %s", got.Code, got.Body)
			}
		})
	}
	wg.Wait()
}
