package reference

import (
	"cmp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Prefix is what references to schemas begin with.
const Prefix = "#/components/schemas/"

// The schemas of errors that belong to no domain.
const (
	errorName      = "Error"
	validationName = "ValidationError"
	internalName   = "InternalError"
)

const (
	messageText = "What happened, for people, in the language of Accept-Language."
	codeText    = "For programs: stable and never translated. docs/errors.md says what to do about each."
)

// Kind is a refusal that says more than others: a code whose answer has keys of its own.
type Kind struct {
	Code   string
	Name   string // of the schema
	Text   string
	Fields []Field
}

// Field is a key of a Kind.
type Field struct {
	Name string
	// Type is string, integer, any, or the name of a schema; [] before it makes it a list,
	// a ? behind it says that it may be null.
	Type     string
	Text     string
	Optional bool // whether it may be absent
	// Of are the fields of the schema, where it is made here.
	Of []Field
}

func (b *Book) kind(code string) *Kind {
	if i := slices.IndexFunc(b.Kinds, func(k Kind) bool { return k.Code == code }); i >= 0 {
		return &b.Kinds[i]
	}
	return nil
}

// errorSchemas returns the schemas of all errors, by their names.
func (b *Book) errorSchemas() map[string]*huma.Schema {
	validation := errorSchema("Fields are invalid.")
	validation.Properties["message"].Description = "The message of the first field, for people."
	validation.Properties["errors"] = &huma.Schema{
		Type:        huma.TypeObject,
		Description: "The messages of each invalid field, by its dotted path, such as `prices.0.currency`.",
		AdditionalProperties: &huma.Schema{
			Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString},
		},
	}
	validation.Required = []string{"message", "errors"}
	internal := errorSchema("An accident. It is in the log under the request's id.")
	internal.Properties["request_id"] = &huma.Schema{Type: huma.TypeString, Description: "The id of the request, which is also in X-Request-Id."}
	internal.Required = []string{"message", "request_id"}
	all := map[string]*huma.Schema{
		errorName: errorSchema("A message, and nothing more for programs than the status."), validationName: validation, internalName: internal,
	}
	for _, kind := range b.Kinds {
		s := errorSchema(kind.Text)
		s.Properties["code"] = &huma.Schema{Type: huma.TypeString, Enum: []any{kind.Code}, Description: codeText}
		s.Required = append(s.Required, "code")
		addFields(s, kind.Fields)
		all[kind.Name] = s
		for _, field := range kind.Fields {
			if len(field.Of) > 0 {
				of := &huma.Schema{Type: huma.TypeObject, Description: field.Text, Properties: map[string]*huma.Schema{}}
				addFields(of, field.Of)
				all[strings.TrimPrefix(field.Type, "[]")] = of
			}
		}
	}
	return all
}

func addFields(s *huma.Schema, fields []Field) {
	for _, field := range fields {
		s.Properties[field.Name] = field.schema()
		if !field.Optional {
			s.Required = append(s.Required, field.Name)
		}
	}
}

func errorSchema(description string) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Description: description,
		Properties: map[string]*huma.Schema{"message": {Type: huma.TypeString, Description: messageText}},
		Required:   []string{"message"},
	}
}

// schema describes the field.
func (f Field) schema() *huma.Schema {
	name, list := strings.CutPrefix(f.Type, "[]")
	name, nullable := strings.CutSuffix(name, "?")
	s := ref(name)
	switch name {
	case huma.TypeString, huma.TypeInteger:
		s = &huma.Schema{Type: name}
	case "any":
		s = &huma.Schema{}
	}
	switch {
	case list:
		s = &huma.Schema{Type: huma.TypeArray, Items: s}
	case nullable && s.Type != "":
		s.Nullable = true
	case nullable:
		s = &huma.Schema{AnyOf: []*huma.Schema{s, {Type: "null"}}}
	}
	s.Description = cmp.Or(f.Text, s.Description)
	return s
}

func ref(name string) *huma.Schema { return &huma.Schema{Ref: Prefix + name} }
