package stripe

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
)

//go:embed checkout.html
var checkoutHTML string

//go:embed portal.html
var portalHTML string

//go:embed chaos.html
var chaosHTML string

// partsHTML is what the pages of customers share.
//
//go:embed parts.html
var partsHTML string

// pages renders what people see.
type pages struct{ checkout, portal, chaos *template.Template }

func newPages() (p pages, _ error) {
	for name, page := range map[string]struct {
		html string
		into **template.Template
	}{
		"checkout": {checkoutHTML, &p.checkout},
		"portal":   {portalHTML, &p.portal},
		"chaos":    {chaosHTML, &p.chaos},
	} {
		parts, err := template.New(name).Parse(partsHTML)
		if err == nil {
			*page.into, err = parts.Parse(page.html)
		}
		if err != nil {
			return p, fmt.Errorf("page %s: %w", name, err)
		}
	}
	return p, nil
}

// writeHTML renders a page, whose only styles are those with the nonce. Its
// forms may lead to formAction, redirects of their answers included.
func (s *Server) writeHTML(w http.ResponseWriter, r *http.Request, status int, page *template.Template, nonce, formAction string, view any) {
	var html bytes.Buffer
	if err := page.Execute(&html, view); err != nil {
		s.failPage(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+nonce+"'; base-uri 'none'; frame-ancestors 'none'; form-action "+formAction)
	w.WriteHeader(status)
	_, _ = html.WriteTo(w) // the reader is gone, or has it
}

func newNonce() string { return randomText(22, idAlphabet) }

func (s *Server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	s.cfg.Log.ErrorContext(r.Context(), "stripe sandbox: page", slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
}
