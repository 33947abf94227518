package oauth

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
)

// The page is for a frontend that has none of its own: it ends a login at a provider
// that runs in a popup.
var (
	//go:embed popup.html
	popupPage string
	//go:embed popup.js
	popupScript []byte
)

// popupPolicy lets the page run its own script and nothing else.
const popupPolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Popup serves /oauth/callback, the page to which Finish sends the browser,
// and its script. The page hands the code, or the error, to the window that
// opened it, as a message {type: "oauth-callback", code} that only a page of
// frontendURL's origin can receive, and closes itself (rules:
// account#delegated-login). The origin is fixed here: nothing in the page's address
// changes it.
func Popup(frontendURL string) (http.Handler, error) {
	u, err := url.Parse(frontendURL)
	if err != nil {
		return nil, err
	}
	tmpl, err := template.New("popup").Parse(popupPage)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := tmpl.Execute(&page, map[string]string{"Origin": u.Scheme + "://" + u.Host, "Home": frontendURL + "/"}); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /oauth/callback", popupFile("text/html; charset=utf-8", page.Bytes()))
	mux.Handle("GET /oauth/callback.js", popupFile("text/javascript; charset=utf-8", popupScript))
	return mux, nil
}

func popupFile(contentType string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Content-Security-Policy", popupPolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(content)
	})
}
