package i18n_test

import (
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/i18n"
)

// FuzzMatch checks that every Accept-Language header matches a supported locale or "".
func FuzzMatch(f *testing.F) {
	for _, seed := range []string{"", "fr", "fr-CH, fr;q=0.9, en;q=0.8", "*", "de;q=x", "zh-Hant-TW;q=1.000", ";;;,,,=", "x-private", "i-klingon", "en-\xff"} {
		f.Add(seed)
	}
	c, err := i18n.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if locale := c.Match(header); locale != "" && !slices.Contains(i18n.Locales(), locale) {
			t.Errorf("%q leads to %q", header, locale)
		}
	})
}
