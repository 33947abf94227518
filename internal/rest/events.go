package rest

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/rest/reference"
)

// Event is a type of message that the service sends to endpoints outside, as the section
// webhooks of the document describes it.
type Event struct {
	name, summary string
	data          reflect.Type
}

// NewEvent returns the event of a name whose data is a T. The summary says when it is sent.
func NewEvent[T any](name, summary string) Event {
	return Event{name: name, summary: summary, data: reflect.TypeFor[T]()}
}

// MakesEndpoints marks the operation that creates an endpoint, at its field url, to which the
// service then sends all events. The document describes them as a callback of the operation, so
// that generators that drop unreferenced schemas keep the events.
func MakesEndpoints() Option { return func(o *operation) { o.makesEndpoints = true } }

// addEvents describes messages.
func (a *API) addEvents(events []Event) {
	doc := a.huma.OpenAPI()
	if len(events) == 0 {
		return
	}
	doc.Webhooks = map[string]*huma.PathItem{}
	for _, e := range events {
		doc.Components.Schemas.Map()[e.schemaName()] = e.schema(doc.Components.Schemas)
		doc.Webhooks[e.name] = &huma.PathItem{Post: e.operation(reference.Prefix + e.schemaName())}
	}
	for _, op := range a.ops {
		if op.makesEndpoints {
			reference.OperationOf(doc, op.route.Method, op.route.Path).Callbacks = map[string]map[string]*huma.PathItem{
				"event": {"{$request.body#/url}": {Post: anyEvent(events)}},
			}
		}
	}
	a.settleSchemas()
}

// anyEvent describes what an endpoint receives: one of the events, by its type.
func anyEvent(events []Event) *huma.Operation {
	body := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}}}
	for _, e := range events {
		ref := reference.Prefix + e.schemaName()
		body.OneOf = append(body.OneOf, &huma.Schema{Ref: ref})
		body.Discriminator.Mapping[e.name] = ref
	}
	op := events[0].operation("")
	op.OperationID, op.Summary = "onEvent", "An event of a type that the endpoint receives"
	op.RequestBody.Content["application/json"].Schema = body
	return op
}

// schemaName returns InvoicePaidEvent for invoice.paid.
func (e Event) schemaName() string {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(e.name, func(r rune) bool { return r == '.' || r == '_' }) {
		name.WriteString(reference.Capital(word))
	}
	return name.String() + "Event"
}

func (e Event) schema(registry huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeObject, Description: e.summary, Required: []string{"type", "timestamp", "tenant_id", "data"},
		Properties: map[string]*huma.Schema{
			"type":      {Type: huma.TypeString, Enum: []any{e.name}, Description: "What happened."},
			"timestamp": {Type: huma.TypeString, Format: "date-time", Description: "When it happened, in UTC with microseconds."},
			"tenant_id": {Type: huma.TypeString, Format: "uuid", Nullable: true, Description: "The tenant that it concerns; null for what concerns the platform alone."},
			"data":      registry.Schema(e.data, true, ""),
		},
	}
	s.PrecomputeMessages()
	return s
}

// operation describes what a receiver gets, and what its answers mean.
func (e Event) operation(ref string) *huma.Operation {
	header := func(name, text string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: text, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return &huma.Operation{
		OperationID: "on" + strings.TrimSuffix(e.schemaName(), "Event"),
		Summary:     e.summary,
		Description: "Sent to the endpoints of the tenant and of the platform that want this type, at least once, signed by the rules of Standard Webhooks. " +
			"Verify the signature before you trust the message, and leave out an id that you have seen.",
		Tags:     []string{"Webhooks"},
		Security: []map[string][]string{},
		Parameters: []*huma.Param{
			header("webhook-id", "The id of the event: the same at every attempt and endpoint."),
			header("webhook-timestamp", "When the attempt was made, in seconds since 1970. Refuse what is more than five minutes off your clock."),
			header("webhook-signature", "v1, and the base64 of the HMAC-SHA256 of id.timestamp.body with the endpoint's secret; several with a space between while a secret is rotated."),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: ref}}}},
		Responses: map[string]*huma.Response{
			"2XX": {Description: "Delivered. The answer has to come within 15 seconds; its body is not read."},
			"410": {Description: "The endpoint is disabled: nothing more is sent to it."},
		},
	}
}
