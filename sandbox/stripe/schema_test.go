package stripe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stripe/stripe-mock/embedded"
)

// published is Stripe's own API spec in strict mode: unknown fields are errors.
var published = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(embedded.OpenAPISpec)
	if err != nil {
		return nil, err
	}
	seen := map[*openapi3.Schema]bool{}
	for _, schema := range doc.Components.Schemas {
		closeSchema(schema, seen)
	}
	return doc, nil
})

func closeSchema(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}
	schema := ref.Value
	seen[schema] = true
	if len(schema.Properties) > 0 {
		closed := false
		schema.AdditionalProperties = openapi3.AdditionalProperties{Has: &closed}
	}
	for _, property := range schema.Properties {
		closeSchema(property, seen)
	}
	for _, option := range schema.AnyOf {
		closeSchema(option, seen)
	}
	closeSchema(schema.Items, seen)
}

// checked is a transport to the sandbox that validates each response against the published schema
// of its operation.
type checked struct {
	t    *testing.T
	next http.RoundTripper
}

func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL.Path = "/sandbox/stripe" + r.URL.Path
	res, err := c.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if err := checkAnswer(r.Method, r.URL.Path, res.StatusCode, body); err != nil {
		c.t.Errorf("%s %s answered %d against the schema: %v\n%s", r.Method, r.URL.Path, res.StatusCode, err, body)
	}
	if res.Header.Get("Request-Id") == "" || res.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("%s %s answered without a Request-Id or as %q", r.Method, r.URL.Path, res.Header.Get("Content-Type"))
	}
	return res, nil
}

func checkAnswer(method, path string, status int, body []byte) error {
	doc, err := published()
	if err != nil {
		return err
	}
	if status >= http.StatusBadRequest {
		return checkObject("error", body)
	}
	operation := findOperation(doc, method, path)
	if operation == nil {
		return fmt.Errorf("unknown operation %s %s at Stripe", method, path)
	}
	return checkJSON(operation.Responses.Status(status).Value.Content["application/json"].Schema.Value, body)
}

// checkObject validates an object against the schema of its type.
func checkObject(name string, body []byte) error {
	doc, err := published()
	if err != nil {
		return err
	}
	schema, ok := doc.Components.Schemas[name]
	if !ok {
		return fmt.Errorf("unknown object %q at Stripe", name)
	}
	return checkJSON(schema.Value, body)
}

func checkJSON(schema *openapi3.Schema, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	err := schema.VisitJSON(value)
	var broken *openapi3.SchemaError
	if errors.As(err, &broken) { // omit the schema and the value
		return fmt.Errorf("/%s: %s", strings.Join(broken.JSONPointer(), "/"), broken.Reason)
	}
	return err
}

// findOperation returns the operation for a path. It prefers a path without parameters.
func findOperation(doc *openapi3.T, method, path string) *openapi3.Operation {
	if item := doc.Paths.Value(path); item != nil {
		return item.GetOperation(method)
	}
	parts := strings.Split(path, "/")
	for template, item := range doc.Paths.Map() {
		names := strings.Split(template, "/")
		fits := len(names) == len(parts)
		for i := 0; fits && i < len(names); i++ {
			fits = names[i] == parts[i] || strings.HasPrefix(names[i], "{")
		}
		if fits && item.GetOperation(method) != nil {
			return item.GetOperation(method)
		}
	}
	return nil
}

// TestSchemaIsStrict checks that the validation in the other tests can fail.
func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"required field left out": `{"interval": "month", "interval_count": 1}`,
		"wrong type":              `{"interval": "month", "interval_count": "1", "usage_type": "licensed"}`,
		"not in the enumeration":  `{"interval": "fortnight", "interval_count": 1, "usage_type": "licensed"}`,
		"null that may not be":    `{"interval": null, "interval_count": 1, "usage_type": "licensed"}`,
		"unknown field":           `{"interval": "month", "interval_count": 1, "usage_type": "licensed", "colour": "red"}`,
	} {
		if err := checkObject("recurring", []byte(body)); err == nil {
			t.Errorf("%s passes the check", name)
		}
	}
	if err := checkObject("recurring", []byte(`{"interval": "month", "interval_count": 1, "usage_type": "licensed", "meter": null}`)); err != nil {
		t.Errorf("a valid object is refused: %v", err)
	}
}
