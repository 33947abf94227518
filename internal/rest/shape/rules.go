// Package shape says what the values of requests and responses look like in JSON
// and in a query: their types, the rules that struct tags put on them, and the
// normal form in which a handler gets them.
//
// A type's rules are compiled once per route, from the schema that huma derives
// from its struct tags. The schema is the only statement of a field's rules:
// OpenAPI prints it and Normalize enforces it. Compile panics on a rule that is
// not enforced, so that no rule is only printed.
package shape

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Rules are what a value has to keep to.
type Rules struct {
	kind        string // a JSON schema type; "" is any value
	format      string
	nullable    bool
	freeForm    bool // an object whose keys and values are the caller's
	closed      bool // an object that refuses keys that it does not know
	independent bool // an Each, whose broken fields do not refuse the request
	minLength   int
	maxLength   int // 0 is none
	minimum     *float64
	above       *float64 // exclusive minimum
	maximum     *float64
	minItems    int
	maxItems    int      // 0 is none
	maxBytes    int      // of a free-form object, as compact JSON; 0 is none
	enum        []string // as they look in JSON, without quotes
	pattern     *regexp.Regexp
	props       []Property
	items       *Rules // of an array
	values      *Rules // of an object whose keys are the caller's
}

// Property is a named value: a key of an object or a parameter.
type Property struct {
	Name     string
	Required bool
	Rules    *Rules
	// confirms is the index of the property that this one must repeat: that of
	// "password" for "password_confirmation"; -1 where there is none.
	confirms int
}

// indexOf finds a property by its exact name; -1 where there is none.
func (n *Rules) indexOf(name []byte) int {
	for i := range n.props {
		if n.props[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// Parameter returns the path or query parameter that a field describes.
func Parameter(registry huma.Registry, field reflect.StructField, name string, required bool) Property {
	schema := huma.SchemaFromField(registry, field, "")
	return Property{Name: name, Required: required, Rules: Compile(registry, schema, field.Type), confirms: -1}
}

// Compile returns the rules that a schema states for values of type t. It panics
// on a rule that Normalize does not enforce.
func Compile(registry huma.Registry, s *huma.Schema, t reflect.Type) *Rules {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if inner, ok := optValue(t); ok {
		t = inner
	}
	inner, independent := eachValue(t)
	if independent {
		t = inner
	}
	n := &Rules{independent: independent, nullable: s.Nullable || s.Type == "" && s.Ref == ""}
	if len(s.AnyOf) > 0 { // SettleNullables writes "an object or null" like this
		s, n.nullable = s.AnyOf[0], true
	}
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
		SettleNullables(s, t)
	}
	refuseUnknownRules(s)
	n.kind, n.format = s.Type, s.Format
	n.minimum, n.above, n.maximum = s.Minimum, s.ExclusiveMinimum, s.Maximum
	n.minLength, n.maxLength = deref(s.MinLength), deref(s.MaxLength)
	n.minItems, n.maxItems = deref(s.MinItems), deref(s.MaxItems)
	for _, value := range s.Enum {
		if value != nil {
			n.enum = append(n.enum, fmt.Sprint(value))
		}
	}
	if s.Pattern != "" {
		n.pattern = regexp.MustCompile(s.Pattern)
	}
	if independent && (s.Type != huma.TypeObject || s.AdditionalProperties == true) {
		panic("the items of an Each must be structs")
	}
	n.boundInteger(t)
	switch s.Type {
	case huma.TypeArray:
		n.items = Compile(registry, s.Items, t.Elem())
	case huma.TypeObject:
		values, typed := s.AdditionalProperties.(*huma.Schema)
		switch {
		case typed && t.Kind() == reflect.Map:
			n.values = Compile(registry, values, t.Elem())
		case s.AdditionalProperties == true:
			n.freeForm = true
		case t.Kind() == reflect.Map:
			n.closed, n.props = true, compileKeys(registry, s, t)
		default:
			n.props = compileFields(registry, s, t)
		}
	}
	return n
}

// compileFields compiles the fields of a struct in their order, so that the first
// error is that of the first field.
func compileFields(registry huma.Registry, s *huma.Schema, t reflect.Type) []Property {
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var props []Property
	for _, field := range reflect.VisibleFields(t) {
		name := jsonName(field)
		schema := s.Properties[name]
		if name == "" || schema == nil {
			continue
		}
		rules := Compile(registry, schema, field.Type)
		rules.boundBytes(schema, field)
		confirms := slices.IndexFunc(props, func(p Property) bool { return p.Name+"_confirmation" == name })
		props = append(props, Property{
			Name: name, Required: required[name], Rules: rules, confirms: confirms,
		})
	}
	return props
}

// boundBytes reads the tag maxBytes of a free-form object, for which JSON schema has no
// rule. An object without it is a programming error: whatever a caller stores is bounded.
func (n *Rules) boundBytes(s *huma.Schema, field reflect.StructField) {
	tag := field.Tag.Get("maxBytes")
	if n.freeForm != (tag != "") {
		panic(field.Name + ": exactly the free-form objects have the tag maxBytes")
	}
	if tag == "" {
		return
	}
	var err error
	if n.maxBytes, err = strconv.Atoi(tag); err != nil || n.maxBytes < 1 {
		panic(field.Name + ": maxBytes is no number of bytes")
	}
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions["x-max-bytes"] = n.maxBytes
}

// compileKeys compiles a map whose schema names each of its keys.
func compileKeys(registry huma.Registry, s *huma.Schema, t reflect.Type) []Property {
	var props []Property
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		props = append(props, Property{
			Name: name, Required: slices.Contains(s.Required, name),
			Rules: Compile(registry, s.Properties[name], t.Elem()), confirms: -1,
		})
	}
	return props
}

// jsonName returns the key of a field in JSON, "" for a field that has none.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !field.IsExported() || name == "-":
		return ""
	case name == "" && !field.Anonymous:
		return field.Name
	default:
		return name
	}
}

// boundInteger refuses numbers that do not fit the Go type.
func (n *Rules) boundInteger(t reflect.Type) {
	if n.kind != huma.TypeInteger {
		return
	}
	var low, high float64
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32:
		high = float64(int64(1)<<(t.Bits()-1) - 1)
		low = -high - 1
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		high = float64(uint64(1)<<t.Bits() - 1)
	default: // wholeNumber refuses what no int64 can hold
		return
	}
	low, high = max(low, orElse(n.minimum, low)), min(high, orElse(n.maximum, high))
	n.minimum, n.maximum = &low, &high
}

// refuseUnknownRules panics on a rule that Normalize does not enforce.
func refuseUnknownRules(s *huma.Schema) {
	_, known := formats[s.Format]
	switch {
	case !known:
		panic("unknown format " + s.Format)
	case s.ExclusiveMaximum != nil || s.MultipleOf != nil || s.UniqueItems || s.MinProperties != nil || s.MaxProperties != nil ||
		len(s.DependentRequired) > 0 || len(s.OneOf) > 0 || len(s.AllOf) > 0 || s.Not != nil:
		panic(fmt.Sprintf("a schema has a rule that is not enforced: %+v", s))
	}
}

// optValue returns the type inside an Opt.
func optValue(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Opt[") {
		field, ok := t.FieldByName("Value")
		return field.Type, ok
	}
	return nil, false
}

func deref(p *int) int { return orElse(p, 0) }

func orElse[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
