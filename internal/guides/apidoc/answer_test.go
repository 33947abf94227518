package apidoc_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/guides/apidoc"
)

const limited = `{
	"tags": [{"name": "Usage"}],
	"paths": {"/usage": {"post": {
		"operationId": "recordUsage", "summary": "Record", "tags": ["Usage"],
		"requestBody": {"content": {"application/json": {"schema": {"type": "object", "required": ["meter_code"], "properties": {
			"at": {"type": "string"}, "meter_code": {"type": "string"}
		}}}}},
		"responses": {
			"204": {"description": "No content"},
			"422": {"content": {"application/json": {"schema": {"type": "object", "required": ["message"], "properties": {
				"message": {"type": "string"},
				"errors": {"type": "object"},
				"code": {"type": "string", "enum": ["busy", "full", "late"]},
				"limit": {"type": "integer", "x-codes": ["full"]},
				"used_by": {"type": "array", "items": {"$ref": "#/components/schemas/User"}, "x-codes": ["full"]}
			}}}}},
			"429": {"content": {"application/json": {"schema": {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}}}},
			"500": {"description": "Unexpected error"}
		}
	}}},
	"components": {"schemas": {"User": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}}}
}`

// An error has a body for invalid fields, a body for each group of codes with the same extra
// fields, and a body without a code. Statuses that all operations share are left out.
func TestAnswers(t *testing.T) {
	t.Parallel()
	ref, err := apidoc.Read([]byte(limited), apidoc.Texts{
		Codes:    map[string]apidoc.ErrorText{"full": {Meaning: "The quota is full.", Message: "Full."}, "busy": {Meaning: "It is busy."}},
		Statuses: map[string]string{"429": "Too many requests."}, Required: "This field is required.",
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, answer := range ref.Groups[0].Operations[0].Answers() {
		for _, body := range answer.Bodies {
			got = append(got, answer.Status+" "+strings.Join(strings.Fields(body.Code), "")+" "+strings.Join(body.Codes, ","))
		}
	}
	want := []string{
		"204 Nocontent ",
		`422 {"message":"Thisfieldisrequired.","errors":{"meter_code":["Thisfieldisrequired."]}} `,
		`422 {"message":"Full.","code":"full","limit":1000,"used_by":[{"id":"0199a1b2-0000-7000-8000-000000000001"}]} full`,
		`422 {"message":"Itisbusy.","code":"busy"} busy,late`,
		`429 {"message":"Toomanyrequests."} `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each operation has at least one response with a body, and each event has a message with data.
func TestEveryAnswerHasABody(t *testing.T) {
	t.Parallel()
	ref := read(t)
	for _, g := range ref.Groups {
		for _, op := range g.Operations {
			for _, answer := range op.Answers() {
				if len(answer.Bodies) == 0 {
					t.Errorf("missing body of %s for %s", op.ID, answer.Status)
				}
			}
		}
	}
	for _, e := range ref.Events {
		if code := e.Message()[0].Code; strings.Contains(code, `"data": {}`) || strings.Contains(code, `"data": null`) {
			t.Errorf("missing data in %s", e.Type)
		}
	}
	if len(ref.Events) < 20 {
		t.Errorf("only %d events", len(ref.Events))
	}
}
