package look

import (
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

// Reader is who a page is for. The views of pages without the navigation embed one: their
// texts are English in the source, and T translates them when they are shown.
type Reader struct {
	Brand  Brand
	Locale string
}

//go:embed locales/*.json
var localeFiles embed.FS

// texts are the translations; their keys are the English texts.
var texts = i18n.Must(i18n.Read(localeFiles))

// For returns the reader of a page: in the first known of some locales, else in the one that
// the browser asks for.
func (b Brand) For(r *http.Request, wanted ...string) Reader {
	locale := i18n.Known(wanted...)
	if locale == "" {
		locale = texts.Match(r.Header.Get("Accept-Language"))
	}
	if locale == "" {
		locale = i18n.Default
	}
	return Reader{b, locale}
}

// Look returns the brand.
func (r Reader) Look() Brand { return r.Brand }

// Lang is the page's language.
func (r Reader) Lang() string { return r.Locale }

// T translates a text of the source and fills its places; values has names and values in turn.
// A text that nobody has translated stays English.
func (r Reader) T(text string, values ...string) string {
	filled, args := map[string]string{}, map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		filled[values[i]], args[values[i]] = values[i+1], values[i+1]
	}
	if texts.Has(text) {
		return texts.Text(r.Locale, text, args)
	}
	return i18n.Fill(text, filled)
}

// Money writes an amount of minor units; decimals are the currency's.
func (r Reader) Money(amount int64, currency string, decimals int) string {
	return i18n.FiguresOf(r.Locale).Money(money.Money{AmountCents: amount, Currency: strings.ToUpper(currency)}, decimals)
}

// UnitPrice writes a price in minor units that may have decimals.
func (r Reader) UnitPrice(minor, currency string, decimals int) string {
	return i18n.FiguresOf(r.Locale).UnitPrice(minor, currency, decimals)
}

// Day writes the day of a time.
func (r Reader) Day(at int64) string { return i18n.FiguresOf(r.Locale).Date(time.Unix(at, 0)) }
