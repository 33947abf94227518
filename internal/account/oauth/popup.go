package oauth

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/i18n"
)

// The callback page is for frontends that do not have their own. It completes a delegated login
// that runs in a popup.
var (
	//go:embed popup.html
	popupPage string
	//go:embed popup.js
	popupScript []byte
	//go:embed locales/*.json
	popupTexts embed.FS
)

// popupPolicy returns a Content-Security-Policy that only allows the page's own script and the
// logo.
func popupPolicy(logo string) string {
	policy := "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
	if u, err := url.Parse(logo); err == nil && u.Host != "" {
		policy += "img-src " + u.Scheme + "://" + u.Host + "; "
	}
	return policy + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// Popup serves the frontend's callback page, to which Finish redirects the browser, and the script
// of the page. The page posts a message {type: "oauth-callback", code} or the error to the window
// that opened it, and closes itself (rules: account#delegated-login). Only pages of frontendURL's
// origin can receive the message: the server sets the origin, regardless of the address of the
// page. The page uses the language of the browser and the operator's brand. If own is set, the
// service's own pages are the frontend, and the page also completes logins outside a popup: it
// passes the result to signIn, the console's sign-in page. Without a console, signIn is empty, and
// the page exchanges the code itself and continues to the billing page.
func Popup(pages frontend.Addresses, own bool, signIn string, b brand.Brand, publicURL string) (http.Handler, error) {
	frontendURL, path := strings.TrimRight(pages.URL, "/"), pages.Path(frontend.OAuthCallback)
	u, err := url.Parse(frontendURL)
	if err != nil {
		return nil, err
	}
	tmpl, err := template.New("popup").Parse(popupPage)
	if err != nil {
		return nil, err
	}
	texts, err := i18n.Read(popupTexts)
	if err != nil {
		return nil, err
	}
	logo := b.Logo.Address(publicURL)
	policy := popupPolicy(logo)
	shown := map[string][]byte{}
	ownPage := ""
	if own {
		ownPage = pages.PageURL(frontend.Billing)
	} else {
		signIn = ""
	}
	for _, locale := range i18n.Locales() {
		say := func(key string) string { return texts.Text(locale, key, nil) }
		before, after, _ := strings.Cut(say("popup.closes"), "{link}")
		var page bytes.Buffer
		if err := tmpl.Execute(&page, map[string]string{
			"Locale": locale, "Title": say("popup.title"), "Before": before, "Back": say("popup.back"), "After": after,
			"Origin": u.Scheme + "://" + u.Host, "Home": frontendURL + "/", "Script": path + ".js", "Own": ownPage, "SignIn": signIn,
			"App": b.Name, "Alt": b.App(), "Logo": logo, "Accent": b.Accent,
		}); err != nil {
			return nil, err
		}
		shown[locale] = page.Bytes()
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+path, popupFile("text/html; charset=utf-8", policy, func(r *http.Request) []byte {
		html := shown[cmp.Or(texts.Match(r.Header.Get("Accept-Language")), i18n.Default)]
		// On a developer's machine the opener may use another loopback name.
		origin := u.Scheme + "://" + u.Host
		return bytes.ReplaceAll(html, []byte(`data-origin="`+origin+`"`), []byte(`data-origin="`+MatchLoopbackName(origin, r.Host)+`"`))
	}))
	mux.Handle("GET "+path+".js", popupFile("text/javascript; charset=utf-8", policy, func(*http.Request) []byte { return popupScript }))
	return mux, nil
}

func popupFile(contentType, policy string, content func(*http.Request) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(content(r))
	})
}
