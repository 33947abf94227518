package i18n_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/i18n"
)

func sorted(locale string, names ...string) []string {
	c := i18n.NewCollator(locale)
	slices.SortStableFunc(names, func(a, b string) int { return bytes.Compare(c.Key(a), c.Key(b)) })
	return names
}

func TestCollator(t *testing.T) {
	t.Parallel()
	names := []string{"Zoe", "zebra", "Ölgemälde", "Oz", "Élodie", "Elodie", "Emil", "élan", "\u00c5ngstr\u00f6m", "Andrea", "Ñandú", "Nadal", "Nzinga", "Odell", "Жук", "Aeon", "Ægir", "9 Lives", "Émile", "de Vries", "Deventer"}
	want := []string{"9 Lives", "Ægir", "Aeon", "Andrea", "\u00c5ngstr\u00f6m", "de Vries", "Deventer", "élan", "Elodie", "Élodie", "Emil", "Émile", "Nadal", "Ñandú", "Nzinga", "Odell", "Ölgemälde", "Oz", "zebra", "Zoe", "Жук"}
	for _, locale := range []string{"en", "fr", "it", "de"} { // the same order in all of them
		if diff := cmp.Diff(want, sorted(locale, slices.Clone(names)...)); diff != "" {
			t.Errorf("%s: %s", locale, diff)
		}
	}
	// In Spanish, ñ is a separate letter.
	if diff := cmp.Diff([]string{"Nadal", "Nzinga", "Ñandú", "Odell"}, sorted("es", "Odell", "Ñandú", "Nzinga", "Nadal")); diff != "" {
		t.Errorf("es: %s", diff)
	}
	c := i18n.NewCollator("en")
	if !bytes.Equal(c.Key("ADA"), c.Key("ada")) || !bytes.Equal(c.Key("e\u0301"), c.Key("\u00e9")) || bytes.Equal(c.Key("e"), c.Key("\u00e9")) {
		t.Error("keys must ignore case and Unicode forms, but not accents")
	}
}
