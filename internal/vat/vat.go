// Package vat implements the rules for VAT numbers: their formats by country, and who owes the tax
// (rules: tenant#vat-numbers).
package vat

import (
	"regexp"
	"strings"
	"unicode"
)

// The statuses of a VAT number in the API.
const (
	StatusNone    = "none"    // no number
	StatusPending = "pending" // the registry has not responded yet
	StatusValid   = "valid"
	StatusInvalid = "invalid"
	StatusUnknown = "unknown" // the registry could not check the number
)

// Scheme is a system of VAT numbers.
type Scheme string

// The schemes with validated numbers.
const (
	NoScheme      Scheme = ""
	Union         Scheme = "EU"
	UnitedKingdom Scheme = "GB"
	Switzerland   Scheme = "CH"
)

// Test values of Stripe (https://docs.stripe.com/billing/customer/tax-ids, "Test tax IDs").
const (
	testVerified   = "000000000"
	testUnverified = "111111111"
	testPending    = "222222222"
)

// forms holds the formats of VAT numbers by country (ISO 3166-1 alpha-2), without prefix.
var forms = compile(map[string]string{
	"AT": `U\d{8}`,
	"BE": `[01]\d{9}`,
	"BG": `\d{9,10}`,
	"CY": `\d{8}[A-Z]`,
	"CZ": `\d{8,10}`,
	"DE": `\d{9}`,
	"DK": `\d{8}`,
	"EE": `\d{9}`,
	"ES": `[A-Z]\d{7}[A-Z\d]|\d{8}[A-Z]`,
	"FI": `\d{8}`,
	"FR": `[A-Z\d]{2}\d{9}`,
	"GR": `\d{9}`,
	"HR": `\d{11}`,
	"HU": `\d{8}`,
	"IE": `\d{7}[A-Z]{1,2}|\d[A-Z]\d{5}[A-Z]`,
	"IT": `\d{11}`,
	"LT": `\d{9}|\d{12}`,
	"LU": `\d{8}`,
	"LV": `\d{11}`,
	"MT": `\d{8}`,
	"NL": `\d{9}B\d{2}`,
	"PL": `\d{10}`,
	"PT": `\d{9}`,
	"RO": `\d{2,10}`,
	"SE": `\d{12}`,
	"SI": `\d{8}`,
	"SK": `\d{10}`,

	"GB": `\d{9}|\d{12}`,
	"CH": `E\d{9}(MWST|TVA|IVA)?`,
})

// prefixOf returns the prefix of a country's VAT numbers.
func prefixOf(country string) string {
	if country == "GR" {
		return "EL"
	}
	return country
}

func compile(bodies map[string]string) map[string]*regexp.Regexp {
	compiled := make(map[string]*regexp.Regexp, len(bodies))
	for country, body := range bodies {
		compiled[country] = regexp.MustCompile(`^` + prefixOf(country) + `(` + body + `)$`)
	}
	return compiled
}

// SchemeOf returns the scheme of a country (ISO 3166-1 alpha-2). It returns NoScheme if its numbers
// are not validated.
func SchemeOf(country string) Scheme {
	switch {
	case country == string(UnitedKingdom) || country == string(Switzerland):
		return Scheme(country)
	case forms[country] != nil:
		return Union
	}
	return NoScheme
}

// IsInEU reports whether a country (ISO 3166-1 alpha-2) is a member of the European Union.
func IsInEU(country string) bool { return SchemeOf(country) == Union }

// CountryOf returns the country (ISO 3166-1 alpha-2) for the prefix of a VAT number. It returns ""
// if the country's numbers are not validated.
func CountryOf(number string) string {
	number = normalize(number)
	country := number[:min(2, len(number))]
	switch {
	case country == "EL":
		return "GR"
	case country == "GR" || forms[country] == nil:
		return ""
	}
	return country
}

// Parse returns the normalized form of a country's VAT number, and whether it has the format of the
// country. It does not verify the checksum. withTest accepts Stripe's test values as numbers of the
// European Union and the United Kingdom.
func Parse(number, country string, withTest bool) (normal string, ok bool) {
	form := forms[country]
	if form == nil {
		return number, false
	}
	normal = normalize(number)
	if withTest && SchemeOf(country) != Switzerland {
		switch normal {
		case testVerified, testUnverified, testPending:
			return normal, true
		}
	}
	return normal, form.MatchString(normal)
}

// IsForeign reports whether a number has the format of a country other than the given one.
func IsForeign(number, country string) bool {
	other := CountryOf(number)
	_, ok := Parse(number, other, false)
	return ok && other != country
}

// normalize removes spaces, dots and dashes, and converts ASCII letters to upper case. It does not
// convert other letters, because some of them would become ASCII.
func normalize(number string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '.' || unicode.IsSpace(c) || unicode.Is(unicode.Pd, c):
			return -1
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		}
		return c
	}, number)
}
