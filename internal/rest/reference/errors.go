package reference

import (
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/rest/shape"
)

// The schemas of errors that do not belong to a domain.
const (
	errorName      = "Error"
	validationName = "ValidationError"
	internalName   = "InternalError"
)

const (
	messageText = "Error message in the language of Accept-Language."
	codeText    = "Stable error code. See docs/errors.md for the recommended action."
)

// Kind is an error code with additional response keys.
type Kind struct {
	Code   string
	Name   string // schema name
	Text   string
	Fields []Field
}

// Field is a response key of a Kind.
type Field struct {
	Name string
	// Type is string, integer, any, or the name of a schema. The prefix [] makes it a list, and the
	// suffix ? makes it nullable.
	Type     string
	Text     string
	Optional bool // may be absent
	// Of holds the fields of a schema that is defined inline.
	Of []Field
}

// errorSchemas returns the schemas of errors that do not belong to a domain and of the parts of
// errors, by name.
func (b *Book) errorSchemas() map[string]*shape.Schema {
	validation := errorSchema("Fields are invalid.")
	validation.Property("message").Description = "Error message of the first invalid field."
	validation.Add("errors", true, &shape.Schema{
		Type:        shape.TypeObject,
		Description: "Error messages by path of the invalid field, such as `prices.0.currency`.",
		Values:      &shape.Schema{Type: shape.TypeArray, Items: &shape.Schema{Type: shape.TypeString}},
	})
	internal := errorSchema("Unexpected error. The details are in the log, under the ID of the request.")
	internal.Add("request_id", true, &shape.Schema{Type: shape.TypeString, Description: "ID of the request, also returned in X-Request-Id."})
	all := map[string]*shape.Schema{
		errorName: errorSchema("Error without a code."), validationName: validation, internalName: internal,
	}
	for _, kind := range b.Kinds {
		for _, field := range kind.Fields {
			if len(field.Of) > 0 {
				of := &shape.Schema{Type: shape.TypeObject, Description: field.Text}
				addFields(of, field.Of)
				all[strings.TrimPrefix(field.Type, "[]")] = of
			}
		}
	}
	return all
}

// kindForm returns the form of an error whose code is a Kind, or nil for other codes.
func (b *Book) kindForm(code string) *form {
	i := slices.IndexFunc(b.Kinds, func(k Kind) bool { return k.Code == code })
	if i < 0 {
		return nil
	}
	s := errorSchema(b.Kinds[i].Text)
	s.Add("code", true, codeSchema(code))
	addFields(s, b.Kinds[i].Fields)
	for _, field := range b.Kinds[i].Fields {
		s.Property(field.Name).Codes = []string{code}
	}
	return &form{b.Kinds[i].Name, s}
}

func addFields(s *shape.Schema, fields []Field) {
	for _, field := range fields {
		s.Add(field.Name, !field.Optional, field.schema())
	}
}

func errorSchema(description string) *shape.Schema {
	s := &shape.Schema{Type: shape.TypeObject, Description: description}
	s.Add("message", true, &shape.Schema{Type: shape.TypeString, Description: messageText})
	return s
}

func codeSchema(codes ...string) *shape.Schema {
	return &shape.Schema{Type: shape.TypeString, Enum: codes, Description: codeText}
}

// schema describes the field.
func (f Field) schema() *shape.Schema {
	name, isList := strings.CutPrefix(f.Type, "[]")
	name, isNullable := strings.CutSuffix(name, "?")
	s := &shape.Schema{Ref: name}
	switch name {
	case shape.TypeString, shape.TypeInteger, shape.TypeNumber:
		s = &shape.Schema{Type: name}
	case "any":
		s = &shape.Schema{}
	}
	if isList {
		s = &shape.Schema{Type: shape.TypeArray, Items: s}
	}
	s.Nullable, s.Description = isNullable, f.Text
	return s
}
