// Package i18n has the locales of the service, their message catalogs, and the
// choice of a locale by Accept-Language (rules: http#locale).
package i18n

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/text/language"
)

// Default is the locale of a reader who asks for none of the supported ones.
const Default = "en"

//go:embed locales/*.json
var files embed.FS

// Locales lists the supported locales, the default first.
func Locales() []string { return []string{"en", "fr", "es", "it"} }

// Catalog has the messages of every locale and matches readers to locales.
type Catalog struct {
	messages map[string]map[string]Message
	offered  []string // the locales that readers get
	matcher  language.Matcher
}

// Load reads the messages of answers and alerts.
func Load() (*Catalog, error) { return Read(files) }

// Read reads the catalogs locales/{locale}.json of a package. It fails when one is not
// valid JSON or lacks a key that the default locale has.
func Read(from fs.FS) (*Catalog, error) {
	c := &Catalog{messages: map[string]map[string]Message{}}
	for _, locale := range Locales() {
		text, err := fs.ReadFile(from, "locales/"+locale+".json")
		if err != nil {
			return nil, err
		}
		messages := map[string]Message{}
		if err := json.Unmarshal(text, &messages); err != nil {
			return nil, fmt.Errorf("messages of %s: %w", locale, err)
		}
		for key := range c.messages[Default] {
			if _, ok := messages[key]; !ok {
				return nil, fmt.Errorf("messages of %s: %q is missing", locale, key)
			}
		}
		c.messages[locale] = messages
	}
	c.RestrictTo(Locales())
	return c, nil
}

// RestrictTo restricts Match to some locales, of which the first is the default. Call it before the
// catalog is used.
func (c *Catalog) RestrictTo(locales []string) {
	tags := make([]language.Tag, len(locales))
	for i, locale := range locales {
		tags[i] = language.Make(locale)
	}
	c.offered, c.matcher = locales, language.NewMatcher(tags)
}

// Must is Read for catalogs in the program, which tests have read.
func Must(c *Catalog, err error) *Catalog {
	if err != nil {
		panic(err)
	}
	return c
}

// Match picks the locale that an Accept-Language header asks for: quality values and
// region subtags count. It is "" where the header asks for none of the supported ones,
// or is malformed.
func (c *Catalog) Match(acceptLanguage string) string {
	if acceptLanguage == "" {
		return ""
	}
	if locale := c.firstRange(acceptLanguage); locale != "" {
		return locale
	}
	wanted, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil || len(wanted) == 0 {
		return ""
	}
	_, index, confidence := c.matcher.Match(wanted...)
	if confidence == language.No {
		return ""
	}
	return c.offered[index]
}

// firstRange returns the first language range, if it is offered and has no quality
// value: nothing can be better, so that most requests need no parser.
func (c *Catalog) firstRange(acceptLanguage string) string {
	first, _, _ := strings.Cut(acceptLanguage, ",")
	base, _, _ := strings.Cut(first, "-")
	for _, locale := range c.offered {
		if base == locale && !strings.Contains(first, ";") {
			return locale
		}
	}
	return ""
}

// Messages returns the messages of a locale by key. Callers must not change them.
func (c *Catalog) Messages(locale string) map[string]Message { return c.messages[locale] }

// Has reports whether key is a message.
func (c *Catalog) Has(key string) bool { _, ok := c.messages[Default][key]; return ok }

// Text returns the message of a key with its {placeholders} filled, numbers as the locale
// writes them. A key without a message is returned as it is.
func (c *Catalog) Text(locale, key string, args map[string]any) string {
	m, ok := c.messages[locale][key]
	if !ok {
		m, ok = c.messages[Default][key]
		locale = Default
	}
	if !ok {
		return key
	}
	return m.Text(locale, args)
}

type key struct{}

// With returns a context that carries the locale that the reader has asked for.
func With(ctx context.Context, locale string) context.Context {
	return context.WithValue(ctx, key{}, locale)
}

// Locale returns the reader's locale, the default when they have asked for none.
func Locale(ctx context.Context) string { return cmp.Or(RequestedLocale(ctx), Default) }

// RequestedLocale returns the locale that the reader has asked for, "" for none.
func RequestedLocale(ctx context.Context) string {
	locale, _ := ctx.Value(key{}).(string)
	return locale
}

// FirstSupported returns the first of some locales that the service has, "" for none.
func FirstSupported(locales ...string) string {
	for _, wanted := range locales {
		for _, locale := range Locales() {
			if strings.EqualFold(wanted, locale) {
				return locale
			}
		}
	}
	return ""
}

// LocalizedNames returns the names of something by locale that has one name of its own, and in
// other languages the names of its counterpart, which may have none.
func LocalizedNames(own string, counterpart []byte) (map[string]string, error) {
	names := map[string]string{}
	if len(counterpart) > 0 {
		if err := json.Unmarshal(counterpart, &names); err != nil {
			return nil, fmt.Errorf("names of %q: %w", own, err)
		}
	}
	names[Default] = own
	return names, nil
}

// Pick resolves a translatable field: the locale's text, else the default's.
func Pick(texts map[string]string, locale string) string {
	if t := texts[locale]; t != "" {
		return t
	}
	return texts[Default]
}
