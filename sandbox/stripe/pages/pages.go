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

// partsHTML is what the pages share.
//
//go:embed parts.html
var partsHTML string

// Parse parses the template of a page that the provider's customers see, which can use the
// shared parts.
func Parse(html string) *template.Template { return theme.Card(partsHTML+html, nil) }

// Reader is who a page is for.
type Reader struct{ theme.Reader }

// NewReader returns the reader of a page: in the first known of some locales, else in the one that
// the browser asks for.
func NewReader(b theme.Brand, r *http.Request, wanted ...string) Reader {
	return Reader{b.NewReader(r, wanted...)}
}

// Amount writes an amount of minor units.
func (r Reader) Amount(amount int64, currency string) string {
	return r.Money(amount, currency, form.Decimals(currency))
}

// Period writes two days, one after the other.
func (r Reader) Period(start, end int64) string { return r.Day(start) + " – " + r.Day(end) }

// Price describes a price, as in €9.00 / month.
func (r Reader) Price(p catalog.Price) string {
	amount := r.UnitPrice(p.UnitAmountDecimal, p.Currency, form.Decimals(p.Currency))
	switch {
	case p.Recurring == nil:
		return amount
	case p.Metered():
		return r.T("{amount} / unit", "amount", amount)
	case p.Recurring.IntervalCount == 1:
		return r.T("{amount} / "+p.Recurring.Interval, "amount", amount)
	}
	return r.T("{amount} / {count} "+p.Recurring.Interval+"s", "amount", amount, "count", strconv.FormatInt(p.Recurring.IntervalCount, 10))
}

// BackLink is the link back to the site that the reader came from.
type BackLink struct{ ID, URL, Text string }

// ConfirmedValue is the value of the field authentication with which a payer confirms
// a payment (3-D Secure). Any other one refuses it.
const ConfirmedValue = "confirmed"

// Confirmation is what the part confirmation shows: the question of the payer's
// bank, whose answer is sent to Action. Amount is empty if only the card itself
// is to be confirmed. Card is sent along with the answer, unless it is empty.
type Confirmation struct {
	Reader
	Action, Amount, Card string
}

// Write renders a page. Its forms may be sent to formAction, which includes the redirects
// that answer them.
func Write(w http.ResponseWriter, r *http.Request, log *slog.Logger, status int, page *template.Template, formAction string, view any) {
	w.Header().Add("Vary", "Accept-Language")
	if err := theme.Write(w, status, page, formAction, view); err != nil {
		Fail(w, r, log, err)
	}
}

// Fail logs the error and answers 500.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	log.ErrorContext(r.Context(), "stripe sandbox: page", slog.String("path", r.URL.Path), slog.Any("error", err))
	http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
}
