package reference

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// nameTexts makes components of translatable fields, which are described in each place where
// they stand: TranslatedName and TranslatedText, and their changes, where nothing is required.
func nameTexts(schemas map[string]*huma.Schema) {
	named := map[string]*huma.Schema{}
	replace := func(s *huma.Schema) *huma.Schema {
		name := textsName(s)
		if name == "" {
			return s
		}
		bare := *s
		bare.Description, bare.Nullable = "A text for each language; what is null or empty has none.", false
		for _, text := range bare.Properties {
			text.Description = "The text in this language."
		}
		if named[name] != nil && !reflect.DeepEqual(named[name].Properties, bare.Properties) {
			panic(name + " is described in two ways")
		}
		named[name] = &bare
		if s.Nullable {
			return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{ref(name), {Type: "null"}}}
		}
		return &huma.Schema{Ref: Prefix + name, Description: s.Description}
	}
	for _, s := range schemas {
		within(s, replace)
	}
	for name, s := range named {
		schemas[name] = s
	}
}

// textsName returns what a translatable field is called; "" for anything else.
func textsName(s *huma.Schema) string {
	english := s.Properties["en"]
	if s.Type != huma.TypeObject || s.AdditionalProperties != false || english == nil {
		return ""
	}
	name := "TranslatedText"
	if english.Format == "name" {
		name = "TranslatedName"
	}
	if !slices.Contains(s.Required, "en") {
		name += "Change"
	}
	return name
}
