package pages

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
)

// partsHTML is what the pages share.
//
//go:embed parts.html
var partsHTML string

// Parse reads the template of a page, which may use the shared parts.
func Parse(name, html string) (*template.Template, error) {
	page, err := template.New(name).Parse(partsHTML)
	if err == nil {
		page, err = page.Parse(html)
	}
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return page, nil
}

// BackLink leads from a page to where its reader came from or goes next.
type BackLink struct{ ID, URL, Text string }

// Write renders a page, whose only styles are those with the nonce. Its
// forms may lead to formAction, redirects of their answers included.
func Write(w http.ResponseWriter, r *http.Request, log *slog.Logger, status int, page *template.Template, nonce, formAction string, view any) {
	var html bytes.Buffer
	if err := page.Execute(&html, view); err != nil {
		Fail(w, r, log, err)
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

// NewNonce returns a value that allows the styles of one answer.
func NewNonce() string { return form.RandomText(22, form.Alphanumeric) }

// Fail answers that something went wrong, and logs what.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	log.ErrorContext(r.Context(), "stripe sandbox: page", slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
}
