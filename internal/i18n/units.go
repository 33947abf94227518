package i18n

import (
	"embed"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/money"
)

// unitFiles contains the units of bytes and time from CLDR 42, and other units that services often
// count. Every form in every language is a name of the unit.
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

// unitsByName maps the names of units to message keys.
func unitsByName() map[string]string {
	all := map[string]string{"KB": "unit.kB", "hr": "unit.h", "mail": "unit.email", "mails": "unit.email"}
	UnitNames(func(name, key string) { all[name] = key })
	return all
}

// UnitNames calls yield for every name of every unit in all languages. Symbols, such as GB, keep
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

// UnitText formats a quantity with the unit of a meter's label (rules: usage#meters). An unknown
// label is unchanged. If the language needs a singular, an unknown word is put in parentheses,
// because its singular is unknown.
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

// isWord reports whether a label is a word and not a symbol such as kWh or m².
func isWord(label string) bool {
	last, _ := utf8.DecodeLastRuneInString(label)
	return utf8.RuneCountInString(label) > 3 && unicode.IsLower(last)
}
