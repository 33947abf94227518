package rest

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/money"
)

// node is a type's rules, compiled once per route from the schema that huma
// derives from struct tags. The schema is the only statement of a field's rules:
// OpenAPI prints it and bind enforces it. A rule that bind does not know is
// refused at start, so that none is only printed.
type node struct {
	kind      string // a JSON schema type; "" is any value
	format    string
	nullable  bool
	freeForm  bool // an object whose keys and values are the caller's
	closed    bool // an object that refuses keys that it does not know
	alone     bool // an Each: what is wrong with it stays its own affair
	minLength int
	maxLength int // 0 is none
	minimum   *float64
	above     *float64 // exclusive minimum
	maximum   *float64
	minItems  int
	maxItems  int      // 0 is none
	enum      []string // as they look in JSON, without quotes
	pattern   *regexp.Regexp
	props     []property
	items     *node // of an array
	values    *node // of an object whose keys are the caller's
}

type property struct {
	name     string
	required bool
	node     *node
	// confirms is the index of the property that this one must repeat: that of
	// "password" for "password_confirmation"; -1 where there is none.
	confirms int
}

// prop finds a property by its exact name.
func (n *node) prop(name []byte) int {
	for i := range n.props {
		if n.props[i].name == string(name) {
			return i
		}
	}
	return -1
}

// compileInput prepares the parameters and the body of a route for bind.
func compileInput[I any](a *API, op *operation) {
	t := reflect.TypeFor[I]()
	registry := a.huma.OpenAPI().Components.Schemas
	for _, field := range reflect.VisibleFields(t) {
		if name := field.Tag.Get("path"); name != "" {
			n := compile(registry, huma.SchemaFromField(registry, field, ""), field.Type)
			op.path = append(op.path, property{name: name, node: n})
		}
		if name, _, _ := strings.Cut(field.Tag.Get("query"), ","); name != "" {
			n := compile(registry, huma.SchemaFromField(registry, field, ""), field.Type)
			op.query = append(op.query, property{name: name, required: field.Tag.Get("required") == "true", node: n})
		}
	}
	if _, raw := t.FieldByName("RawBody"); raw {
		panic("RawBody is not bounded or checked: make it a Raw route")
	}
	if body, ok := t.FieldByName("Body"); ok {
		op.body = compile(registry, bodySchema(registry, body, op.route.ID()), body.Type)
	}
}

func compile(registry huma.Registry, s *huma.Schema, t reflect.Type) *node {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if inner, ok := optValue(t); ok {
		t = inner
	}
	inner, alone := eachValue(t)
	if alone {
		t = inner
	}
	n := &node{alone: alone, nullable: s.Nullable || s.Type == "" && s.Ref == ""}
	if len(s.AnyOf) > 0 { // settleNullables: an object or null
		s, n.nullable = s.AnyOf[0], true
	}
	if s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
		settleNullables(s, t)
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
	if alone && (s.Type != huma.TypeObject || s.AdditionalProperties == true) {
		panic("an Each of what is no struct")
	}
	n.boundInteger(t)
	switch s.Type {
	case huma.TypeArray:
		n.items = compile(registry, s.Items, t.Elem())
	case huma.TypeObject:
		values, typed := s.AdditionalProperties.(*huma.Schema)
		switch {
		case typed && t.Kind() == reflect.Map:
			n.values = compile(registry, values, t.Elem())
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

// compileFields keeps the order of the struct, so that the first error told is
// the first field's.
func compileFields(registry huma.Registry, s *huma.Schema, t reflect.Type) []property {
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	var props []property
	for _, field := range reflect.VisibleFields(t) {
		name := jsonName(field)
		schema := s.Properties[name]
		if name == "" || schema == nil {
			continue
		}
		confirms := slices.IndexFunc(props, func(p property) bool { return p.name+"_confirmation" == name })
		props = append(props, property{
			name: name, required: required[name], node: compile(registry, schema, field.Type), confirms: confirms,
		})
	}
	return props
}

// compileKeys is for a map that has a schema for each of its keys.
func compileKeys(registry huma.Registry, s *huma.Schema, t reflect.Type) []property {
	var props []property
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		props = append(props, property{
			name: name, required: slices.Contains(s.Required, name),
			node: compile(registry, s.Properties[name], t.Elem()), confirms: -1,
		})
	}
	return props
}

// jsonName is the key of a field, "" for one that JSON has no key for.
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

// boundInteger keeps what does not fit the Go type out.
func (n *node) boundInteger(t reflect.Type) {
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
	default: // wholeNumber holds what an int64 can
		return
	}
	low, high = max(low, orElse(n.minimum, low)), min(high, orElse(n.maximum, high))
	n.minimum, n.maximum = &low, &high
}

// refuseUnknownRules panics on a rule that bind does not enforce.
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

// optValue tells the type inside an Opt.
func optValue(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Opt[") {
		field, ok := t.FieldByName("Value")
		return field.Type, ok
	}
	return nil, false
}

// valueSchema describes T, with the types of the platform that huma cannot know.
func valueSchema[T any](r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// Quantity is an exact number of a request or response body: up to six
// decimals, at most 1e12 (spec: Usage rules).
type Quantity struct{ money.Quantity }

// Schema describes the type to OpenAPI.
func (Quantity) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Format: "quantity"}
}

// UnitPrice is an exact price of a unit of usage in a request or response body,
// in minor units of a currency: up to twelve decimals, from 0 to 1e12.
type UnitPrice struct{ money.UnitPrice }

// Schema describes the type to OpenAPI.
func (UnitPrice) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(money.MaxUnitPrice)
	return &huma.Schema{Type: huma.TypeNumber, Format: "unit-price", Minimum: &least, Maximum: &most}
}

func deref(p *int) int { return orElse(p, 0) }

func orElse[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
