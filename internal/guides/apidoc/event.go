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

// Text returns a sentence that says when the event is sent.
func (e *Event) Text() string { return e.from.Summary }

// Delivery returns a description of how the event is sent.
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

// stateAfter maps the type of an event to the status of its data.
var stateAfter = map[string]string{
	"invoice.issued": "open", "invoice.paid": "paid", "invoice.voided": "void",
	"subscription.canceled": "canceled", "subscription.past_due": "past_due",
}

// data returns an example of the data: a recorded resource, or a list with one recorded resource.
// If a recorded resource has the status that the event causes, data returns this resource.
func (e *Event) data() any {
	of, _, _ := e.ref.doc.resolved(e.from.Body.Content["application/json"].Schema)
	_, component, _ := e.ref.doc.resolved(of.Properties["data"])
	if want, found := stateAfter[e.Type]; found {
		for value := range e.ref.recordings(component) {
			var resource struct {
				Status string `json:"status"`
			}
			if json.Unmarshal(value, &resource) == nil && resource.Status == want {
				return value
			}
		}
	}
	return e.ref.sample("data", of.Properties["data"])
}
