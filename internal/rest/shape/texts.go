package shape

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/i18n"
)

// Texts is a translatable field of a new record: a text per supported locale,
// of which English is required (rules: http#translatable-fields). A locale that is
// null or empty is left out; one that is not supported is refused. Tags of the
// field, such as maxLength, are rules of each text.
type Texts map[string]*string

// TextsChange is a translatable field of a PATCH: it changes the locales that it
// names. Null or empty removes a locale, but English can only be replaced.
type TextsChange map[string]*string

// Schema describes the type to OpenAPI.
func (Texts) Schema(huma.Registry) *huma.Schema {
	s := textsSchema()
	s.Required = []string{i18n.Default}
	return s
}

// Schema describes the type to OpenAPI.
func (TextsChange) Schema(huma.Registry) *huma.Schema { return textsSchema() }

func textsSchema() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, locale := range i18n.Locales() {
		text := &huma.Schema{Type: huma.TypeString, Nullable: locale != i18n.Default}
		if locale == i18n.Default {
			one := 1
			text.MinLength = &one
		}
		s.Properties[locale] = text
	}
	return s
}

// ruleTexts moves the rules that a field's tags put on a map to the values of that
// map, which is what they are meant for. It may be called twice.
func ruleTexts(s *huma.Schema) {
	values, typed := s.AdditionalProperties.(*huma.Schema)
	if typed && (s.MinLength != nil || s.MaxLength != nil) {
		values.MinLength, values.MaxLength = s.MinLength, s.MaxLength
		s.MinLength, s.MaxLength = nil, nil
	}
	if s.AdditionalProperties != false {
		return
	}
	for _, text := range s.Properties {
		if s.MaxLength != nil {
			text.MaxLength = s.MaxLength
		}
		if s.Format != "" {
			text.Format = s.Format
		}
	}
	if len(s.Properties) > 0 {
		s.MaxLength, s.Format = nil, ""
	}
}
