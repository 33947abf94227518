package i18n_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tenantry/tenantry/internal/i18n"
)

func load(t *testing.T) *i18n.Catalog {
	t.Helper()
	c, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMatch(t *testing.T) {
	t.Parallel()
	c := load(t)
	for header, want := range map[string]string{
		"":                          "",
		"fr":                        "fr",
		"FR-ca":                     "fr",
		"es-419,es;q=0.9":           "es",
		"it_IT":                     "it",
		"de":                        "",
		"de,it;q=0.2":               "it",
		"de-DE,de;q=0.9,fr;q=0.8":   "fr",
		"en;q=0.5,fr;q=0.6":         "fr",
		"fr;q=0.3,en":               "en",
		"fr;q=0, es;q=0.1":          "es",
		"*":                         "",
		"fr;q=high":                 "",
		"\x00":                      "",
		strings.Repeat("a-", 10000): "",
		"en-GB":                     "en",
	} {
		if got := c.Match(header); got != want {
			t.Errorf("%.30q: %s, want %s", header, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	c := load(t)
	if got := c.Text("fr", "error.not_found", nil); got != "Introuvable." {
		t.Error(got)
	}
	if got := c.Text("de", "error.not_found", nil); got != "Not found." {
		t.Errorf("an unknown locale: %s", got)
	}
	if got := c.Text("en", "no.such_key", nil); got != "no.such_key" || c.Has("no.such_key") || !c.Has("error.not_found") {
		t.Errorf("an unknown key: %s", got)
	}
	if got := c.Text("en", "validation.minimum", map[string]any{"min": "{min}{max}", "max": 5}); got != "This must be at least {min}{max}." {
		t.Errorf("a value that looks like a placeholder: %s", got)
	}
}

func TestPickAndLocale(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"en": "plan", "fr": "offre", "it": ""}
	for locale, want := range map[string]string{"en": "plan", "fr": "offre", "it": "plan", "es": "plan"} {
		if got := i18n.Pick(texts, locale); got != want {
			t.Errorf("%s: %s, want %s", locale, got, want)
		}
	}
	if got, asked := i18n.Locale(t.Context()), i18n.RequestedLocale(t.Context()); got != "en" || asked != "" {
		t.Error(got, asked)
	}
	italian := i18n.With(t.Context(), "it")
	if got, asked := i18n.Locale(italian), i18n.RequestedLocale(italian); got != "it" || asked != "it" {
		t.Error(got, asked)
	}
	if got := i18n.FirstSupported("", "de", "FR", "it"); got != "fr" {
		t.Error(got)
	}
}

// Numbers in messages are formatted for the locale and select the plural form.
func TestNumbersInMessages(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, tt := range []struct {
		key  string
		args map[string]any
		want [4]string
	}{
		{"validation.min_items", map[string]any{"min": 1}, [4]string{
			"The list must not be empty.", "La liste ne peut pas être vide.", "La lista no puede estar vacía.", "L’elenco non può essere vuoto.",
		}},
		{"validation.max_items", map[string]any{"max": 1000}, [4]string{
			"The list must have at most 1,000 entries.", "Cette liste peut contenir au plus 1\u202f000 éléments.",
			"La lista puede tener como máximo 1.000 elementos.", "L’elenco può avere al massimo 1.000 elementi.",
		}},
		{"validation.max_items", map[string]any{"max": int64(2_000_000)}, [4]string{
			"The list must have at most 2,000,000 entries.", "Cette liste peut contenir au plus 2\u202f000\u202f000 d’éléments.",
			"La lista puede tener como máximo 2.000.000 de elementos.", "L’elenco può avere al massimo 2.000.000 di elementi.",
		}},
		{"validation.max_items", map[string]any{"max": 0}, [4]string{
			"The list must have at most 0 entries.", "Cette liste peut contenir au plus 0 élément.",
			"La lista puede tener como máximo 0 elementos.", "L’elenco può avere al massimo 0 elementi.",
		}},
		{"validation.maximum", map[string]any{"max": i18n.Digits("1000000000000.5")}, [4]string{
			"This must be at most 1,000,000,000,000.5.", "Cette valeur doit être inférieure ou égale à 1\u202f000\u202f000\u202f000\u202f000,5.",
			"Debe ser menor o igual que 1.000.000.000.000,5.", "Deve essere minore o uguale a 1.000.000.000.000,5.",
		}},
	} {
		each(t, func(locale string) string { return c.Text(locale, tt.key, tt.args) }, tt.want)
	}
}

// Incomplete or malformed catalogs are rejected.
func TestBrokenCatalogs(t *testing.T) {
	t.Parallel()
	for name, french := range map[string]string{
		"a key is missing": `{}`, "no JSON": `{`, "a number": `{"a": 1}`, "forms without a count": `{"a": {"one": "x", "other": "y"}}`,
		"forms without other": `{"a": {"count": "n", "one": "x"}}`,
	} {
		files := fstest.MapFS{}
		for _, locale := range i18n.Locales() {
			text := `{"a": {"count": "n", "one": "{n} x", "other": "{n} y"}}`
			if locale == "fr" {
				text = french
			}
			files["locales/"+locale+".json"] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := i18n.Read(files); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A restricted catalog does not match other locales.
func TestOffer(t *testing.T) {
	t.Parallel()
	c := load(t)
	c.RestrictTo([]string{"en", "it"})
	for header, want := range map[string]string{"fr": "", "it": "it", "fr,it;q=0.5": "it", "fr-FR,en;q=0.5": "en", "es": ""} {
		if got := c.Match(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
