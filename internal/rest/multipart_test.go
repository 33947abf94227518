package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
)

// Received is the response to an upload.
type Received struct {
	Size int `json:"size"`
}

func receive(_ context.Context, file []byte) (*rest.Data[Received], error) {
	if string(file) == "bad" {
		return nil, fault.OnField("doc", "validation.pattern")
	}
	return rest.OK(Received{Size: len(file)}), nil
}

const uploadType = "Content-Type: multipart/form-data; boundary=XX"

func field(name, value string) string {
	return "--XX\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"x\"\r\n\r\n" + value + "\r\n"
}

func uploads() []rest.Route {
	return []rest.Route{{
		Method: "POST", Path: "/api/v1/docs/upload", Scope: rest.User, Summary: "Upload", Handler: rest.Upload("doc", 1000, receive),
	}}
}

func TestUpload(t *testing.T) {
	t.Parallel()
	s := start(t, uploads())
	send := func(body string, headers ...string) answer {
		return s.do(http.MethodPost, "/api/v1/docs/upload", body, append(headers, "Authorization: Bearer owner")...)
	}
	const end = "--XX--\r\n"
	for body, want := range map[string]string{
		field("doc", "hello") + end:                                          `{"data":{"size":5}}`,
		field("other", "x") + field("doc", "hello") + field("z", "y") + end:  `{"data":{"size":5}}`,
		field("doc", "bad") + field("doc", "last") + end:                     `{"data":{"size":4}}`,
		field("doc", strings.Repeat("x", 1000)) + end:                        `{"data":{"size":1000}}`,
		field("doc", "x") + field("other", strings.Repeat("x", 60000)) + end: `{"data":{"size":1}}`,
		"preamble\r\n" + field("doc", "x") + end + "epilogue":                `{"data":{"size":1}}`,
	} {
		if a := send(body, uploadType); a.Status != 200 || a.Body != want || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d %s, want %s", a.Status, a.Body, want)
		}
	}
	send(field("doc", strings.Repeat("x", 1001))+end, uploadType).refused(413)
	send(field("other", strings.Repeat("x", 70000))+field("doc", "x")+end, uploadType).refused(413)
	send(field("doc", "x"), uploadType).refused(400)
	send("", uploadType).refused(400)
	send(field("doc", "x")+end, "Content-Type: multipart/form-data").refused(400)
	send(`{"doc": "x"}`, "Content-Type: application/json").refused(415)
	send("x").refused(415)
	send("").broken(map[string]string{"doc": "This field is required."})
	send(end, uploadType).broken(map[string]string{"doc": "This field is required."})
	send(field("doc", "")+end, uploadType).broken(map[string]string{"doc": "This field is required."})
	send(field("doc", "bad")+end, uploadType).broken(map[string]string{"doc": "This does not have the right format."})
	s.do(http.MethodPost, "/api/v1/docs/upload", field("doc", "x")+end, uploadType).refused(401)
}

func TestUploadIsDocumented(t *testing.T) {
	t.Parallel()
	s := start(t, uploads())
	text, err := json.Marshal(s.api.OpenAPI().Paths["/api/v1/docs/upload"]["post"])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"doc":{"type":"string","contentMediaType":"application/octet-stream","format":"binary"}},"required":["doc"]}}}}`,
		`"413":`, `"415":`, `"400":`, `"401":`, `"422":`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if s.api.OpenAPI().Components.Schemas["Received"] == nil {
		t.Error("the answer is not described")
	}
}
