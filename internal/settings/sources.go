package settings

import (
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Origin is where the value of a setting comes from.
type Origin string

// The origins of a value.
const (
	FromDefault     Origin = "default"
	FromEnvironment Origin = "environment" // the environment variable
	FromFlag        Origin = "flag"        // the flag on the command line
	FromFile        Origin = "file"        // the file that another setting names, for secrets
)

// Source is a setting and the origin of its value.
type Source struct {
	Variable string // the environment variable; "" if only the flag sets it
	Flag     string // with its dashes; "" if only the environment or a file sets it
	Group    string // the name of the group of flags, such as brand
	// Value is the text that was set; "" for the default and for a secret.
	Value    string
	IsSecret bool
	Origin   Origin

	help string // in English, with the default at its end
}

// Sources returns the settings in the order of the fields, and the origins of their values
// (rules: settings#where-settings-come-from). getenv reads the environment.
func (f ServeFlags) Sources(getenv func(string) string) []Source { return readSources(f, getenv) }

// Sources is like ServeFlags.Sources.
func (f DevFlags) Sources(getenv func(string) string) []Source { return readSources(f, getenv) }

// readSources returns the settings of a struct of flags for kong, in the order of its fields. A
// field with the tag secret holds a secret. If its variable ends with _FILE, the field holds the
// path of a file instead; the secret's variable has the same name without _FILE.
func readSources(flags any, getenv func(string) string) []Source {
	var all []Source
	readFlags(reflect.ValueOf(flags), "demo", getenv, &all)
	return all
}

func readFlags(flags reflect.Value, group string, getenv func(string) string, all *[]Source) {
	for i := range flags.NumField() {
		field := flags.Type().Field(i)
		if field.Anonymous {
			readFlags(flags.Field(i), strings.ToLower(strings.TrimSuffix(field.Name, "Flags")), getenv, all)
			continue
		}
		addSource(field.Tag, flags.Field(i).String(), group, getenv, all)
	}
}

// addSource adds the setting of a field. If the field names the file of a secret, addSource records
// the file as the origin of that secret.
func addSource(tag reflect.StructTag, value, group string, getenv func(string) string, all *[]Source) {
	_, isSecret := tag.Lookup("secret")
	variable := tag.Get("env")
	secret, isFile := strings.CutSuffix(variable, "_FILE")
	if isSecret && isFile {
		addSecretFile(Source{Variable: secret, Group: group, IsSecret: true, Origin: FromDefault, help: tag.Get("help")}, value, getenv, all)
		return
	}
	s := Source{Variable: variable, Flag: "--" + tag.Get("name"), Group: group, IsSecret: isSecret, Origin: FromDefault, help: tag.Get("help")}
	if variable != "" {
		s.Flag = "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "TENANTRY_"), "_", "-"))
	}
	switch {
	case value == "":
	case variable != "" && getenv(variable) == value:
		s.Origin = FromEnvironment
	default:
		s.Origin = FromFlag
	}
	if !isSecret {
		s.Value = value
	}
	*all = append(*all, s)
}

func addSecretFile(s Source, path string, getenv func(string) string, all *[]Source) {
	if last := len(*all) - 1; last >= 0 && (*all)[last].Variable == s.Variable {
		if path != "" {
			(*all)[last].Origin = FromFile
		}
		return
	}
	switch {
	case path != "":
		s.Origin = FromFile
	case getenv(s.Variable) != "":
		s.Origin = FromEnvironment
	}
	*all = append(*all, s)
}

// Key returns the key of the setting in sourceTexts: its variable, or its flag if only the flag
// sets it.
func (s Source) Key() string {
	if s.Variable == "" {
		return s.Flag
	}
	return s.Variable
}

// Text returns the description of the setting and of its default in a language. fallback is "" for
// a setting without a default.
func (s Source) Text(locale string) (about, fallback string) {
	about, fallback = splitHelp(s.help)
	texts := sourceTexts()[locale]
	if text := texts[s.Key()]; text != "" {
		about = text
	}
	if text := texts[s.Key()+" default"]; text != "" {
		fallback = text
	}
	return about, fallback
}

// splitHelp separates the description of a flag from its default, as in “Address. Default: none.”
func splitHelp(help string) (about, fallback string) {
	about, rest, ok := strings.Cut(help, " Default: ")
	if !ok {
		return help, ""
	}
	fallback, more, ok := strings.Cut(rest, ". ")
	if ok {
		return about + " " + more, fallback
	}
	return about, strings.TrimSuffix(rest, ".")
}

//go:embed translations/*.json
var sourceFiles embed.FS

// sourceTexts returns the translated descriptions of the settings by locale and Source.Key. The
// help of the flags has the English descriptions.
var sourceTexts = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, locale := range []string{"fr", "es", "it"} {
		content, err := sourceFiles.ReadFile("translations/" + locale + ".json")
		texts := map[string]string{}
		if err == nil {
			err = json.Unmarshal(content, &texts)
		}
		if err != nil { // a test reads all files
			panic(fmt.Sprintf("texts of the settings in %s: %v", locale, err))
		}
		all[locale] = texts
	}
	return all
})
