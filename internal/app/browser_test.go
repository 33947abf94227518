package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The code in docs/frontend.md works unchanged in Chromium, on a frontend with cookies.
func TestFrontendWithCookies(t *testing.T) {
	t.Parallel()
	inABrowser(t, "Cookies", func(t *testing.T, s *apptest.Server, b tab) {
		s.Register("ada@example.com", true)
		b.refused(`logIn("ada@example.com", "wrong")`, "401 INVALID_CREDENTIALS")
		b.is(`logIn("ada@example.com", "correct horse").then((a) => [a.user.email, a.accessToken ?? "no token"].join())`, "ada@example.com,no token")
		b.is(`whoIsIt().then((me) => me.user.email)`, "ada@example.com")
		b.is(`Promise.resolve(String(document.cookie.includes("session")))`, "false")
		b.open() // the session outlives the page without a refresh
		s.Advance(3 * time.Hour)
		b.is(`whoIsIt().then((me) => me.user.email)`, "ada@example.com")
		b.is(`call("PATCH", "/api/v1/user", {name: "Ada Lovelace"}).then((a) => a.data.name)`, "Ada Lovelace")
		b.refused(`call("PATCH", "/api/v1/user", {name: ""})`, "422 name")
		b.is(`logOut().then((a) => a.message)`, "auth.logged_out")
		b.refused(`whoIsIt()`, "401")

		b.delegated("Refuse", "failed: access_denied")
		b.delegated("Continue", "in: guest@example.com")
		b.is(`whoIsIt().then((me) => me.user.email)`, "guest@example.com")
	})
}

// The code also works with tokens, on a frontend whose own server proxies the API.
func TestFrontendWithTokens(t *testing.T) {
	t.Parallel()
	inABrowser(t, "Tokens", func(t *testing.T, s *apptest.Server, b tab) {
		s.Register("ada@example.com", true)
		b.refused(`logIn("ada@example.com", "wrong")`, "401 INVALID_CREDENTIALS")
		b.refused(`whoIsIt()`, "401")
		b.is(`logIn("ada@example.com", "correct horse").then((user) => user.email)`, "ada@example.com")
		b.is(`whoIsIt().then((me) => me.user.email)`, "ada@example.com")
		// Concurrent calls with an expired access token share one refresh and are repeated.
		s.Advance(20 * time.Minute)
		b.is(`(async () => {
			const before = tokens.refreshToken
			const all = await Promise.all([whoIsIt(), whoIsIt(), whoIsIt()])
			return [all.map((me) => me.user.email).join(), before === tokens.refreshToken].join()
		})()`, "ada@example.com,ada@example.com,ada@example.com,false")
		b.is(`(async () => { const old = {...tokens}; await logOut(); globalThis.old = old; return String(tokens) })()`, "null")
		b.refused(`whoIsIt()`, "401")
		b.refused(`(tokens = {...old, accessToken: "expired"}, whoIsIt())`, "401 INVALID_REFRESH_TOKEN")
		b.is(`Promise.resolve(String(tokens))`, "null")

		b.delegated("Refuse", "failed: access_denied")
		b.delegated("Continue", "in: guest@example.com")
		b.is(`whoIsIt().then((me) => me.user.email)`, "guest@example.com")
	})
}

// inABrowser runs test in a browser, on a page of a separate frontend with the code for the mode.
func inABrowser(t *testing.T, mode string, test func(*testing.T, *apptest.Server, tab)) {
	t.Helper()
	program := testkit.Program(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	web := httptest.NewServer(newSite(t, mode))
	t.Cleanup(web.Close)
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-component-update", true),
			chromedp.Flag("disable-popup-blocking", false),
		)...)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(cancel)
		api := s.URL
		if mode == "Tokens" {
			api = web.URL + "/to/" + strings.TrimPrefix(s.URL, "http://")
		}
		b := tab{t: t, ctx: ctx, page: web.URL + "/?api=" + url.QueryEscape(api)}
		b.open()
		test(t, s, b)
	}, func(s *settings.Settings) {
		s.FrontendURL, _ = url.Parse(web.URL)
	})
}

// block matches a code block in the documentation, with its indentation.
var block = regexp.MustCompile("(?ms)^( *)```(js|html)\n(.*?)^ *```$")

// newSite returns the server of a separate frontend, built from the code in docs/frontend.md. It
// serves a page with the code for the mode and the page that completes a delegated login. Below
// /to/ it proxies a service, for frontends whose own server proxies the API.
func newSite(t *testing.T, mode string) http.Handler {
	t.Helper()
	doc, err := os.ReadFile("../../docs/frontend.md")
	if err != nil {
		t.Fatal(err)
	}
	code := func(heading, language string) (all string) {
		_, section, _ := strings.Cut(string(doc), "# "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		for _, found := range block.FindAllStringSubmatch(section, -1) {
			if found[2] == language {
				all += found[3]
			}
		}
		if all == "" {
			t.Fatalf("docs/frontend.md shows no %s below %s", language, heading)
		}
		return all
	}
	const address = "'https://api.example.com'"
	script := code(mode, "js") + code("Delegated login", "js")
	if strings.Count(script, address) != 1 {
		t.Fatalf("the code names %s %d times", address, strings.Count(script, address))
	}
	script = strings.Replace(script, address, "new URLSearchParams(location.search).get('api')", 1)
	page := `<!doctype html><meta charset="utf-8"><title>Frontend</title><button id="begin">Log in</button><output id="said"></output>
<script>` + script + `</script>
<script>
const said = document.querySelector('#said')
document.querySelector('#begin').addEventListener('click', () => {
  said.textContent = ''
  logInAt('sandbox').then((answer) => {
    if (typeof keep === 'function') keep(answer)
    said.textContent = 'in: ' + answer.user.email
  }, (refusal) => { said.textContent = 'failed: ' + refusal.message })
})
</script>`
	callback := code("Delegated login", "html")
	mux := http.NewServeMux()
	show := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(text)) // an error means that the browser has disconnected
		})
	}
	show("/{$}", page)
	show("/oauth/callback", callback)
	mux.Handle("/to/{host}/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		host := r.In.PathValue("host")
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", host, ""
		r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/to/"+host)
		r.Out.Header.Del("Origin")
		r.Out.Header.Del("Referer")
	}})
	return mux
}

// tab is a browser tab.
type tab struct {
	t    *testing.T
	ctx  context.Context
	page string
}

// browserPatience bounds a step in the browser. It is long because the machines that run tests are
// busy.
const browserPatience = 30 * time.Second

// do runs a step in the browser.
func do[T any](b tab, what string, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, browserPatience)
	defer cancel()
	got, err := chromedp.Run(ctx, step)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return got
}

// open loads the page again.
func (b tab) open() {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Navigate(b.page)); err != nil { // the first step starts the browser, which runs until its context ends
		b.t.Fatal(err)
	}
}

// is checks the text that a promise in the page resolves to.
func (b tab) is(code, want string) {
	b.t.Helper()
	if got := do(b, code, chromedp.Evaluate[string](code, chromedp.EvalAwaitPromise)); got != want {
		b.t.Errorf("%s is %q, want %q", code, got, want)
	}
}

// refused checks that a call fails with a status and a code, or with the names of invalid fields.
func (b tab) refused(call, want string) {
	b.t.Helper()
	b.is(`(`+call+`).then(() => "succeeded", (e) => [e.status ?? e, e.code ?? Object.keys(e.errors ?? {}).join()].join(" ").trim())`, want)
}

// delegated logs in with the sandbox's identity provider, in the popup that a click opens, and
// checks the result on the page. button is the button to press on the provider's page.
func (b tab) delegated(button, want string) {
	b.t.Helper()
	opened := chromedp.WaitNewTarget(b.ctx, func(*target.Info) bool { return true })
	pressed := func(p *runtime.EvaluateParams) { gesture := true; p.UserGesture = &gesture }
	do(b, "the button", chromedp.Evaluate[chromedp.Void](`document.querySelector("#begin").click()`, pressed))
	var popup tab
	select {
	case id := <-opened:
		ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(id))
		defer cancel()
		popup = tab{t: b.t, ctx: ctx}
	case <-time.After(browserPatience):
		b.t.Fatal("no popup has opened")
	}
	if _, err := chromedp.Run(popup.ctx, chromedp.WaitVisible("#email")); err != nil {
		b.t.Fatalf("the provider's page: %v", err)
	}
	do(popup, "the email", chromedp.SetValue("#email", "guest@example.com"))
	do(popup, button, chromedp.Click(map[string]string{"Continue": "button[value=allow]", "Refuse": "button[value=deny]"}[button]))
	apptest.Eventually(b.t, "the end of the login", func() bool {
		return do(b, "the text of the page", chromedp.Evaluate[string](`said.textContent`)) != ""
	})
	b.is(`Promise.resolve(said.textContent)`, want)
}
