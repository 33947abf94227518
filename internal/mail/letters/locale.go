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

// locale has the texts of one language and its date and number formats. Variables in texts are
// enclosed in braces.
type locale struct {
	Roles    map[string]string `json:"roles"`    // built-in roles
	Factors  map[string]string `json:"factors"`  // kinds of second factors
	Fallback string            `json:"fallback"` // introduces the plain URL of the button
	Footer   string            `json:"footer"`
	SignIn   string            `json:"sign_in"`  // button label without password logins
	Support  string            `json:"support"`  // introduces the support address
	Terms    string            `json:"terms"`    // name of the terms page
	Privacy  string            `json:"privacy"`  // name of the privacy page
	Practice string            `json:"practice"` // marks subjects in practice mode
	Letters  map[string]texts  `json:"letters"`

	i18n.Formatter `json:"-"` // date and number formats

	name string
}

// texts are the texts of one letter.
type texts struct {
	Subject string   `json:"subject"`
	Heading string   `json:"heading"` // of the body; the subject if empty. It can contain user input
	Body    []string `json:"body"`    // paragraphs
	// Paragraphs that follow the body, depending on whether users can log in with a password.
	Password     []string `json:"password"`
	Passwordless []string `json:"passwordless"`
	Facts        []fact   `json:"facts"`
	Action       string   `json:"action"` // button label
	Pay          string   `json:"pay"`    // button label if it leads to a payment; usually empty
	After        []string `json:"after"`  // paragraphs below the button
}

// fact is a labeled value. It is omitted if the value is empty.
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

// locale returns the locale with the name, or the default locale.
func (l *Letters) locale(name string) *locale {
	if in, ok := l.locales[name]; ok {
		return in
	}
	return l.locales[i18n.Default]
}

// role translates the name of a built-in role. It returns other names unchanged.
func (in *locale) role(name string) string {
	if translated, ok := in.Roles[name]; ok {
		return translated
	}
	return name
}
