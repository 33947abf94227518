// Package units writes quantities with the units that meters count in, as the reader's
// language writes them (rules: usage#meters).
package units

import (
	"embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

// The catalogs have the units of bytes and time as CLDR 42 has them, and what services
// count most. Every form of every language is a way to name a unit.
//
//go:embed locales/*.json
var files embed.FS

var (
	catalog = i18n.Must(i18n.Read(files))
	keys    = named()
)

// number stands where a unit's text has the quantity.
const number = "{count}"

// named returns the units by their names.
func named() map[string]string {
	all := map[string]string{"KB": "unit.kB", "hr": "unit.h", "mail": "unit.email", "mails": "unit.email"}
	names(func(name, key string) { all[name] = key })
	return all
}

// names calls yield for every name of a unit in every language. Symbols, such as GB, are
// names to the letter; words are in lower case.
func names(yield func(name, key string)) {
	for _, locale := range i18n.Locales() {
		for key, message := range catalog.Messages(locale) {
			forms := message.Forms()
			for _, form := range forms {
				name := strings.TrimSpace(strings.TrimPrefix(form, number))
				if len(forms) > 1 {
					name = strings.ToLower(name)
				}
				yield(name, key)
			}
		}
	}
}

// Text writes a quantity with the unit that a meter's label names. A label that names
// none of the known units stays as it is written; where the language wants the singular, a
// word is set apart, because nobody knows its singular here.
func Text(locale string, n money.Total, label string) string {
	label = strings.TrimSpace(label)
	key, ok := keys[label]
	if !ok {
		key, ok = keys[strings.ToLower(strings.ReplaceAll(label, "'", "’"))]
	}
	figures := i18n.FiguresOf(locale)
	switch {
	case ok:
		return catalog.Text(locale, key, map[string]any{"count": n})
	case label == "":
		return figures.Total(n)
	case word(label) && figures.Singular(n):
		label = "(" + label + ")"
	}
	return figures.Total(n) + "\u00a0" + label
}

// word reports whether a label is no symbol such as kWh or m².
func word(label string) bool {
	last, _ := utf8.DecodeLastRuneInString(label)
	return utf8.RuneCountInString(label) > 3 && unicode.IsLower(last)
}
