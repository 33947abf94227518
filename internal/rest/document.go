package rest

import (
	"net/http"
	"reflect"
	"strings"

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

// serveDocument serves the OpenAPI document. Clients can cache it, but must revalidate it each
// time.
func (a *API) serveDocument(w http.ResponseWriter, r *http.Request) {
	text, err := a.Document()
	if err != nil {
		a.WriteError(w, r, err)
		return
	}
	b := taggedJSON(text, "no-cache")
	w.Header().Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		b.Data, b.ETag = a.packedDocument(), b.ETag+"-gzip"
		w.Header().Set("Content-Encoding", "gzip")
	}
	_ = b.write(w, r, http.StatusOK) // only streams can fail
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
			"bearer": {"type": "http", "scheme": "bearer", "description": "Access token returned by login, registration or refresh."},
			"apiKey": {
				"type": "http", "scheme": "bearer", "bearerFormat": authz.KeyPrefix + "...",
				"description": "Secret of an API key with the scope of the operation (`x-api-key-scope`).",
			},
			"session": {
				"type": "apiKey", "in": "cookie", "name": session.cookieName(sessionCookie),
				"description": "Session cookie for a frontend on a first-party origin (cookie mode). `GET /csrf-cookie` sets it and login replaces it. " +
					"It is ignored in requests with an `Authorization` header.",
			},
			"csrf": {
				"type": "apiKey", "in": "header", "name": "X-XSRF-TOKEN",
				"description": "Value of the cookie `" + csrfCookie + "`, plain or URL-encoded. `X-CSRF-TOKEN` is accepted too. " +
					"In cookie mode, every request except GET requires it, even without login; otherwise the response is 419. " +
					"It changes with the session, so read the cookie before each request.",
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
	Name    string
	Summary string // when it is sent
	Data    reflect.Type
}

// addEvents describes the webhook events.
func (a *API) addEvents(doc *reference.Document) {
	if len(a.cfg.Events) == 0 {
		return
	}
	doc.Webhooks = map[string]reference.PathItem{}
	mapping := map[string]string{}
	all := &shape.Schema{Discriminator: map[string]any{"propertyName": "type", "mapping": mapping}}
	for _, e := range a.cfg.Events {
		schema := reference.Pascal(e.Name) + "Event"
		doc.Components.Schemas[schema] = e.schema(a.registry)
		all.OneOf = append(all.OneOf, shape.Ref(schema))
		mapping[e.Name] = shape.Prefix + schema
		doc.Webhooks[e.Name] = reference.PathItem{"post": eventOperation("on"+reference.Pascal(e.Name), e.Summary, shape.Ref(schema))}
	}
	for _, op := range a.ops {
		if op.route.MakesEndpoints {
			anyEvent := eventOperation("onEvent", "An event that the endpoint subscribes to", all)
			op.doc.Callbacks = map[string]map[string]reference.PathItem{"event": {"{$request.body#/url}": {"post": anyEvent}}}
		}
	}
}

func (e Event) schema(registry *shape.Registry) *shape.Schema {
	s := &shape.Schema{Type: shape.TypeObject, Description: e.Summary}
	s.Add("type", true, &shape.Schema{Type: shape.TypeString, Enum: []string{e.Name}, Description: "Type of the event."})
	s.Add("timestamp", true, &shape.Schema{Type: shape.TypeString, Format: "date-time", Description: "Time of the event, in UTC with microseconds."})
	s.Add("tenant_id", true, &shape.Schema{
		Type: shape.TypeString, Format: "uuid", Nullable: true, Description: "ID of the tenant. Null for events of the platform.",
	})
	data := registry.Schema(e.Data, "")
	data.Description = "Object that the event is about, as the API returns it."
	if e.Data.Kind() == reflect.Slice {
		data.Description = "Objects that the event is about, as the API returns them."
	}
	s.Add("data", true, data)
	return s
}

// eventOperation describes the request to a receiver and the meanings of its responses.
func eventOperation(id, summary string, body *shape.Schema) *reference.Operation {
	header := func(name, text string) *reference.Parameter {
		return &reference.Parameter{Name: name, In: "header", Required: true, Description: text, Schema: &shape.Schema{Type: shape.TypeString}}
	}
	return &reference.Operation{
		ID: id, Summary: summary, Tags: []string{"Webhooks"}, Security: []map[string][]string{},
		Description: "Sent at least once to each endpoint of the tenant and the platform that subscribes to this type, signed according to Standard Webhooks. " +
			"Verify the signature, and ignore events whose ID you have already processed.",
		Parameters: []*reference.Parameter{
			header("webhook-id", "ID of the event. The same for all endpoints and attempts."),
			header("webhook-timestamp", "Time of the attempt, as a Unix timestamp in seconds. Reject events that differ from your clock by more than five minutes."),
			header("webhook-signature", "`v1,` followed by the base64-encoded HMAC-SHA256 of `id.timestamp.body` with the endpoint's secret. After a rotation, several signatures separated by spaces."),
		},
		RequestBody: &reference.Body{Required: true, Content: reference.JSONContent(body)},
		Responses: map[string]*reference.Response{
			"2XX": {Description: "The event was delivered. Respond within 15 seconds. The body is ignored."},
			"410": {Description: "The endpoint is disabled and does not receive more events."},
		},
	}
}
