package shape

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

// NewRegistry returns an empty registry for the schemas of named types, whose
// references begin with prefix. names renames schemas.
func NewRegistry(prefix string, names map[string]string) huma.Registry {
	registry := huma.NewMapRegistry(prefix, func(t reflect.Type, hint string) string {
		return schemaName(huma.DefaultSchemaNamer(t, hint), names)
	})
	registry.RegisterTypeAlias(reflect.TypeFor[uuid.UUID](), reflect.TypeFor[uuidSchema]())
	return registry
}

// schemaName returns what a schema is called that huma would call name: an answer with one
// resource is PlanAnswer, one with several PlanList, one with a page of them PlanPage.
func schemaName(name string, names map[string]string) string {
	if inner, ok := strings.CutPrefix(name, "DataList"); ok && strings.HasSuffix(name, "Body") {
		return schemaName(strings.TrimSuffix(inner, "Body"), names) + "List"
	}
	if inner, ok := strings.CutPrefix(name, "Data"); ok && strings.HasSuffix(name, "Body") {
		return schemaName(strings.TrimSuffix(inner, "Body"), names) + "Answer"
	}
	for prefix, kind := range map[string]string{"Page": "Page", "Part": "List"} {
		if inner, ok := strings.CutPrefix(name, prefix); ok && inner != "" && names[name] == "" {
			return schemaName(inner, names) + kind
		}
	}
	return cmp.Or(names[name], name)
}

// uuidSchema is the schema of uuid.UUID, which huma would describe as any text.
type uuidSchema struct{}

func (uuidSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}

// SettleNullables applies one rule to requests and responses: a pointer without
// omitempty is null when it is nil, and nothing else is null unless it is tagged
// nullable. It may be called twice.
func SettleNullables(s *huma.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name := jsonName(field)
		p := s.Properties[name]
		if name == "" || p == nil || len(p.AnyOf) > 0 {
			continue
		}
		if field.Type == reflect.TypeFor[time.Time]() || field.Type == reflect.TypeFor[*time.Time]() {
			panic(fmt.Sprintf("%s.%s is a time.Time, whose fraction has no fixed length: make it a shape.Time", t, field.Name))
		}
		ruleTexts(p)
		nullable := field.Tag.Get("nullable") == "true"
		if field.Type.Kind() == reflect.Pointer && field.Tag.Get("nullable") == "" {
			nullable = !strings.Contains(field.Tag.Get("json"), ",omit")
		}
		switch {
		case p.Ref != "" && nullable:
			s.Properties[name] = &huma.Schema{
				Description: p.Description,
				AnyOf:       []*huma.Schema{{Ref: p.Ref}, {Type: "null"}},
			}
		case p.Type != "":
			p.Nullable = nullable
			if nullable && len(p.Enum) > 0 && !slices.Contains(p.Enum, nil) {
				p.Enum = append(p.Enum, nil)
			}
		}
	}
}
