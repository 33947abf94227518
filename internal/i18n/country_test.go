package i18n_test

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/tenantry/tenantry/internal/i18n"
)

var countryLocales = []language.Tag{language.English, language.Spanish, language.French, language.Italian}

// The names of countries equal the names in the Unicode CLDR, for every code. With TENANTRY_UPDATE
// set, the test writes them.
func TestCountries(t *testing.T) {
	t.Parallel()
	codes := twoLetters()
	if os.Getenv("TENANTRY_UPDATE") != "" {
		writeCountries(t, codes)
		return
	}
	for _, tag := range countryLocales {
		f, names := i18n.NewFormatter(tag.String()), display.Regions(tag)
		for _, code := range append(codes, "", "de", "USA", "840", "ZZZZ") {
			want := code
			if region, err := language.ParseRegion(code); err == nil {
				want = cmp.Or(names.Name(region), code)
			}
			if got := f.Country(code); got != want {
				t.Errorf("%s: %q is %q, want %q", tag, code, got, want)
			}
		}
	}
}

func writeCountries(t *testing.T, codes []string) {
	t.Helper()
	var b strings.Builder
	for _, code := range codes {
		region, err := language.ParseRegion(code)
		if err != nil || region.String() != code || display.Regions(language.English).Name(region) == "" {
			continue
		}
		b.WriteString(code)
		for _, tag := range countryLocales {
			fmt.Fprintf(&b, "\t%s", display.Regions(tag).Name(region))
		}
		b.WriteString("\n")
	}
	if err := os.WriteFile("countries.tsv", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// twoLetters returns all pairs of upper-case letters.
func twoLetters() (all []string) {
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			all = append(all, string(a)+string(b))
		}
	}
	return all
}
