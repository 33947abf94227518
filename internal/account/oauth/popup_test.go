package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/testkit"
)

func popup(t *testing.T, at, path string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := oauth.Popup(frontend.Addresses{URL: at}, false, "", brand.Brand{}, "https://api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestOAuthPopup(t *testing.T) {
	t.Parallel()
	for path, kind := range map[string]string{
		"/oauth/callback?code=1&origin=https://evil.test": "text/html; charset=utf-8", "/oauth/callback.js": "text/javascript; charset=utf-8",
	} {
		got := popup(t, "https://app.example.com/web", path)
		for name, want := range map[string]string{
			"Content-Type": kind, "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got.Header().Get(name) != want || got.Code != 200 {
				t.Errorf("%s: %d, %s is %q", path, got.Code, name, got.Header().Get(name))
			}
		}
		if policy := got.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	page := popup(t, "https://app.example.com/web", "/oauth/callback?code=1&origin=https://evil.test").Body.String()
	if !strings.Contains(page, `<main data-origin="https://app.example.com">`) || !strings.Contains(page, `href="https://app.example.com/web/"`) ||
		strings.Contains(page, "evil") || strings.Contains(page, "<script>") {
		t.Error(page)
	}
}

func TestOAuthPopupLanguage(t *testing.T) {
	t.Parallel()
	h, err := oauth.Popup(frontend.Addresses{URL: "https://app.example.com"}, false, "", brand.Brand{}, "https://api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"":                       `<html lang="en">|<title>Signing in</title>|close it and <a href="https://app.example.com/">return to the application</a>.`,
		"de":                     `<html lang="en">`,
		"fr-CA, en;q=0.5":        `<html lang="fr">|<title>Connexion</title>|fermez-la et <a href="https://app.example.com/">retournez à l’application</a>.`,
		"es":                     `<html lang="es">|<title>Inicio de sesión</title>|ciérrela y <a href="https://app.example.com/">vuelva a la aplicación</a>.`,
		"de, it;q=0.9, en;q=0.1": `<html lang="it">|<title>Accesso</title>|può chiuderla e <a href="https://app.example.com/">tornare all’applicazione</a>.`,
	} {
		r := httptest.NewRequest(http.MethodGet, "/oauth/callback?code=1", nil)
		r.Header.Set("Accept-Language", asked)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%q: no %q in %s", asked, part, w.Body)
			}
		}
	}
}

// The page shows the operator's name, logo and color, if they are configured.
func TestOAuthPopupHasTheBrand(t *testing.T) {
	t.Parallel()
	const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
	for name, c := range map[string]struct {
		brand              brand.Brand
		has, lacks, policy string
	}{
		"none": {brand.Brand{}, "<title>Signing in</title>", "<img|Tenantry|class=|@media", policy + "base-uri"},
		"name": {brand.Brand{Name: "Acme <b>", Accent: "#123456"}, `<title>Signing in · Acme &lt;b&gt;</title>|<p class="app">Acme &lt;b&gt;</p>|a { color: #123456; }`, "<img|<b>", policy + "base-uri"},
		"file": {
			brand.Brand{Name: "Acme", Logo: brand.Logo{Type: "image/png", Picture: []byte("x")}},
			`<img src="https://api.example.com/brand/logo" alt="Acme" height="40">`, `class="app"`, policy + "img-src https://api.example.com; base-uri",
		},
		"url": {
			brand.Brand{Logo: brand.Logo{URL: "https://cdn.example.com/a.png?v=1&w=2"}},
			`<img src="https://cdn.example.com/a.png?v=1&amp;w=2" alt="Tenantry" height="40">`, "· ", policy + "img-src https://cdn.example.com; base-uri",
		},
	} {
		h, err := oauth.Popup(frontend.Addresses{URL: "https://app.example.com"}, false, "", c.brand, "https://api.example.com")
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/oauth/callback", nil))
		page := w.Body.String()
		for part := range strings.SplitSeq(c.has, "|") {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %q in %s", name, part, page)
			}
		}
		for part := range strings.SplitSeq(c.lacks, "|") {
			if strings.Contains(page, part) {
				t.Errorf("%s: %q in %s", name, part, page)
			}
		}
		if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, c.policy) {
			t.Errorf("%s: policy %q", name, got)
		}
	}
}

// The script runs in Node.js with stubs for the browser APIs that it uses.
func TestOAuthPopupScript(t *testing.T) {
	t.Parallel()
	testkit.Program(t, "node")
	script := popup(t, "https://app.example.com", "/oauth/callback.js").Body.String()
	for name, c := range map[string]struct{ query, opener, signIn, want string }{
		"code":      {"?code=a%20b&type=other", "true", "", `posted {"type":"oauth-callback","code":"a b"} https://app.test; address /oauth/callback; closed`},
		"error":     {"?error=access_denied", "true", "", `posted {"type":"oauth-callback","error":"access_denied"} https://app.test; address /oauth/callback; result access_denied; closed`},
		"no opener": {"?code=1", "false", "", `address /oauth/callback`},
		"console":   {"?code=1", "false", "https://app.test/web/sign-in", `address /oauth/callback; to /web/sign-in?code=1`},
		"test":      {"?test=ok", "false", "https://app.test/sign-in", `address /oauth/callback; result ok; to /sign-in?test=ok`},
	} {
		cmd := exec.CommandContext(t.Context(), "node", "-")
		cmd.Stdin = strings.NewReader(`
			const done = [];
			globalThis.location = {search: "` + c.query + `", pathname: "/oauth/callback", replace: (to) => done.push("to " + to)};
			globalThis.history = {replaceState: (_, __, to) => done.push("address " + to)};
			globalThis.document = {querySelector: () => ({dataset: {origin: "https://app.test", signIn: "` + c.signIn + `"}})};
			globalThis.BroadcastChannel = class { postMessage(m) { done.push("result " + m.result) } close() {} };
			globalThis.window = {
				opener: ` + c.opener + ` && {postMessage: (m, to) => done.unshift("posted " + JSON.stringify(m) + " " + to)},
				close: () => done.push("closed"),
			};
			` + script + `
			process.stdout.write(done.join("; "));`)
		out, err := cmd.CombinedOutput()
		if diff := cmp.Diff(c.want, string(out)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}
