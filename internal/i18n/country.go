package i18n

import (
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// countryNames has a line for each country: its code, and its names in English, Spanish, French and
// Italian. The test writes it from golang.org/x/text/language/display, whose tables of all
// languages would add 1 MB to the program.
//
//go:embed countries.tsv
var countryNames string

var countries = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(countryNames) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		all[fields[0]] = fields[1:]
	}
	return all
})

// Country returns the name of a country (ISO 3166-1 alpha-2). An unknown code is returned
// unchanged.
func (f Formatter) Country(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return code
	}
	names := countries()[region.String()]
	if names == nil {
		return code
	}
	switch f.tag {
	case language.Spanish:
		return names[1]
	case language.French:
		return names[2]
	case language.Italian:
		return names[3]
	default:
		return names[0]
	}
}
