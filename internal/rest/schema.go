package rest

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// newRegistry returns the registry for the schemas of named types. names renames schemas.
func newRegistry(names map[string]string) huma.Registry {
	return shape.NewRegistry(reference.Prefix, names)
}

// describeBody sets the schema of a route's body before huma does. Huma would name an
// anonymous body after the input's type, and many domains have an updateInput.
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

// settleSchemas corrects the schemas of huma, so that they describe their types' JSON. It may be
// called again when there are more schemas.
func (a *API) settleSchemas() {
	registry := a.huma.OpenAPI().Components.Schemas
	for name, s := range registry.Map() {
		if t := registry.TypeFromRef(reference.Prefix + name); t != nil {
			shape.SettleNullables(s, t)
			// Answers may get more keys within v1, and unknown keys of a body are ignored.
			if s.AdditionalProperties == false {
				s.AdditionalProperties = nil
			}
		}
	}
}
