package shape

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
)

// ParseTexts returns the JSON value of a URL parameter, its default if it is missing, or nil. If a
// parameter is repeated, the last text counts; for a list, all texts count. Invalid texts are added
// to broken.
func (p Property) ParseTexts(texts []string, broken *fault.Fields) jsontext.Value {
	if p.Items == nil && len(texts) > 0 {
		texts = texts[len(texts)-1:]
	} else {
		texts = strings.Split(strings.Join(texts, ","), ",")
	}
	var values []jsontext.Value
	isGiven := false
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		isGiven = true
		s := p.Schema
		if p.Items != nil {
			s = p.Items
		}
		if value := s.ParseText(text, p.Name, broken); value != nil {
			values = append(values, value)
		}
	}
	switch {
	case !isGiven && p.Required:
		broken.Add(p.Name, "validation.required")
	case !isGiven && p.Default != "":
		return p.literal(p.Default)
	case p.Items != nil && len(values) > 0:
		return arrayOf(values)
	case len(values) > 0:
		return values[0]
	}
	return nil
}

// ParseText returns the JSON value of a text in a URL, or nil if it is invalid. Numbers and
// booleans are parsed from text.
func (s *Schema) ParseText(text, name string, broken *fault.Fields) jsontext.Value {
	v := validator{broken: broken}
	switch s.Type {
	case TypeBoolean:
		switch text {
		case "true", "1":
			return jsontext.Value("true")
		case "false", "0":
			return jsontext.Value("false")
		}
		return v.fail(name, "validation.boolean")
	case TypeInteger, TypeNumber:
		raw := jsontext.Value(text)
		if !raw.IsValid() || raw.Kind() != '0' {
			return v.fail(name, "validation."+s.Type)
		}
		return v.check(s, raw, name)
	}
	if !utf8.ValidString(text) {
		return v.fail(name, "validation.characters")
	}
	return v.checkString(s, quote(text), name)
}

// IsNormalText reports whether a text in a URL is valid and in normal form.
func (s *Schema) IsNormalText(text string) bool {
	value := s.ParseText(text, "", new(fault.Fields))
	return value != nil && (string(value) == text || value.Kind() == '"' && string(unquote(value)) == text)
}
