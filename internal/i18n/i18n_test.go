package i18n_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if got, asked := i18n.Locale(t.Context()), i18n.Asked(t.Context()); got != "en" || asked != "" {
		t.Error(got, asked)
	}
	italian := i18n.With(t.Context(), "it")
	if got, asked := i18n.Locale(italian), i18n.Asked(italian); got != "it" || asked != "it" {
		t.Error(got, asked)
	}
	if got := i18n.Known("", "de", "FR", "it"); got != "fr" {
		t.Error(got)
	}
}

// Every locale has the same keys, each text says something, and has the
// placeholders that the English one has.
func TestCatalogsAgree(t *testing.T) {
	t.Parallel()
	placeholder := regexp.MustCompile(`\{\w+\}`)
	english := read(t, i18n.Default)
	for _, locale := range i18n.Locales() {
		messages := read(t, locale)
		if diff := cmp.Diff(keys(english), keys(messages)); diff != "" {
			t.Errorf("keys of %s (-en +%s)\n%s", locale, locale, diff)
		}
		for key, text := range messages {
			want, got := placeholder.FindAllString(english[key], -1), placeholder.FindAllString(text, -1)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) || strings.TrimSpace(text) != text || text == "" {
				t.Errorf("%s of %s: %q", key, locale, text)
			}
			if locale != i18n.Default && text == english[key] {
				t.Errorf("%s is not translated to %s", key, locale)
			}
		}
	}
}

func read(t *testing.T, locale string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("locales/" + locale + ".json")
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	messages := map[string]string{}
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, keyErr := dec.Token()
		value, valueErr := dec.Token()
		if keyErr != nil || valueErr != nil {
			t.Fatal(keyErr, valueErr)
		}
		if _, twice := messages[key.(string)]; twice {
			t.Errorf("%s has %s twice", locale, key)
		}
		messages[key.(string)] = value.(string)
	}
	return messages
}

func keys(messages map[string]string) []string {
	var keys []string
	for key := range messages {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
