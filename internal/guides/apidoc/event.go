package apidoc

import (
	"github.com/go-json-experiment/json"
)

// Event is a type of the events that webhook endpoints receive.
type Event struct {
	Type string

	from operation
	ref  *Reference
}

// Text says when the event is sent.
func (e *Event) Text() string { return e.from.Summary }

// Delivery describes how the event is sent.
func (e *Event) Delivery() string { return e.from.Description }

// Headers returns the headers of the message.
func (e *Event) Headers() []Field { return e.ref.parameters(e.from, "header") }

// Payload returns the fields of the message.
func (e *Event) Payload() []Field {
	return e.ref.fields(resultPrefix, e.from.Body.Content["application/json"].Schema, nil)
}

// Message returns an example of the body.
func (e *Event) Message() []Sample {
	body := object{
		{"type", e.Type},
		{"timestamp", "2026-01-15T09:30:00.000000Z"},
		{"tenant_id", "0199a1b2-0000-7000-8000-000000000036"},
		{"data", e.data()},
	}
	text, _ := json.Marshal(body) // it has a JSON form
	return []Sample{jsonSample("Body", text)}
}

// data returns an example of the data: a recorded resource, or a list with one.
func (e *Event) data() any {
	of, _, _ := e.ref.doc.resolved(e.from.Body.Content["application/json"].Schema)
	return e.ref.sample("data", of.Properties["data"])
}
