package shape

import (
	"net/url"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// format is a named format of a value, set by the tag format:"…".
type format struct {
	valid   func(text string) bool // nil: known, but checked elsewhere or not for strings
	message string
}

// formats lists all formats of schemas. A password is not trimmed, and its length limit is in bytes
// instead of characters. A multiline text can contain line breaks and tabs. A name cannot contain
// invisible characters.
var formats = map[string]format{
	"": {},

	"email":     {parses(mail.NormalizeAddress), "validation.email"},
	"uuid":      {parses(ParseID), "validation.uuid"},
	"uri":       {validURL, "validation.url"},
	"date-time": {parses(parseTime), "validation.datetime"},
	"date":      {validDate, "validation.date"},
	"country":   {IsCountry, "validation.country"},
	"currency":  {validCurrency, "validation.currency"},
	"name":      {IsName, "validation.characters"},

	"password": {}, "multiline": {}, "quantity": {}, "unit-price": {},
	"int32": {}, "int64": {}, "double": {},
}

// parses returns a function that reports whether parse accepts a text.
func parses[T any](parse func(string) (T, error)) func(string) bool {
	return func(text string) bool {
		_, err := parse(text)
		return err == nil
	}
}

// validDate accepts YYYY-MM-DD (rules: http#values).
func validDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil && !strings.HasPrefix(text, "0000")
}

// validURL accepts absolute http and https URLs without user info (rules: http#values) and with a
// valid port. Control characters were rejected before.
func validURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && safehttp.HasValidPort(u)
}

// IsCountry accepts an upper-case ISO 3166-1 country code, and XK, which payment providers use for
// Kosovo.
func IsCountry(text string) bool {
	if !upperLetters(text, 2) || strings.Contains(noCountries, text) {
		return false
	}
	region, err := language.ParseRegion(text)
	return err == nil && region.IsCountry() && region.Canonicalize().String() == text
}

// noCountries are codes in package language for parts of countries, groups of countries, and former
// countries.
const noCountries = "AC AN CP CQ CS DG EA EZ FQ IC NT PC SU TA UN YU"

// validCurrency accepts currency codes in either case. They are converted to upper case. The catalog
// checks which currencies exist.
func validCurrency(text string) bool {
	_, ok := money.ParseCurrency(text)
	return ok
}

func upperLetters(text string, count int) bool {
	for _, c := range []byte(text) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return len(text) == count
}
