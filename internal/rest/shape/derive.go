package shape

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Registry derives schemas from Go types. The schemas of structs are named components.
type Registry struct {
	Components map[string]*Schema

	names map[string]string // renamed components
	types map[string]reflect.Type
	enums []Enum
}

// Enum is a set of values that is a component.
type Enum struct {
	Name   string
	Text   string
	Values []string
	// Fields are properties that have the set without an enum tag, as Component.property. For a
	// list, its items have the set.
	Fields []string
}

// NewRegistry returns an empty registry. names renames the components of types.
func NewRegistry(names map[string]string, enums []Enum) *Registry {
	r := &Registry{Components: map[string]*Schema{}, names: names, types: map[string]reflect.Type{}, enums: enums}
	for _, e := range enums {
		r.Components[e.Name] = &Schema{Type: TypeString, Description: e.Text, Enum: e.Values}
	}
	return r
}

// describer is a type that provides its own schema.
type describer interface {
	Schema(r *Registry) *Schema
}

// Schema returns the schema of a type. The caller can modify it. hint is the name for an anonymous
// struct. It panics if the type cannot be represented in JSON.
func (r *Registry) Schema(t reflect.Type, hint string) *Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if d, ok := reflect.Zero(t).Interface().(describer); ok {
		return d.Schema(r)
	}
	switch {
	case t == reflect.TypeFor[uuid.UUID]():
		return &Schema{Type: TypeString, Format: "uuid"}
	case t == reflect.TypeFor[time.Time]():
		panic("the fraction of a time.Time has no fixed length: make it a shape.Time")
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &Schema{Type: TypeString}
	}
	switch t.Kind() {
	case reflect.Interface:
		return &Schema{}
	case reflect.String:
		return &Schema{Type: TypeString}
	case reflect.Bool:
		return &Schema{Type: TypeBoolean}
	case reflect.Int32:
		return &Schema{Type: TypeInteger, Format: "int32"}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: TypeInteger, Format: "int64"}
	case reflect.Float64:
		return &Schema{Type: TypeNumber, Format: "double"}
	case reflect.Slice:
		items := r.Schema(t.Elem(), t.Name()+"Item")
		items.Nullable = items.Nullable || t.Elem().Kind() == reflect.Pointer
		return &Schema{Type: TypeArray, Items: items}
	case reflect.Map:
		return &Schema{Type: TypeObject, Values: r.Schema(t.Elem(), t.Name()+"Value")}
	case reflect.Struct:
		return r.component(t, r.nameOf(t, hint))
	default:
		panic(fmt.Sprintf("%s has no form in JSON", t))
	}
}

// component returns the schema of a struct.
func (r *Registry) component(t reflect.Type, name string) *Schema {
	if known := r.types[name]; known != nil && known != t {
		panic(fmt.Sprintf("%s and %s are both called %s", known, t, name))
	} else if known == nil {
		s := &Schema{Type: TypeObject}
		r.types[name], r.Components[name] = t, s
		for _, field := range reflect.VisibleFields(t) {
			key, omitted := jsonKey(field)
			if key == "" {
				continue
			}
			p := Property{Name: key, Required: !omitted, Schema: r.Field(field, t.Name()+field.Name+"Struct")}
			if tag := field.Tag.Get("required"); tag != "" {
				p.Required = tag == "true"
			}
			if field.Type.Kind() == reflect.Pointer && field.Tag.Get("nullable") == "" {
				p.Nullable = !omitted // a nil pointer is encoded as null
			}
			if confirmed, ok := strings.CutSuffix(key, "_confirmation"); ok && s.Property(confirmed) != nil {
				p.confirms = confirmed
			}
			for _, e := range r.enums {
				if slices.Contains(e.Fields, name+"."+key) {
					p.values().Ref = e.Name
				}
			}
			s.Properties = append(s.Properties, p)
		}
	}
	reference := *r.Components[name]
	reference.Ref = name
	return &reference
}

// NameEnum makes the schema refer to an enum with the same values, in any order.
func (s *Schema) NameEnum(enums []Enum) {
	for _, e := range enums {
		if len(s.Enum) > 0 && slices.Equal(slices.Sorted(slices.Values(e.Values)), slices.Sorted(slices.Values(s.Enum))) {
			s.Ref = e.Name
		}
	}
}

// nameOf returns the name of a component: PlanAnswer for a response with a plan, PlanList for
// several plans, PlanPage for a page of them.
func (r *Registry) nameOf(t reflect.Type, hint string) string {
	name := strings.ReplaceAll(cmp.Or(t.Name(), hint), "[]", "List[")
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune("[]*,", c) }) {
		part = part[strings.LastIndexByte(part, '.')+1:]
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return r.rename(b.String())
}

func (r *Registry) rename(name string) string {
	for _, kind := range [][3]string{{"DataList", "Body", "List"}, {"Data", "Body", "Answer"}, {"Page", "", "Page"}, {"Part", "", "List"}} {
		inner, isKind := strings.CutPrefix(name, kind[0])
		if isKind && inner != "" && strings.HasSuffix(inner, kind[1]) && r.names[name] == "" {
			return r.rename(strings.TrimSuffix(inner, kind[1])) + kind[2]
		}
	}
	return cmp.Or(r.names[name], name)
}

// jsonKey returns the JSON key of a field, or "" if it has none, and whether empty values are
// omitted.
func jsonKey(field reflect.StructField) (key string, omitted bool) {
	key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !field.IsExported() || key == "-":
		return "", false
	case key == "" && !field.Anonymous:
		key = field.Name
	}
	return key, strings.HasPrefix(options, "omit")
}

// tags are the supported keys of struct tags. No other key would be enforced.
var tags = strings.Fields(`json path query cookie doc sheet format default example enum pattern nullable required
	minLength maxLength minimum exclusiveMinimum maximum minItems maxItems maxBytes`)

var tagKey = regexp.MustCompile(`(\w+):"(?:[^"\\]|\\.)*"`)

// Field returns the schema of a struct field with the rules of its tags. It panics on a rule that
// Normalize does not enforce.
func (r *Registry) Field(field reflect.StructField, hint string) *Schema {
	defer func() {
		if reason := recover(); reason != nil {
			panic(fmt.Sprintf("%s: %v", field.Name, reason))
		}
	}()
	for _, key := range tagKey.FindAllStringSubmatch(string(field.Tag), -1) {
		if !slices.Contains(tags, key[1]) {
			panic("a schema has a rule that is not enforced: " + key[1])
		}
	}
	s := r.Schema(field.Type, hint)
	s.Description, s.Default, s.Example = field.Tag.Get("doc"), field.Tag.Get("default"), field.Tag.Get("example")
	s.Nullable = field.Tag.Get("nullable") == "true"
	s.MinItems, s.MaxItems, s.MaxBytes = number(field, "minItems", s.MinItems), number(field, "maxItems", 0), number(field, "maxBytes", 0)
	if s.IsClosed {
		r.nameTexts(s, field)
	} else {
		r.constrain(s.values(), field)
	}
	return s
}

// values returns the schema that the tags of a field apply to: the items of a list, the values of a
// map, or else s itself.
func (s *Schema) values() *Schema {
	switch {
	case s.Items != nil:
		return s.Items
	case s.Values != nil:
		return s.Values
	}
	return s
}

// Input returns the schema of an input field. It also panics on a free-form object without a size
// limit.
func (r *Registry) Input(field reflect.StructField, hint string) *Schema {
	s := r.Field(field, hint)
	s.requireMaxBytes(field.Name)
	return s
}

func (s *Schema) requireMaxBytes(name string) {
	if s.IsFreeForm != (s.MaxBytes > 0) {
		panic(name + ": exactly the free-form objects have the tag maxBytes")
	}
	for _, p := range s.Properties {
		p.requireMaxBytes(p.Name)
	}
	if values := s.values(); values != s {
		values.requireMaxBytes(name)
	}
}

// constrain adds the rules of a field's tags to the schema of its values.
func (r *Registry) constrain(s *Schema, field reflect.StructField) {
	s.Format = cmp.Or(field.Tag.Get("format"), s.Format)
	if _, known := formats[s.Format]; !known {
		panic("unknown format " + s.Format)
	}
	s.MinLength, s.MaxLength = number(field, "minLength", s.MinLength), number(field, "maxLength", s.MaxLength)
	s.Minimum, s.Above, s.Maximum = parseBound(field, "minimum", s.Minimum), parseBound(field, "exclusiveMinimum", s.Above), parseBound(field, "maximum", s.Maximum)
	if pattern := field.Tag.Get("pattern"); pattern != "" {
		s.Pattern = regexp.MustCompile(pattern)
	}
	if enum := field.Tag.Get("enum"); enum != "" {
		s.Enum = strings.Split(enum, ",")
		s.NameEnum(r.enums)
	}
}

// nameTexts turns a translatable field into a component.
func (r *Registry) nameTexts(s *Schema, field reflect.StructField) {
	name := "TranslatedText"
	if field.Tag.Get("format") == "name" {
		name = "TranslatedName"
	}
	if !s.Properties[0].Required {
		name += "Change"
	}
	for _, text := range s.Properties {
		r.constrain(text.Schema, field)
	}
	if r.Components[name] == nil {
		component := *s
		component.Description, component.Nullable = "Text by language. Null or empty if a language does not have a text.", false
		r.Components[name] = &component
	} else if !reflect.DeepEqual(r.Components[name].Properties, s.Properties) {
		panic(name + " is described in two ways")
	}
	s.Ref = name
}

func number(field reflect.StructField, tag string, otherwise int) int {
	if n := parseBound(field, tag, nil); n != nil {
		return int(*n)
	}
	return otherwise
}

func parseBound(field reflect.StructField, tag string, otherwise *float64) *float64 {
	text := field.Tag.Get(tag)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(tag + " is not a number")
	}
	return &n
}
