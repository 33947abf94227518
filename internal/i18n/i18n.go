// Package i18n provides the locales of the service, their message catalogs, and the choice of a
// locale by Accept-Language (rules: http#locale).
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

// Default is the locale for requests that ask for none of the supported locales.
const Default = "en"

//go:embed locales/*.json
var files embed.FS

// Locales returns the supported locales, starting with the default.
func Locales() []string { return []string{"en", "fr", "es", "it"} }

// Catalog holds the messages of all locales and matches requests to locales.
type Catalog struct {
	messages map[string]map[string]Message
	offered  []string // the locales that Match can return
	matcher  language.Matcher
}

// Load reads the messages of responses and alerts.
func Load() (*Catalog, error) { return Read(files) }

// Read reads the catalogs locales/{locale}.json. It returns an error if a catalog is not valid JSON
// or lacks a key of the default locale.
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

// RestrictTo restricts Match to the given locales. The first one becomes the default. Call it
// before the catalog is used.
func (c *Catalog) RestrictTo(locales []string) {
	tags := make([]language.Tag, len(locales))
	for i, locale := range locales {
		tags[i] = language.Make(locale)
	}
	c.offered, c.matcher = locales, language.NewMatcher(tags)
}

// Must panics if Read fails. Use it for embedded catalogs, which tests have read.
func Must(c *Catalog, err error) *Catalog {
	if err != nil {
		panic(err)
	}
	return c
}

// Match returns the locale that an Accept-Language header asks for, considering quality values and
// region subtags. It returns "" if the header is malformed or asks for none of the supported
// locales.
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

// firstRange returns the first language range if it is offered and lacks a quality value. No other
// range can have a higher priority, so most requests need no parser.
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

// Messages returns the messages of a locale by key. Callers must not modify the map.
func (c *Catalog) Messages(locale string) map[string]Message { return c.messages[locale] }

// Has reports whether there is a message with the key.
func (c *Catalog) Has(key string) bool { _, ok := c.messages[Default][key]; return ok }

// Text returns the message of a key with its {placeholders} filled. Numbers are formatted for the
// locale. If the message does not exist, it returns the key.
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

// With returns a context that carries the requested locale.
func With(ctx context.Context, locale string) context.Context {
	return context.WithValue(ctx, key{}, locale)
}

// Locale returns the requested locale, or the default.
func Locale(ctx context.Context) string { return cmp.Or(RequestedLocale(ctx), Default) }

// RequestedLocale returns the requested locale, or "".
func RequestedLocale(ctx context.Context) string {
	locale, _ := ctx.Value(key{}).(string)
	return locale
}

// FirstSupported returns the first supported locale of the given ones, or "".
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

// LocalizedNames returns the names of a resource by locale: own in the default locale, and the
// names in counterpart in the other locales. counterpart is a JSON object of names by locale and
// can be empty.
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

// Pick returns the text for the locale, or for the default locale if it is empty.
func Pick(texts map[string]string, locale string) string {
	if t := texts[locale]; t != "" {
		return t
	}
	return texts[Default]
}
