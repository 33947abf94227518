package theme

import (
	"cmp"
	"net/http"
	"strconv"
	"time"
)

// Reader formats a page for a customer. Views of pages without navigation embed a Reader. The
// source texts are English, and T translates them.
type Reader struct {
	Brand  Brand
	Locale string
}

// NewReader returns the reader for a request. It uses the first supported locale in preferred, or
// else the language that the browser requests.
func (b Brand) NewReader(r *http.Request, preferred ...string) Reader {
	return Reader{b, matchLocale(r.Header.Get("Accept-Language"), preferred...)}
}

// Look returns the brand.
func (r Reader) Look() Brand { return r.Brand }

// Lang returns the page's language.
func (r Reader) Lang() string { return r.Locale }

// T translates an English text and fills its {placeholders}. values alternates names and values. A
// text without a translation stays English.
func (r Reader) T(text string, values ...string) string {
	return fillTemplate(cmp.Or(findLocale(r.Locale).translations[text], text), values...)
}

// Money formats an amount in minor units. decimals is the number of decimals of the currency.
func (r Reader) Money(amount int64, currency string, decimals int) string {
	return r.UnitPrice(strconv.FormatInt(amount, 10), currency, decimals)
}

// UnitPrice formats a price in minor units, as decimal text such as "0.0123".
func (r Reader) UnitPrice(minor, currency string, decimals int) string {
	return findLocale(r.Locale).formatMoney(minor, currency, decimals)
}

// Day formats the day of a Unix time.
func (r Reader) Day(at int64) string { return findLocale(r.Locale).formatDate(time.Unix(at, 0)) }
