package apptest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tenantry/tenantry/internal/sqldb"
)

const smallReference = `{
  "components": {
    "responses": {"Refused": {"description": "No", "content": {"application/json": {"schema": {"anyOf": [
      {"$ref": "#/components/schemas/Error"},
      {"type": "object", "required": ["message", "code"], "properties": {"message": {"type": "string"}, "code": {"enum": ["sold_out"]}}}
    ]}}}}},
    "schemas": {
      "Error": {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}},
      "Thing": {"type": "object", "required": ["id", "at"], "properties": {
        "id": {"type": "string", "format": "uuid"}, "at": {"type": ["string", "null"]}, "any": {"type": "object", "additionalProperties": true},
        "parts": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
      }}
    }
  },
  "paths": {
    "/things/{thing}": {"get": {"responses": {
      "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
      "204": {"description": "Nothing"},
      "409": {"$ref": "#/components/responses/Refused"}
    }}},
    "/things/mine": {"get": {"responses": {"200": {"content": {"text/csv": {"schema": {"type": "string"}}}}}}}
  }
}`

// The check finds everything undeclared, and its error names the operation.
func TestContract(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(smallReference))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newContract(doc)
	if err != nil {
		t.Fatal(err)
	}
	const id = `"id": "01990000-0000-7000-8000-000000000000"`
	for _, tt := range []struct {
		request string
		status  int
		kind    string
		body    string
		want    string // part of the error, or "" for no error
	}{
		{"GET /things/1", 200, "application/json", `{` + id + `, "at": null}`, ""},
		{"GET /things/1", 200, "application/json", `{` + id + `, "at": "x", "any": {"free": 1}, "parts": [{"n": 1}]}`, ""},
		{"GET /things/1", 200, "application/json", `{` + id + `}`, "missing property 'at'"},
		{"GET /things/1", 200, "application/json", `{` + id + `, "at": null, "more": 1}`, "'more' not allowed"},
		{"GET /things/1", 200, "application/json", `{` + id + `, "at": null, "parts": [{"m": 1}]}`, "'m' not allowed"},
		{"GET /things/1", 200, "application/json", `{"id": "x", "at": null}`, "uuid"},
		{"GET /things/1", 200, "text/plain", `hello`, "declares no text/plain for 200"},
		{"HEAD /things/1", 200, "text/plain", "", ""},
		{"GET /things/1", 204, "", "", ""},
		{"GET /things/1", 418, "", "", "GET /things/{thing} declares no status 418"},
		{"GET /things/1", 409, "application/json", `{"message": "no"}`, ""},
		{"GET /things/1", 409, "application/json", `{"message": "no", "code": "sold_out"}`, ""},
		{"GET /things/1", 409, "application/json", `{"message": "no", "code": "broken"}`, "is not as declared"},
		{"GET /things/mine", 200, "text/csv; charset=utf-8", "a,b", ""},
		{"GET /things/mine", 409, "", "", "GET /things/mine declares no status 409"},
		{"POST /things/mine", 405, "", "", ""},
		{"GET /others", 404, "", "", ""},
	} {
		method, path, _ := strings.Cut(tt.request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp := &http.Response{StatusCode: tt.status, Header: http.Header{"Content-Type": {tt.kind}}, Body: io.NopCloser(strings.NewReader(""))}
		err = c.check(r, resp, []byte(tt.body))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %d %s: %v, want %q", tt.request, tt.status, tt.body, err, tt.want)
		}
	}
}

// verdicts is a test that records its failures.
type verdicts struct {
	testing.TB

	found []string
}

func (v *verdicts) Error(args ...any) { v.found = append(v.found, fmt.Sprint(args...)) }

// The responses in every test are checked against the reference of the running service. A response
// that does not match fails the test that reads it.
func TestResponsesMatchTheReference(t *testing.T) {
	t.Parallel()
	s := Start(t, sqldb.SQLite)
	for _, tt := range []struct {
		path   string
		status int
		body   string
		want   string // part of the error, or "" for no error
	}{
		{"/api/v1/auth/oauth/providers", 200, `{"providers": ["sandbox"]}`, ""},
		{"/api/v1/auth/oauth/providers", 200, `{"providers": ["sandbox"], "undeclared": 1}`, "'undeclared' not allowed"},
		{"/api/v1/auth/oauth/providers", 200, `{}`, "missing property 'providers'"},
		{"/api/v1/auth/oauth/providers", 409, `{"message": "No"}`, "GET /api/v1/auth/oauth/providers declares no status 409"},
		{"/api/v1/auth/oauth/providers", 503, `{"message": "No", "code": "storage_full"}`, ""},
		{"/api/v1/auth/oauth/providers", 503, `{"message": "No", "code": "sold_out"}`, "value must be 'storage_full'"},
		{"/sandbox/clock", 418, `{"anything": 1}`, ""},
	} {
		v := &verdicts{TB: t}
		held := &Server{T: v, URL: s.URL, secrets: s.secrets}
		r := s.NewRequest("GET", tt.path, "", nil)
		held.Read(r, &http.Response{
			StatusCode: tt.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(tt.body)),
		})
		if got := strings.Join(v.found, "\n"); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %d %s: %q, want %q", tt.path, tt.status, tt.body, got, tt.want)
		}
	}
}
