// Package shape describes and validates the values of requests and responses. A Schema is derived
// from a Go type and its struct tags. OpenAPI documents the schema and Normalize enforces it, so
// each rule is stated once, on the field.
package shape

import (
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of JSON schema.
const (
	TypeString  = "string"
	TypeInteger = "integer"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeArray   = "array"
	TypeObject  = "object"
)

// Prefix is the prefix of references to schemas.
const Prefix = "#/components/schemas/"

// Schema describes a value and its rules. A zero limit does not apply.
type Schema struct {
	Type          string         `json:"-"` // "" is any value
	Nullable      bool           `json:"-"`
	Ref           string         `json:"-"` // component name; documented instead of the rules
	Default       string         `json:"-"` // as in the tag, or ""
	Example       string         `json:"-"` // as in the tag, or ""
	Enum          []string       `json:"-"`
	Properties    []Property     `json:"-"` // properties of an object, in field order
	Values        *Schema        `json:"-"` // values of an object with arbitrary keys
	IsFreeForm    bool           `json:"-"` // object with arbitrary keys and values
	IsClosed      bool           `json:"-"` // object that rejects unknown keys
	TakesEmpty    bool           `json:"-"` // nullable object for which an empty string counts as null
	Description   string         `json:"description,omitempty"`
	Format        string         `json:"format,omitempty"`
	Pattern       *regexp.Regexp `json:"pattern,omitzero"`
	MinLength     int            `json:"minLength,omitzero"`
	MaxLength     int            `json:"maxLength,omitzero"`
	Minimum       *float64       `json:"minimum,omitzero"`
	Above         *float64       `json:"exclusiveMinimum,omitzero"`
	Maximum       *float64       `json:"maximum,omitzero"`
	Items         *Schema        `json:"items,omitzero"` // items of an array
	MinItems      int            `json:"minItems,omitzero"`
	MaxItems      int            `json:"maxItems,omitzero"`
	MaxBytes      int            `json:"x-max-bytes,omitzero"` // maximum size of a free-form object as compact JSON
	OneOf         []*Schema      `json:"oneOf,omitempty"`
	Discriminator map[string]any `json:"discriminator,omitempty"` // discriminator of OneOf
	Forms         []string       `json:"x-forms,omitempty"`       // components that an error schema combines
	Codes         []string       `json:"x-codes,omitempty"`       // codes of the errors that have this field

	isItem bool // an Item, which is validated when it is decoded
}

// Property is a key of an object, or a parameter.
type Property struct {
	Name     string
	Required bool
	*Schema

	confirms string // property that must have the same value, or ""
}

// Ref returns a schema that refers to a component.
func Ref(name string) *Schema { return &Schema{Ref: name} }

// Property returns the property with a name, or nil.
func (s *Schema) Property(name string) *Property {
	if i := s.indexOf([]byte(name)); i >= 0 {
		return &s.Properties[i]
	}
	return nil
}

// Add adds a property, or replaces the schema of one with the same name.
func (s *Schema) Add(name string, required bool, schema *Schema) {
	if p := s.Property(name); p != nil {
		p.Schema = schema
		return
	}
	s.Properties = append(s.Properties, Property{Name: name, Required: required, Schema: schema})
}

// plainSchema is a Schema without its methods.
type plainSchema Schema

// printedSchema is the JSON form of a Schema.
type printedSchema struct {
	Type                 any            `json:"type,omitempty"`
	Ref                  string         `json:"$ref,omitempty"`
	AnyOf                []*Schema      `json:"anyOf,omitempty"`
	ContentMediaType     string         `json:"contentMediaType,omitempty"`
	Default              jsontext.Value `json:"default,omitzero"`
	Examples             []any          `json:"examples,omitempty"`
	Enum                 []any          `json:"enum,omitempty"`
	Properties           map[string]any `json:"properties,omitempty"`
	Required             []string       `json:"required,omitempty"`
	AdditionalProperties any            `json:"additionalProperties,omitzero"`
	plainSchema
}

// MarshalJSON encodes the schema for OpenAPI 3.1.
func (s *Schema) MarshalJSON() ([]byte, error) {
	out := printedSchema{plainSchema: plainSchema{Description: s.Description}}
	if s.Default != "" {
		out.Default = s.literal(s.Default)
	}
	switch {
	case s.Ref != "" && s.Nullable:
		out.AnyOf = []*Schema{Ref(s.Ref), {Type: "null"}}
	case s.Ref != "":
		out.Ref = Prefix + s.Ref
	default:
		s.printRules(&out)
	}
	return json.Marshal(out, json.Deterministic(true))
}

func (s *Schema) printRules(out *printedSchema) {
	out.Type, out.plainSchema = s.Type, plainSchema(*s)
	if s.Above != nil {
		// Some generators reject the number of OpenAPI 3.1, so the bound is printed as included.
		out.Minimum, out.Above = s.Above, nil
	}
	if s.Format == "binary" {
		out.ContentMediaType = "application/octet-stream"
	}
	if s.Example != "" {
		out.Examples = []any{s.literal(s.Example)}
	}
	for _, value := range s.Enum {
		out.Enum = append(out.Enum, s.literal(value))
	}
	if s.Nullable && s.Type != "" {
		out.Type = []string{s.Type, "null"}
		if len(s.Enum) > 0 {
			out.Enum = append(out.Enum, nil)
		}
	}
	out.Properties = map[string]any{}
	for _, p := range s.Properties {
		out.Properties[p.Name] = p.Schema
		if p.Required {
			out.Required = append(out.Required, p.Name)
		}
	}
	switch {
	case s.Values != nil:
		out.AdditionalProperties = s.Values
	case s.IsFreeForm, s.IsClosed:
		out.AdditionalProperties = s.IsFreeForm
	}
}

// literal returns the JSON of a value in a tag. In tags, strings have no quotes.
func (s *Schema) literal(text string) jsontext.Value {
	if s.Type != TypeString {
		return jsontext.Value(text)
	}
	return quote(text)
}
