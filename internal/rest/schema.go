package rest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

// newRegistry is where huma keeps the schemas of named types.
func newRegistry() huma.Registry {
	registry := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[uuid.UUID](), reflect.TypeFor[uuidSchema]())
	registry.Map()[errorSchemaName] = errorSchema()
	return registry
}

const (
	schemaPrefix    = "#/components/schemas/"
	errorSchemaName = "Error"
)

// uuidSchema stands for uuid.UUID, of which huma would only say that it is text.
type uuidSchema struct{}

func (uuidSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}

// describeBody states the schema of a route's body before huma does, which would
// name an anonymous one after the input's type: many domains have an updateInput.
func describeBody[I any](a *API, doc *huma.Operation) {
	body, ok := reflect.TypeFor[I]().FieldByName("Body")
	if !ok {
		return
	}
	schema := bodySchema(a.huma.OpenAPI().Components.Schemas, body, doc.OperationID)
	doc.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// bodySchema names an anonymous body after its route: PatchGadgetsIdRequest.
func bodySchema(registry huma.Registry, body reflect.StructField, id string) *huma.Schema {
	var name strings.Builder
	for word := range strings.SplitSeq(id, "-") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return huma.SchemaFromField(registry, body, name.String()+"Request")
}

// settleSchemas brings the schemas that were added since the last call in line
// with how their types look in JSON.
func (a *API) settleSchemas() {
	registry := a.huma.OpenAPI().Components.Schemas
	for name, s := range registry.Map() {
		if t := registry.TypeFromRef(schemaPrefix + name); t != nil && !a.settled[name] {
			a.settled[name] = true
			settleNullables(s, t)
			// Answers may gain keys within v1, and unknown ones in a body are ignored.
			if s.AdditionalProperties == false {
				s.AdditionalProperties = nil
			}
		}
	}
}

// settleNullables applies one rule to requests and responses: a pointer without
// omitempty is null when it is nil, and nothing else is null unless it is tagged
// nullable. It may be called twice.
func settleNullables(s *huma.Schema, t reflect.Type) {
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
			panic(fmt.Sprintf("%s.%s is a time.Time, whose fraction has no fixed length: make it a rest.Time", t, field.Name))
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
