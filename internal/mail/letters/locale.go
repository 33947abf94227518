package letters

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/tenantry/tenantry/internal/i18n"
)

//go:embed locales/*.json
var localeFiles embed.FS

// locale has the texts of one language and its way to write dates and numbers.
// Texts have variables in braces.
type locale struct {
	Roles    map[string]string `json:"roles"`    // the built-in ones
	Fallback string            `json:"fallback"` // before the address that a button leads to
	Footer   string            `json:"footer"`
	Support  string            `json:"support"` // before the address for questions
	Terms    string            `json:"terms"`   // the name of that page
	Privacy  string            `json:"privacy"` // likewise
	Letters  map[string]texts  `json:"letters"`

	i18n.Formatter `json:"-"` // its way to write dates and numbers

	name string
}

// texts are the texts of one letter.
type texts struct {
	Subject string   `json:"subject"`
	Body    []string `json:"body"` // paragraphs
	Facts   []fact   `json:"facts"`
	Action  string   `json:"action"` // on the button
	Pay     string   `json:"pay"`    // on the button where it leads to a payment; most have none
	After   []string `json:"after"`  // paragraphs below it
}

// fact is a line with a value. It is left out where the value is empty.
type fact struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

func loadLocales() (map[string]*locale, error) {
	all := map[string]*locale{}
	for _, name := range i18n.Locales() {
		file, err := localeFiles.ReadFile("locales/" + name + ".json")
		if err != nil {
			return nil, err
		}
		in := &locale{name: name, Formatter: i18n.NewFormatter(name)}
		decoder := json.NewDecoder(bytes.NewReader(file))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(in); err != nil {
			return nil, fmt.Errorf("texts of %s: %w", name, err)
		}
		all[name] = in
	}
	return all, nil
}

// locale returns the locale with a name, or the default one.
func (l *Letters) locale(name string) *locale {
	if in, ok := l.locales[name]; ok {
		return in
	}
	return l.locales[i18n.Default]
}

// role returns the translated name of a built-in role; other names stay as they are.
func (in *locale) role(name string) string {
	if translated, ok := in.Roles[name]; ok {
		return translated
	}
	return name
}
