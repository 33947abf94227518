package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Enum is a set of values with a name.
type Enum struct {
	Name   string
	Text   string
	Values []string
	// Fields have the set without saying so: schema, dot, property. Of a list it is what its
	// items have.
	Fields []string
}

// nameEnums puts the named sets of values in place of the same sets in schemas and
// parameters.
func (b *Book) nameEnums(doc *huma.OpenAPI) {
	if len(b.Enums) == 0 {
		return
	}
	names := map[string]string{}
	used := map[string]bool{}
	schemas := doc.Components.Schemas.Map()
	for _, enum := range b.Enums {
		if names[key(enum.Values)] != "" {
			panic(fmt.Sprintf("%s has the values of %s", enum.Name, names[key(enum.Values)]))
		}
		names[key(enum.Values)] = enum.Name
		for _, field := range enum.Fields {
			enum.give(schemas, field)
		}
	}
	replace := func(s *huma.Schema) *huma.Schema { return named(s, names, used) }
	for _, s := range schemas {
		within(s, replace)
	}
	eachOperation(doc, func(op *huma.Operation) {
		for _, p := range op.Parameters {
			if p.Schema != nil {
				p.Schema = replace(p.Schema)
				within(p.Schema, replace)
			}
		}
	})
	for _, enum := range b.Enums {
		if used[enum.Name] {
			s := &huma.Schema{Type: huma.TypeString, Description: enum.Text}
			for _, value := range enum.Values {
				s.Enum = append(s.Enum, value)
			}
			schemas[enum.Name] = s
		}
	}
}

// give makes a field one with the set of values.
func (e Enum) give(schemas map[string]*huma.Schema, field string) {
	name, property, _ := strings.Cut(field, ".")
	if schemas[name] == nil || schemas[name].Properties[property] == nil {
		panic(fmt.Sprintf("%s: there is no field %s", e.Name, field))
	}
	p := schemas[name].Properties[property]
	if p.Items != nil {
		p = p.Items
	}
	p.Enum = nil
	for _, value := range e.Values {
		p.Enum = append(p.Enum, value)
	}
	if p.Nullable {
		p.Enum = append(p.Enum, nil)
	}
}

// key is the same for the same set of values in another order.
func key(values []string) string {
	return strings.Join(slices.Sorted(slices.Values(values)), " ")
}

// named returns the reference to a named set of values, or the schema as it is.
func named(s *huma.Schema, names map[string]string, used map[string]bool) *huma.Schema {
	if len(s.Enum) == 0 || s.Type != huma.TypeString {
		return s
	}
	var values []string
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			values = append(values, text)
		}
	}
	name := names[key(values)]
	if name == "" {
		return s
	}
	used[name] = true
	if s.Nullable {
		return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{ref(name), {Type: "null"}}}
	}
	if s.Description == "" && s.Default == nil {
		return ref(name)
	}
	return &huma.Schema{Ref: Prefix + name, Description: s.Description, Default: s.Default}
}

// within replaces the schemas below one.
func within(s *huma.Schema, replace func(*huma.Schema) *huma.Schema) {
	for name, p := range s.Properties {
		within(p, replace)
		s.Properties[name] = replace(p)
	}
	if s.Items != nil {
		within(s.Items, replace)
		s.Items = replace(s.Items)
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		within(more, replace)
		s.AdditionalProperties = replace(more)
	}
}

// eachOperation calls f with each operation of a document.
func eachOperation(doc *huma.OpenAPI, f func(*huma.Operation)) {
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				f(op)
			}
		}
	}
}
