package shape

import (
	"encoding/json"
	"reflect"
	"testing"

	jsonexp "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// fuzzed has a field of every kind that the validator distinguishes.
type fuzzed struct {
	Name   string            `json:"name" minLength:"1" maxLength:"9"`
	Note   *string           `json:"note,omitempty" nullable:"true"`
	Secret *string           `json:"secret,omitempty" format:"password" minLength:"2" maxLength:"9"`
	Text   *string           `json:"text,omitempty" format:"multiline"`
	Email  *string           `json:"email,omitempty" format:"email"`
	URL    *string           `json:"url,omitempty" format:"uri"`
	At     *Time             `json:"at,omitempty"`
	Ref    *uuid.UUID        `json:"ref,omitempty"`
	Count  *int64            `json:"count,omitempty" minimum:"-9"`
	Small  *int32            `json:"small,omitempty"`
	Ratio  *float64          `json:"ratio,omitempty"`
	Amount *Quantity         `json:"amount,omitempty"`
	Active *bool             `json:"active,omitempty"`
	Tags   []string          `json:"tags,omitempty" maxItems:"4"`
	Titles map[string]string `json:"titles,omitempty"`
	Child  *struct {
		X Opt[int] `json:"x,omitzero" nullable:"true"`
	} `json:"child,omitempty"`
	Metadata Object `json:"metadata,omitempty" nullable:"true" maxBytes:"4096"`
	Any      any    `json:"any,omitempty"`
}

// FuzzBody checks that no body makes the validator panic, and that every accepted body can be
// decoded into the input type, is strict JSON, and has a stable normal form.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"name":" a ","note":"","count":1e2,"amount":0.10,"titles":{"b":"x","a":" y "},"metadata":{"a":{"x":1},"a":{"y":[{"z":1,"z":2}]}}}`,
		`{"name":"\ud83d\ude00\ufffd","text":"a\r\n","child":{"x":null},"any":[null,true,{"":1e-300}],"tags":["a",""]}`,
		`{"n\u0061me":"a","secret":"  x ","at":"2026-01-31T08:15:30.1234567+01:00","url":"https://x.example/%2f","email":"A@B.example"}`,
		`{"name":"a","small":-2147483648,"ratio":1e308,"active":false,"metadata":{"n":12345678901234567890.10}}`,
		"{\"name\":\"\xff\",\"metadata\":{\"\\ud800\":1}}", `{"name":null}`, `{"name":"a","at":""}`, `{"count":1e999999999}`, `[]`, `{`,
		`{"tags":[1,"a"],"titles":{"a":1},"child":{"x":"y"},"metadata":7,"at":"no","amount":-1e99}`,
	} {
		f.Add([]byte(seed))
	}
	rules := NewRegistry(nil, nil).Schema(reflect.TypeFor[fuzzed](), "")
	normalize := func(raw jsontext.Value) (jsontext.Value, fault.Fields) {
		var broken fault.Fields
		return rules.Normalize(raw, &broken), broken
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		raw := jsontext.Value(body)
		if !IsReadable(raw) || raw.Kind() != '{' {
			return // such bodies are rejected earlier
		}
		normal, broken := normalize(raw)
		if len(broken) > 0 {
			var valid fuzzed
			if err := jsonexp.Unmarshal(normal, &valid); err != nil {
				t.Fatalf("%s without its broken fields: %v", normal, err)
			}
			return
		}
		if !normal.IsValid() || !json.Valid(normal) {
			t.Fatalf("not strict JSON: %s", normal)
		}
		again, broken := normalize(normal)
		if len(broken) > 0 || string(again) != string(normal) {
			t.Fatalf("%s\nbecomes %s\n%v", normal, again, broken)
		}
		var decoded fuzzed
		if err := jsonexp.Unmarshal(normal, &decoded); err != nil {
			t.Fatalf("%s: %v", normal, err)
		}
	})
}
