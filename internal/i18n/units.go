package i18n

import (
	"embed"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/money"
)

// The catalogs have the units of bytes and time as CLDR 42 has them, and what services
// count most. Every form of every language is a way to name a unit.
//
//go:embed units/locales/*.json
var unitFiles embed.FS

var (
	unitCatalog = Must(readUnits())
	unitKeys    = unitsByName()
)

func readUnits() (*Catalog, error) {
	files, err := fs.Sub(unitFiles, "units")
	if err != nil {
		return nil, err
	}
	return Read(files)
}

// unitsByName returns the message keys of units by each of their names.
func unitsByName() map[string]string {
	all := map[string]string{"KB": "unit.kB", "hr": "unit.h", "mail": "unit.email", "mails": "unit.email"}
	UnitNames(func(name, key string) { all[name] = key })
	return all
}

// UnitNames calls yield for every name of a unit in every language. Symbols, such as GB, keep
// their case; words are in lower case.
func UnitNames(yield func(name, key string)) {
	for _, locale := range Locales() {
		for key, message := range unitCatalog.Messages(locale) {
			forms := message.Forms()
			for _, form := range forms {
				name := strings.TrimSpace(strings.TrimPrefix(form, "{count}"))
				if len(forms) > 1 {
					name = strings.ToLower(name)
				}
				yield(name, key)
			}
		}
	}
}

// UnitText formats a quantity with the unit that a meter's label names (rules: usage#meters).
// An unknown label stays as it is. Where the language needs the singular, an unknown word is
// in parentheses, because its singular is not known.
func UnitText(locale string, n money.Total, label string) string {
	label = strings.TrimSpace(label)
	key, ok := unitKeys[label]
	if !ok {
		key, ok = unitKeys[strings.ToLower(strings.ReplaceAll(label, "'", "’"))]
	}
	figures := NewFormatter(locale)
	switch {
	case ok:
		return unitCatalog.Text(locale, key, map[string]any{"count": n})
	case label == "":
		return figures.Total(n)
	case isWord(label) && figures.Singular(n):
		label = "(" + label + ")"
	}
	return figures.Total(n) + "\u00a0" + label
}

// isWord reports whether a label is a word, and not a symbol such as kWh or m².
func isWord(label string) bool {
	last, _ := utf8.DecodeLastRuneInString(label)
	return utf8.RuneCountInString(label) > 3 && unicode.IsLower(last)
}
