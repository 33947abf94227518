package theme

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed locales/*.json
var localeFiles embed.FS

// locale is a language of the customer-facing pages.
type locale struct {
	tag          language.Tag
	translations map[string]string // by English text
	group        string            // the thousands separator
	decimal      string
	symbolFirst  bool // whether the currency symbol precedes the amount
	firstDay     string
	dateFormat   string // with {day}, {month} and {year}
	months       [12]string
}

// locales are the supported languages. The first is the default.
var locales = []locale{
	newLocale(language.English, locale{
		group: ",", decimal: ".", symbolFirst: true, firstDay: "1", dateFormat: "{day} {month} {year}",
		months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	}),
	newLocale(language.French, locale{
		group: "\u202f", decimal: ",", firstDay: "1er", dateFormat: "{day} {month} {year}",
		months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	}),
	newLocale(language.Spanish, locale{
		group: ".", decimal: ",", firstDay: "1", dateFormat: "{day} de {month} de {year}",
		months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	}),
	newLocale(language.Italian, locale{
		group: ".", decimal: ",", firstDay: "1º", dateFormat: "{day} {month} {year}",
		months: [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
	}),
}

var matcher = language.NewMatcher([]language.Tag{language.English, language.French, language.Spanish, language.Italian})

// newLocale adds the language and its embedded translations to l. It panics if they are missing,
// because they are part of the program.
func newLocale(tag language.Tag, l locale) locale {
	file, err := localeFiles.ReadFile("locales/" + tag.String() + ".json")
	if err == nil {
		err = json.Unmarshal(file, &l.translations)
	}
	if err != nil {
		panic(fmt.Errorf("translations of %s: %w", tag, err))
	}
	l.tag = tag
	return l
}

// findLocale returns the locale with a name such as "fr", or the default.
func findLocale(name string) locale {
	for _, l := range locales {
		if l.tag.String() == name {
			return l
		}
	}
	return locales[0]
}

// matchLocale returns the name of the first supported locale in preferred, or else the best match
// for an Accept-Language header.
func matchLocale(acceptLanguage string, preferred ...string) string {
	for _, name := range preferred {
		if l := findLocale(strings.ToLower(name)); strings.EqualFold(l.tag.String(), name) {
			return l.tag.String()
		}
	}
	wanted, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil {
		wanted = nil
	}
	_, index, _ := matcher.Match(wanted...) // 0 if nothing matches
	return locales[index].tag.String()
}

// formatDate formats the day of a time in UTC.
func (l locale) formatDate(t time.Time) string {
	t = t.UTC()
	day := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		day = l.firstDay
	}
	return fillTemplate(l.dateFormat, "day", day, "month", l.months[t.Month()-1], "year", strconv.Itoa(t.Year()))
}

// formatMoney formats an amount in minor units, given as decimal text such as "1250" or "0.5".
// minorUnits is the number of decimals of the currency.
func (l locale) formatMoney(minor, code string, minorUnits int) string {
	digits, isNegative := strings.CutPrefix(minor, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	for len(whole) <= minorUnits {
		whole = "0" + whole
	}
	units, decimals := whole[:len(whole)-minorUnits], whole[len(whole)-minorUnits:]+fraction
	amount, first := "", true
	for i := len(units); i > 0; i -= 3 {
		part := units[max(i-3, 0):i]
		if !first {
			part += l.group
		}
		amount, first = part+amount, false
	}
	if decimals != "" {
		amount += l.decimal + decimals
	}
	symbol := l.currencySymbol(code)
	switch last, _ := utf8.DecodeLastRuneInString(symbol); {
	case !l.symbolFirst:
		amount += "\u00a0" + symbol
	case unicode.IsLetter(last): // separate a currency code from the digits
		amount = symbol + "\u00a0" + amount
	default:
		amount = symbol + amount
	}
	if isNegative {
		return "-" + amount
	}
	return amount
}

// currencySymbol returns the symbol of a currency, or its code if the locale lacks a symbol.
func (l locale) currencySymbol(code string) string {
	code = strings.ToUpper(code)
	unit, err := currency.ParseISO(code)
	if err != nil {
		return code
	}
	return message.NewPrinter(l.tag).Sprint(currency.Symbol(unit))
}

// fillTemplate replaces each {name} in text. values alternates names and values. A value can
// contain braces.
func fillTemplate(text string, values ...string) string {
	pairs := make([]string, 0, len(values))
	for i := 0; i+1 < len(values); i += 2 {
		pairs = append(pairs, "{"+values[i]+"}", values[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
