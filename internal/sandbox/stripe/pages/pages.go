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

// Parse parses the template of a page, which can use the shared parts.
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

// BackLink is the link back to the site that the reader came from.
type BackLink struct{ ID, URL, Text string }

// Confirmed is the value of the field authentication with which a payer confirms
// a payment (3-D Secure). Any other one refuses it.
const Confirmed = "confirmed"

// Confirmation is what the part confirmation shows: the question of the payer's
// bank, whose answer is sent to Action. Amount is empty if only the card itself
// is to be confirmed. Card is sent along with the answer, unless it is empty.
type Confirmation struct{ Action, Amount, Card string }

// Write renders a page. Its only styles are those with the nonce. Its forms may
// be sent to formAction, which includes the redirects that answer them.
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
	_, _ = html.WriteTo(w) // an error means that the reader is gone
}

// NewNonce returns a value that allows the styles of one answer.
func NewNonce() string { return form.RandomText(22, form.Alphanumeric) }

// Fail logs the error and answers 500.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	log.ErrorContext(r.Context(), "stripe sandbox: page", slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
}
