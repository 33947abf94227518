package pages

import (
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/tenantry/tenantry/internal/sandbox/look"
)

// partsHTML is what the pages share.
//
//go:embed parts.html
var partsHTML string

// Parse parses the template of a page that the provider's customers see, which can use the
// shared parts.
func Parse(html string) *template.Template { return look.Card(partsHTML+html, nil) }

// BackLink is the link back to the site that the reader came from.
type BackLink struct{ ID, URL, Text string }

// Confirmed is the value of the field authentication with which a payer confirms
// a payment (3-D Secure). Any other one refuses it.
const Confirmed = "confirmed"

// Confirmation is what the part confirmation shows: the question of the payer's
// bank, whose answer is sent to Action. Amount is empty if only the card itself
// is to be confirmed. Card is sent along with the answer, unless it is empty.
type Confirmation struct{ Action, Amount, Card string }

// Write renders a page. Its forms may be sent to formAction, which includes the redirects
// that answer them.
func Write(w http.ResponseWriter, r *http.Request, log *slog.Logger, status int, page *template.Template, formAction string, view any) {
	if err := look.Write(w, status, page, formAction, view); err != nil {
		Fail(w, r, log, err)
	}
}

// Fail logs the error and answers 500.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	log.ErrorContext(r.Context(), "stripe sandbox: page", slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
}
