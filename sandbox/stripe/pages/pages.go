package pages

import (
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// partsHTML contains the shared templates.
//
//go:embed parts.html
var partsHTML string

// Parse parses the template of a customer-facing page, which can use the shared templates.
func Parse(html string) *template.Template { return theme.Card(partsHTML+html, nil) }

// Reader formats values in the language of a page's visitor.
type Reader struct{ theme.Reader }

// NewReader returns the reader for a request. It uses the first supported locale of wanted, or else
// the language that the browser requests.
func NewReader(b theme.Brand, r *http.Request, wanted ...string) Reader {
	return Reader{b.NewReader(r, wanted...)}
}

// Amount formats an amount in minor units.
func (r Reader) Amount(amount int64, currency string) string {
	return r.Money(amount, currency, form.Decimals(currency))
}

// Period formats a range of days.
func (r Reader) Period(start, end int64) string { return r.Day(start) + " – " + r.Day(end) }

// Price formats a price, as in €9.00 / month.
func (r Reader) Price(p catalog.Price) string {
	amount := r.UnitPrice(p.UnitAmountDecimal, p.Currency, form.Decimals(p.Currency))
	switch {
	case p.Recurring == nil:
		return amount
	case p.IsMetered():
		return r.T("{amount} / unit", "amount", amount)
	case p.Recurring.IntervalCount == 1:
		return r.T("{amount} / "+p.Recurring.Interval, "amount", amount)
	}
	return r.T("{amount} / {count} "+p.Recurring.Interval+"s", "amount", amount, "count", strconv.FormatInt(p.Recurring.IntervalCount, 10))
}

// BackLink is the link back to the referring site.
type BackLink struct{ ID, URL, Text string }

// ConfirmedValue is the value of the form field authentication if the payer confirms a payment (3-D
// Secure). Any other value refuses it.
const ConfirmedValue = "confirmed"

// Confirmation is the data of the template confirmation: the bank's confirmation prompt. The
// response is sent to Action. Amount is empty if only the card itself has to be confirmed. Card is
// sent with the response, unless it is empty.
type Confirmation struct {
	Reader
	Action, Amount, Card string
}

// Write renders a page. formAction lists the allowed targets of forms, including their redirects.
func Write(w http.ResponseWriter, r *http.Request, log *slog.Logger, status int, page *template.Template, formAction string, view any) {
	w.Header().Add("Vary", "Accept-Language")
	if err := theme.Write(w, status, page, formAction, view); err != nil {
		Fail(w, r, log, err)
	}
}

// Fail logs the error and responds with 500.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	log.ErrorContext(r.Context(), "stripe sandbox: page failed", slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
}
