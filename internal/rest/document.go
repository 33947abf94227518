package rest

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// OpenAPI returns the document of all routes. It is built on the first call, because most processes
// never need it.
func (a *API) OpenAPI() *reference.Document { return a.openAPI() }

// Document returns the OpenAPI document as JSON. The result is the same for the same routes and
// configuration.
func (a *API) Document() ([]byte, error) { return a.document() }

func (a *API) encodeDocument() ([]byte, error) {
	text, err := json.Marshal(a.OpenAPI(), json.Deterministic(true), jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

// describe builds the document.
func (a *API) describe() *reference.Document {
	session := browser{secure: a.cfg.HTTPS, domain: a.cfg.CookieDomain}
	doc := &reference.Document{
		OpenAPI: "3.1.0",
		Info: map[string]any{
			"title": "Tenantry", "version": a.cfg.Version, "description": a.cfg.Book.About,
			"contact": map[string]string{"name": "Tenantry", "url": "https://github.com/tenantry/tenantry"},
			"license": map[string]string{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		Servers: []map[string]string{{"url": a.cfg.PublicURL}},
		Paths:   map[string]reference.PathItem{},
		Components: reference.Components{Schemas: a.registry.Components, SecuritySchemes: map[string]map[string]string{
			"bearer": {"type": "http", "scheme": "bearer", "description": "The `accessToken` of login, register or refresh."},
			"apiKey": {
				"type": "http", "scheme": "bearer", "bearerFormat": authz.KeyPrefix + "...",
				"description": "The secret of an API key with the scope of the route (`x-api-key-scope`).",
			},
			"session": {
				"type": "apiKey", "in": "cookie", "name": session.sessionCookie(),
				"description": "The cookie of cookie mode: how a frontend on a first-party origin logs in. `GET /csrf-cookie` sets it, " +
					"logging in replaces it. A request with `Authorization` is never in cookie mode.",
			},
			"csrf": {
				"type": "apiKey", "in": "header", "name": "X-XSRF-TOKEN",
				"description": "The value of the cookie `" + csrfCookie + "`, as it is or URL-encoded, also accepted as `X-CSRF-TOKEN`. " +
					"In cookie mode every request that changes something needs it, those that need no login included; else the answer is 419. " +
					"It changes with the session, so it is read from the cookie each time.",
			},
		}},
	}
	for _, op := range a.ops {
		doc.Add(op.doc)
	}
	a.addEvents(doc)
	a.cfg.Book.Complete(doc)
	return doc
}

// Event is a type of webhook event, described in the webhooks section of the document.
type Event struct {
	name, summary string
	data          reflect.Type
}

// NewEvent returns an event whose data is a T. The summary says when it is sent.
func NewEvent[T any](name, summary string) Event {
	return Event{name: name, summary: summary, data: reflect.TypeFor[T]()}
}

// MakesEndpoints marks the operation that creates a webhook endpoint, whose URL is its field url.
// The document describes the events as a callback of this operation, so that generators that drop
// unreferenced schemas keep them.
func MakesEndpoints() Option { return func(o *operation) { o.makesEndpoints = true } }

// addEvents describes the webhook events.
func (a *API) addEvents(doc *reference.Document) {
	if len(a.cfg.Events) == 0 {
		return
	}
	doc.Webhooks = map[string]reference.PathItem{}
	mapping := map[string]string{}
	all := &shape.Schema{Discriminator: map[string]any{"propertyName": "type", "mapping": mapping}}
	for _, e := range a.cfg.Events {
		schema := reference.Pascal(e.name) + "Event"
		doc.Components.Schemas[schema] = e.schema(a.registry)
		all.OneOf = append(all.OneOf, shape.Ref(schema))
		mapping[e.name] = shape.Prefix + schema
		doc.Webhooks[e.name] = reference.PathItem{"post": eventOperation("on"+reference.Pascal(e.name), e.summary, shape.Ref(schema))}
	}
	for _, op := range a.ops {
		if op.makesEndpoints {
			anyEvent := eventOperation("onEvent", "An event of a type that the endpoint receives", all)
			op.doc.Callbacks = map[string]map[string]reference.PathItem{"event": {"{$request.body#/url}": {"post": anyEvent}}}
		}
	}
}

func (e Event) schema(registry *shape.Registry) *shape.Schema {
	s := &shape.Schema{Type: shape.TypeObject, Description: e.summary}
	s.Add("type", true, &shape.Schema{Type: shape.TypeString, Enum: []string{e.name}, Description: "What happened."})
	s.Add("timestamp", true, &shape.Schema{Type: shape.TypeString, Format: "date-time", Description: "When it happened, in UTC with microseconds."})
	s.Add("tenant_id", true, &shape.Schema{
		Type: shape.TypeString, Format: "uuid", Nullable: true, Description: "The tenant that it concerns; null for what concerns the platform alone.",
	})
	s.Add("data", true, registry.Schema(e.data, ""))
	return s
}

// eventOperation describes the request to a receiver and the meanings of its responses.
func eventOperation(id, summary string, body *shape.Schema) *reference.Operation {
	header := func(name, text string) *reference.Parameter {
		return &reference.Parameter{Name: name, In: "header", Required: true, Description: text, Schema: &shape.Schema{Type: shape.TypeString}}
	}
	return &reference.Operation{
		ID: id, Summary: summary, Tags: []string{"Webhooks"}, Security: []map[string][]string{},
		Description: "Sent to the endpoints of the tenant and of the platform that want this type, at least once, signed by the rules of Standard Webhooks. " +
			"Verify the signature before you trust the message, and leave out an id that you have seen.",
		Parameters: []*reference.Parameter{
			header("webhook-id", "The id of the event: the same at every attempt and endpoint."),
			header("webhook-timestamp", "When the attempt was made, in seconds since 1970. Refuse what is more than five minutes off your clock."),
			header("webhook-signature", "v1, and the base64 of the HMAC-SHA256 of id.timestamp.body with the endpoint's secret; several with a space between while a secret is rotated."),
		},
		RequestBody: &reference.Body{Required: true, Content: reference.JSONContent(body)},
		Responses: map[string]*reference.Response{
			"2XX": {Description: "Delivered. The answer has to come within 15 seconds; its body is not read."},
			"410": {Description: "The endpoint is disabled: nothing more is sent to it."},
		},
	}
}
