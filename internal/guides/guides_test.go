package guides_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/tenantry/tenantry"
	"github.com/tenantry/tenantry/internal/guides"
	"github.com/tenantry/tenantry/web"
)

// description returns the committed OpenAPI document.
func description() ([]byte, error) { return os.ReadFile("../../api/openapi.yaml") }

// start serves the guides below a path prefix, as behind a reverse proxy.
func start(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	guides.New(guides.Config{Texts: tenantry.Texts, Fonts: web.Files(), Description: description}).Mount(func(at string, h http.Handler) {
		mux.Handle("/below"+at, http.StripPrefix("/below", h))
	})
	mux.HandleFunc("/below/openapi.json", func(http.ResponseWriter, *http.Request) {})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

type answer struct {
	status int
	header http.Header
	body   string
	final  *url.URL // URL after redirects
}

func get(t *testing.T, address string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body), resp.Request.URL}
}

// walk calls visit for each element of a page.
func walk(t *testing.T, page string, visit func(n *html.Node, attr map[string]string)) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		visit(n, attr)
	}
}

// All links, images, scripts, fonts and anchors of all pages exist. No page loads anything from
// another host or has inline scripts or styles.
func TestEveryLinkOfTheSite(t *testing.T) {
	t.Parallel()
	s := start(t)
	base := s.URL + "/below/docs/"
	pages, ids := map[string]answer{}, map[string]map[string]bool{}
	waiting := []string{base}
	type link struct{ from, to, anchor string }
	var links []link
	for len(waiting) > 0 {
		at := waiting[0]
		waiting = waiting[1:]
		if _, seen := pages[at]; seen {
			continue
		}
		page := get(t, at)
		pages[at] = page
		if page.status != http.StatusOK || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
			continue
		}
		ids[at] = map[string]bool{}
		walk(t, page.body, func(n *html.Node, attr map[string]string) {
			if id := attr["id"]; id != "" {
				if ids[at][id] {
					t.Errorf("%s has two elements %s", at, id)
				}
				ids[at][id] = true
			}
			if attr["style"] != "" || n.Data == "style" || n.Data == "script" && attr["src"] == "" {
				t.Errorf("%s: <%s> violates the content security policy", at, n.Data)
			}
			to := attr["href"]
			if to == "" {
				to = attr["src"]
			}
			if to == "" {
				return
			}
			target, err := page.final.Parse(to)
			if err != nil {
				t.Errorf("%s: %v", at, err)
				return
			}
			anchor := target.Fragment
			target.Fragment = ""
			if target.Host != page.final.Host {
				if n.Data != "a" {
					t.Errorf("%s loads %s", at, to)
				}
				return
			}
			if target.Path == "/below/openapi.json" {
				return
			}
			if !strings.HasPrefix(target.String(), base) {
				t.Errorf("%s leads out of the guides: %s", at, to)
				return
			}
			links = append(links, link{at, target.String(), anchor})
			waiting = append(waiting, target.String())
		})
	}
	for _, l := range links {
		if pages[l.to].status != http.StatusOK {
			t.Errorf("%s links to %s: status %d", l.from, l.to, pages[l.to].status)
		} else if l.anchor != "" && !ids[l.to][l.anchor] {
			t.Errorf("%s links to %s#%s, a heading that does not exist", l.from, l.to, l.anchor)
		}
	}
	if len(ids) < 300 || len(links) < 1000 {
		t.Errorf("only %d pages and %d links", len(ids), len(links))
	}
	for at, page := range pages {
		if p := page.header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(p, "unsafe") {
			t.Errorf("%s has the policy %q", at, p)
		}
	}
}

// Every page of docs is in the navigation, and so can be reached from every page.
func TestEveryPageIsInTheNavigation(t *testing.T) {
	t.Parallel()
	s := start(t)
	contents := get(t, s.URL+"/below/docs/contents").body
	count := 0
	err := fs.WalkDir(os.DirFS("../.."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		count++
		at := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md"), "/README")
		if guides.LeftOut[name] != "" {
			if strings.Contains(contents, `href="`+at+`"`) {
				t.Errorf("%s is on the site, although it is left out: %s", name, guides.LeftOut[name])
			}
		} else if !strings.Contains(contents, `href="`+at+`"`) {
			t.Errorf("%s is in no list of internal/guides/order.go", name)
		}
		return nil
	})
	if err != nil || count < 40 {
		t.Errorf("%d pages: %v", count, err)
	}
}

// A page shows its title, its place in the navigation, its table of contents, and the previous and
// next pages.
func TestAPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := get(t, s.URL+"/below/docs/webhooks")
	if kind := page.header.Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Error(kind)
	}
	for _, want := range []string{
		"<title>Webhooks · Tenantry</title>", `<a href="webhooks" aria-current="page">Webhooks</a>`, `<h1 id="webhooks">Webhooks</h1>`,
		`<li class="level-2"><a href="#verifying-in-go">Verifying in Go</a></li>`, `<h2 id="verifying-in-go">Verifying in Go<a class="anchor" href="#verifying-in-go"`,
		`<a href="rules/webhooks#types">`, `<a href="rules/webhooks">Rules: Webhooks to the outside</a>`, `<a href="api">`, `rel="prev"`, `rel="next"`, `<span class="c-s">`,
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("page does not contain %s", want)
		}
	}
	if below := get(t, s.URL+"/below/docs/rules/team").body; !strings.Contains(below, `src="../assets/guides.js"`) || !strings.Contains(below, `<a href="../rules/team" aria-current="page">`) {
		t.Error("relative links of a page in a folder are wrong")
	}
	if strings.Contains(page.body, "raw HTML") || strings.Contains(page.body, "&lt;!--") {
		t.Error("the page shows a comment")
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	s := start(t)
	for from, to := range map[string]string{
		"docs": "docs/", "docs/webhooks.md": "docs/webhooks", "docs/webhooks/": "docs/webhooks", "docs/webhooks.html": "docs/webhooks",
		"docs/rules/team.md": "docs/rules/team", "docs/rules/": "docs/rules", "docs/rules/README.md": "docs/rules",
	} {
		if got := get(t, s.URL+"/below/"+from); got.status != http.StatusOK || got.final.Path != "/below/"+to {
			t.Errorf("%s: %d at %s, want %s", from, got.status, got.final.Path, to)
		}
	}
	for _, name := range []string{"docs/nothing", "docs/rules/nothing", "docs/../../etc/passwd", "docs/assets/page.html", "docs/a/b/c"} {
		if got := get(t, s.URL+"/below/"+name); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/below/docs/webhooks", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

// Files have an ETag and are compressed if the client accepts it.
func TestFilesAreCacheable(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"webhooks", "assets/guides.css", "assets/search.json", "api", "api/usage/record-usage"} {
		at := s.URL + "/below/docs/" + name
		bare := get(t, at, "Accept-Encoding", "identity")
		packed := get(t, at, "Accept-Encoding", "gzip")
		r, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text, err := io.ReadAll(r); err != nil || string(text) != bare.body || len(packed.body) >= len(bare.body) {
			t.Errorf("%s: compressed: got %d of %d bytes: %v", name, len(packed.body), len(bare.body), err)
		}
		if bare.header.Get("ETag") == packed.header.Get("ETag") || packed.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: a cache cannot distinguish the compressed response from the plain one", name)
		}
		if again := get(t, at, "Accept-Encoding", "gzip", "If-None-Match", packed.header.Get("ETag")); again.status != http.StatusNotModified {
			t.Errorf("%s: %d", name, again.status)
		}
	}
}

// A page of the reference shows the parameters, fields, responses, errors and samples of an
// operation. Each field has an address.
func TestAnOperation(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := get(t, s.URL+"/below/docs/api/usage/record-usage")
	for _, want := range []string{
		"<title>Record a usage event · Tenantry</title>", `<span class="verb">POST</span><code>/api/v1/tenant/<var>{tenantId}</var>/usage</code>`,
		`<dt>API key scope</dt><dd><code>usage.write</code></dd>`, `<div class="param" id="idempotency_key"><dt><code>idempotency_key</code><span class="type">string or null</span>`,
		`<li>At most 255 characters</li>`, `<span class="req">required</span>`, `<tr id="QUOTA_EXCEEDED"><td><b>429</b></td><td><code>QUOTA_EXCEEDED</code>`, `data-name="curl"`, `data-name="TypeScript"`,
		`data-name="Go"`, `data-name="201"`, `data-name="403"`, `data-name="409"`, `data-name="422"`, `data-name="429"`, `<tr id="error-404">`,
		`Usage with this idempotency key has already been recorded for this meter.`, `This would exceed your usage limit.`,
		`rel="prev"`, `rel="next"`, `aria-current="page"><span class="verb">POST</span>Record a usage event</a>`,
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("page does not contain %s", want)
		}
	}
	index := get(t, s.URL+"/below/docs/api")
	if index.status != http.StatusOK || !strings.Contains(index.body, `<li id="recordUsage"><a href="api/usage/record-usage">`) {
		t.Errorf("the index does not lead to the operation: %d", index.status)
	}
	for _, name := range []string{"api/", "api.html"} {
		if got := get(t, s.URL+"/below/docs/"+name); got.status != http.StatusOK || got.final.Path != "/below/docs/api" {
			t.Errorf("%s: %d at %s", name, got.status, got.final.Path)
		}
	}
}

// The example of an event has the status that the event causes.
func TestExamplesOfEventsFit(t *testing.T) {
	t.Parallel()
	s := start(t)
	for event, status := range map[string]string{"invoice.issued": "open", "invoice.paid": "paid", "invoice.voided": "void"} {
		page := get(t, s.URL+"/below/docs/api/events/"+event).body
		_, message, _ := strings.Cut(page, `data-name="Body"`)
		if status = "&#34;" + status + "&#34;"; !strings.Contains(message, status) || strings.Contains(message, "Plateforme") {
			t.Errorf("the example of %s has another status than %s", event, status)
		}
	}
}

// A page of a webhook event shows its payload, its headers and an example, and leads to the guide
// for the signature.
func TestAWebhookEvent(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := get(t, s.URL+"/below/docs/api/events/invoice.paid")
	for _, want := range []string{
		"<h1>invoice.paid</h1>", "An invoice is paid", `<div class="param" id="result-data">`, `<div class="param" id="webhook-signature">`, `<h2 id="signature">`,
		`<a href="../../webhooks#verifying-in-go">`, `aria-current="page">invoice.paid</a>`, `data-name="Body"`, `&#34;type&#34;`, `&#34;currency&#34;`,
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("%s is missing on the page", want)
		}
	}
	if index := get(t, s.URL+"/below/docs/api").body; !strings.Contains(index, `<li id="invoice.paid"><a href="api/events/invoice.paid">`) {
		t.Error("the index does not lead to the event")
	}
}

// A page of the reference with everything that it loads has at most 300 KB, compressed.
func TestReferenceIsSmall(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"api", "api/usage/record-usage", "api/catalog-administration/admin-create-plan", "api/events/tenant.updated"} {
		page := get(t, s.URL+"/below/docs/"+name, "Accept-Encoding", "identity")
		total := len(get(t, page.final.String(), "Accept-Encoding", "gzip").body)
		walk(t, page.body, func(n *html.Node, attr map[string]string) {
			for _, to := range []string{attr["src"], attr["href"]} {
				if to == "" || n.Data == "a" {
					continue
				}
				target, err := page.final.Parse(to)
				if err != nil {
					t.Fatal(err)
				}
				total += len(get(t, target.String(), "Accept-Encoding", "gzip").body)
			}
		})
		t.Logf("%s: %d KB", name, total/1000)
		if total > 300_000 {
			t.Errorf("%s needs %d bytes", name, total)
		}
	}
}

// The site written to files is complete: each link leads to a file.
func TestTheSiteAsFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	site := guides.New(guides.Config{Texts: tenantry.Texts, Fonts: web.Files(), Description: description, Files: true})
	if err := site.Write(folder); err != nil {
		t.Fatal(err)
	}
	pages := 0
	err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		pages++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		walk(t, string(text), func(_ *html.Node, attr map[string]string) {
			for _, to := range []string{attr["href"], attr["src"]} {
				to, _, _ = strings.Cut(to, "#")
				if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
					continue
				}
				if info, err := os.Stat(filepath.Join(filepath.Dir(name), to)); err != nil || info.IsDir() {
					t.Errorf("%s links to %s: %v", name, to, err)
				}
			}
		})
		return nil
	})
	if err != nil || pages < 50 {
		t.Errorf("%d pages: %v", pages, err)
	}
	if document, err := os.ReadFile(filepath.Join(folder, "openapi.yaml")); err != nil || len(document) == 0 {
		t.Errorf("the OpenAPI document is missing: %v", err)
	}
}

// The colors and sizes are the same as in the console.
func TestTokensAreTheConsoles(t *testing.T) {
	t.Parallel()
	token := regexp.MustCompile(`(?m)^ *(--[\w-]+): ([^;]+);`)
	read := func(name string) map[string]string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, m := range token.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = strings.Join(strings.Fields(m[2]), " ")
		}
		return all
	}
	console := read("../../web/src/styles/tokens.css")
	ours := read("assets/guides.css")
	for name, value := range ours {
		if console[name] != value {
			t.Errorf("%s is %s here and %s in the console", name, value, console[name])
		}
	}
	if len(ours) < 20 {
		t.Errorf("only %d tokens", len(ours))
	}
}

// Texts contain no HTML except comments, because repository hosts and the site would render it
// differently.
func TestTextsHaveNoHTML(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`]*`|<!--.*?-->|<https?://[^>]+>|<mailto:[^>]+>|<[^ >]+@[^ >]+>")
	tag := regexp.MustCompile(`</?[a-zA-Z][^>]*>`)
	err := fs.WalkDir(tenantry.Texts, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(tenantry.Texts, name)
		if found := tag.FindString(code.ReplaceAllString(string(text), "")); found != "" {
			t.Errorf("%s has %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A program without the console serves the guides with the system font.
func TestWithoutTheConsole(t *testing.T) {
	t.Parallel()
	if err := guides.New(guides.Config{Texts: tenantry.Texts, Fonts: os.DirFS(t.TempDir()), Description: description, Files: true}).Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func BenchmarkSite(b *testing.B) {
	for b.Loop() {
		if err := guides.New(guides.Config{Texts: tenantry.Texts, Fonts: web.Files(), Description: description}).Build(); err != nil {
			b.Fatal(err)
		}
	}
}
